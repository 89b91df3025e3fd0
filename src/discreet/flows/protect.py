"""A file changed until the policy holds: find a recipe, carry it out, assess what came out."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.frame_output import frame_output
from discreet.data.hierarchy import Hierarchy
from discreet.data.record_output import check_can_write, record_output
from discreet.data.records import ArrowScan, Records, open_records
from discreet.data.tree_file import read_hierarchy
from discreet.data.writing import check_outputs, written_whole
from discreet.engines.contract import Request, RowEngine, RowStore
from discreet.engines.workspace import workspace
from discreet.errors import InputError, OutputError, must_be
from discreet.figures import Unavailable
from discreet.flows.assess import measured
from discreet.flows.engine import engine_or_default
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable
from discreet.masks.records.order import RemoveColumns
from discreet.numerics.arrays import FloatArray
from discreet.numerics.linear_algebra import in_one_thread
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import Progress, silent
from discreet.protection.analysis import analysis_kept
from discreet.protection.analysis_request import analysis_request
from discreet.protection.applying import Changed, Source
from discreet.protection.estimates_kept import AnalysisKept
from discreet.protection.households import shared_keys
from discreet.protection.left_by_chance import left_by_chance
from discreet.protection.loss import loss_of
from discreet.protection.options import ProtectOptions
from discreet.protection.output import Outgoing, narrow_tables, write_narrow
from discreet.protection.protected import Protected
from discreet.protection.protecting import Chosen, Protecting
from discreet.protection.recipe import BY_CHANCE, read_recipe, step_of
from discreet.protection.tell_tales import tell_tales
from discreet.protection.what_would_give import what_would_give
from discreet.survey.assessment import Assessment

if TYPE_CHECKING:
    import pyarrow as pa

BEFORE_CHANCE = (
    "judged as if no value had been changed by chance or swapped, which only adds doubt: read off "
    "the changed file the figures would take for true what may not be"
)
MOST_FIRST = 1 << 18  # records that are looked at for columns which tell keys
ROLES = ("weight", "household", "cluster", "stratum")


@in_one_thread
@stoppable
@documented_by(ProtectOptions)
def protect(
    source: Any,
    keys: Iterable[str] | None = None,
    options: ProtectOptions | None = None,
    *,
    write: str | Path | None = None,
    overwrite: bool = False,
    sheet: str | None = None,
    engine: RowEngine | None = None,
    progress: Progress = silent,
    **keywords: Any,
) -> Protected:
    """The file changed as little as possible so that the rules hold, or as a recipe says.

    `source` is a path (CSV, Parquet, Arrow, Excel, Stata, SPSS, SAS), a pandas or polars frame, an
    Arrow table or a DuckDB relation; `sheet` is that of an Excel file. `write` names a file for the
    protected records, of the same kind or another; an existing one stays unless `overwrite` is
    true, and the source is never overwritten. The options are given as keywords, or as
    ProtectOptions, whose values keywords replace.

    What comes out is assessed by itself, from scratch, and judged by that. Where a rule is broken
    nothing is written, unless `closest` asks for it.

    Raises InputError, with one clear line, for anything that cannot be protected.
    """
    named = keywords if keys is None else {"keys": keys, **keywords}
    asked = options_of(ProtectOptions, options, named)
    records = open_records(source, asked.csv, sheet)
    target = None if write is None else Path(write)
    if target is not None:
        _check_target(target, records, overwrite=overwrite)
    counting = engine_or_default(engine, progress)
    _check_engine(counting)
    is_frame = not isinstance(source, str | Path | Records)
    with workspace(getattr(counting, "temporary", None)) as folder:
        one = _Protection(
            source=source if is_frame else None,
            records=records,
            options=asked,
            target=target,
            engine=counting,  # type: ignore[arg-type]
            folder=folder,
            progress=progress,
        )
        return one.result()


def _check_target(target: Path, records: Records, *, overwrite: bool) -> None:
    """The output is another file than the input, of a kind that can be written, and not there."""
    check_can_write(target)
    check_outputs([target], records.files, records.parts)
    if target.exists() and not overwrite:
        remedy = "name another, or say that it may be overwritten (overwrite)"
        raise OutputError(must_be("output", "a new file", repr(str(target)), remedy=remedy))


def _check_engine(engine: Any) -> None:
    from discreet.engines.duckdb import DuckDBEngine

    if not isinstance(engine, DuckDBEngine):
        rule = "DuckDB, which gives the records back one by one"
        raise InputError(must_be("engine", rule, type(engine).__name__))


@dataclass(frozen=True, kw_only=True)
class _Protection:
    """One call: what is protected, by which options, and a private folder for what is tried."""

    source: Any
    records: Records
    options: ProtectOptions
    target: Path | None
    engine: RowEngine
    folder: Path
    progress: Progress

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.options.keys or ())

    @property
    def in_memory(self) -> bool:
        """Whether the source is in memory as a whole."""
        return isinstance(self.records.scan(self.records.find("keys", self.keys)), ArrowScan)

    def result(self) -> Protected:
        """The file protected, given out and assessed."""
        self._check_recipe()
        self._check_columns()
        before = self._assessed(self.records, self.keys)
        with self.engine.count(self._request()) as store:
            source = self._source(store, before)
            shared = self._shared(source)
            protecting = Protecting(
                source=source,
                options=self.options,
                never=shared,
                measure=self._measured,
                risks=self._risks,
                progress=self.progress,
                seed=self._seed(),
            )
            chosen = protecting.chosen()
            return self._given_out(chosen, protecting, before)

    def _check_recipe(self) -> None:
        """A recipe that was given is one for these keys."""
        if self.options.recipe is None:
            return
        own = read_recipe(self.options.recipe).keys
        if set(own) != set(self.keys):
            rule = f"those of the recipe, {', '.join(own)}"
            raise InputError(must_be("keys", rule, ", ".join(self.keys)))

    def _shared(self, source: Source) -> tuple[str, ...]:
        """Keys of which one member of a household would show what another lost."""
        household = self.options.household
        steps = [step_of(one) for one in self.options.steps]
        removed = {c for s in steps if isinstance(s, RemoveColumns) for c in s.columns}
        if household is None or household in removed:
            return ()
        return shared_keys(source, household)

    def _check_columns(self) -> None:
        """Columns that are to be removed are there."""
        steps = [step_of(one) for one in self.options.steps]
        if self.options.recipe is not None:
            steps += read_recipe(self.options.recipe).steps
        for step in steps:
            if isinstance(step, RemoveColumns):
                self.records.find("columns", step.columns)

    def _seed(self) -> int | None:
        """That of steps by chance: fresh unless one was given, so that nobody can guess it."""
        given = self.options.seed
        by_chance = any(isinstance(step_of(one), BY_CHANCE) for one in self.options.steps)
        return secrets.randbits(63) if given is None and by_chance else given

    def _assessed(self, records: Records, keys: tuple[str, ...], **more: Any) -> Assessment:
        asked = self.options.assessing(keys, **more)
        return measured(records, asked, self.engine, silent, suggest=False)  # type: ignore[arg-type]

    def _changed(self, path: Path, changed: Changed, **more: Any) -> Assessment:
        """An assessment of a changed file, by the keys that it still has."""
        if not changed.kept_keys:
            raise InputError(must_be("keys", "left in the file, at least one of them", "none"))
        records = open_records(path, None if _is_parquet(path) else self.options.csv)
        fewer = _without(changed, self.options)
        return self._assessed(records, changed.kept_keys, **fewer, **more)

    def _measured(self, changed: Changed) -> Assessment:
        """An assessment of what a recipe makes, by the columns that it looks at alone."""
        path = self.folder / "tried.parquet"
        write_narrow(changed, path, self._others())
        return self._changed(path, changed)

    def _risks(self, changed: Changed) -> FloatArray:
        """The recommended risk of each row of a changed file."""
        import pyarrow.parquet as pq

        narrow, risks = self.folder / "tried.parquet", self.folder / "risks.parquet"
        write_narrow(changed, narrow, self._others())
        self._changed(narrow, changed, risks=risks)
        if "risk" not in pq.read_schema(risks).names:
            rule = "given with the size of the population or weights, by which risk is estimated"
            raise InputError(must_be("above", rule, "neither"))
        by_record = pq.read_table(risks, columns=["risk"]).column("risk").to_numpy()
        found = np.zeros(len(changed.counted.n))
        first = 0
        for rows in changed.row_places():
            np.maximum.at(found, rows, np.nan_to_num(by_record[first : first + len(rows)]))
            first += len(rows)
        return found

    def _others(self) -> list[str]:
        """Columns beside the keys that an assessment looks at."""
        options = self.options
        named = [getattr(options, role) for role in ROLES]
        named += [*options.sensitive, *options.roles.values()]
        wanted = (name for name in dict.fromkeys(named) if name and name not in self.keys)
        return [name for name in wanted if name in self.records.column_names]

    def _request(self) -> Request:
        """What is counted, and what is kept of each record beside its keys: all of it, unless the
        source has it at hand."""
        asked = self.options.assessing(self.keys, missing="category").request(self.records)
        carry = self._others() if self.in_memory else self.records.column_names
        return replace(asked, carry=tuple(carry), household=None)

    def _source(self, store: RowStore, before: Assessment) -> Source:
        options = self.options
        return Source.of_store(
            store,
            population=before.summary.population_size,
            weight=options.weight,
            household=options.household,
            sensitive=tuple(options.sensitive),
            trees={
                name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree, options.csv)
                for name, tree in options.trees.items()
            },
        )

    def _given_out(self, chosen: Chosen, protecting: Protecting, before: Assessment) -> Protected:
        """The file written and assessed by itself; it stays only if no rule is broken, or if the
        closest is asked for."""
        changed = chosen.changed
        outgoing = Outgoing.of_changed(changed, self.records, carried=not self.in_memory)
        try:
            with self._written(outgoing) as path:
                self.progress("assessing the protected file", None)
                after = _renamed(self._changed(path, changed), self._name())
                verdict = self._verdict(protecting, after, changed)
                broken = verdict is not None and verdict.ruling is Ruling.BROKEN
                kept = self.options.closest or not broken
                found = self._told(chosen, before, after, verdict, outgoing if kept else None)
                if not kept:
                    raise _NotKept
        except _NotKept:  # the file that was being written is gone
            pass
        return found

    def _verdict(
        self, protecting: Protecting, after: Assessment, changed: Changed
    ) -> Verdict | None:
        """The verdict on the file; where values were changed by chance, on the same file without
        that, as what it shows then is not true of whoever seems to be the one."""
        plain = changed.without_exchanges()
        if plain is None:
            return protecting.judged(after, changed)
        verdict = protecting.judged(self._measured(plain), plain)
        if verdict is None:
            return None
        notes = () if after.verdict is None else after.verdict.notes
        return replace(verdict, notes=(BEFORE_CHANCE, *notes))

    @contextmanager
    def _written(self, outgoing: Outgoing) -> Iterator[Path]:
        """The protected file, at its place once the block has ended well; without a place it is a
        file of the private folder."""
        if self.target is None:
            path = self.folder / "protected.parquet"
            self._write(outgoing, path)
            yield path
            return
        with written_whole(self.target) as path:
            self._write(outgoing, path)
            yield path

    def _write(self, outgoing: Outgoing, path: Path) -> None:
        self.progress("writing the protected file", None)
        with record_output(path, self.records, outgoing.columns, outgoing.anew) as output:
            outgoing.written_to(output)

    def _name(self) -> str:
        return self.records.name if self.target is None else self.target.name

    def _told(
        self,
        chosen: Chosen,
        before: Assessment,
        after: Assessment,
        verdict: Any,
        outgoing: Outgoing | None,
    ) -> Protected:
        changed = chosen.changed
        importance = [float(self.options.importance.get(k.name, 1.0)) for k in changed.keys]
        found = Protected(
            source=self.records.name,
            options=self.options,
            assessment=after,
            before=before,
            verdict=verdict,
            loss=loss_of(
                changed.transition(),
                importance=np.array(importance),
                leaves=[changed.leaves(key.name) for key in changed.source.counted.keys],
            ),
            recipe=changed.recipe,
            frontier=chosen.frontier,
            searched=chosen.searched,
            least_values=_least(changed),
            analyses=self._analyses(changed),
            by_chance=left_by_chance(changed),
            notes=(*_open_before(before), *self._notes(changed), *_households(after)),
            n_records=changed.n_records,
            output=self.target if outgoing is not None else None,
            held=None if outgoing is None else self._held(outgoing),
        )
        return replace(found, closest=what_would_give(found, changed))

    def _notes(self, changed: Changed) -> Iterator[str]:
        """What gives away what was taken out: members of a household, columns beside the keys."""
        lost = {key.name for key in changed.keys if key.name in changed.with_less}
        shared = self._shared(changed.source)
        if shared and lost & set(shared):
            names = ", ".join(sorted(lost & set(shared)))
            yield (
                f"values of {names} were suppressed, which other members of the household still "
                "show: suppress other keys, or remove the household"
            )
        elif shared and changed.suppressions:
            yield (
                f"members of a household have the same {' and '.join(shared)}: no such value was "
                "suppressed, as another member would show it"
            )
        touched = [k.name for k in changed.keys if k.name in lost or changed.is_recoded(k.name)]
        for column, key in self._tell_tales(changed, touched):
            yield (
                f"the column {column} still tells {key} as it was: remove it too (remove_columns), "
                "or make it a key"
            )

    def _tell_tales(self, changed: Changed, keys: list[str]) -> list[tuple[str, str]]:
        """Columns that go out beside the keys and still tell some of them."""
        gone = set(changed.gone_columns)
        others = [n for n in self.records.column_names if n not in self.keys and n not in gone]
        if not keys or not others:
            return []
        return tell_tales(self._first_records(changed, [*keys, *others]), keys, others)

    def _first_records(self, changed: Changed, names: list[str]) -> "pa.Table":
        """Some columns of the first records of the file as it was."""
        scan = self.records.scan(self.records.find("columns", names))
        if isinstance(scan, ArrowScan):
            return scan.table.rename_columns(names).slice(0, MOST_FIRST)
        store = changed.source.store
        return next(iter(store.coded_rows(names))).carried

    def _held(self, outgoing: Outgoing) -> Callable[[], Any] | None:
        """The records as a frame, for whoever gave one; of a file, what was written."""
        if self.source is not None:
            output = frame_output(self.source, self.records, outgoing.columns, outgoing.anew)
            outgoing.written_to(output)
            return output.frame
        return None if self.target is None else partial(_read_back, self.target, self.options)

    def _analyses(self, changed: Changed) -> Mapping[str, AnalysisKept | Unavailable]:
        """How far the analyses that were named moved."""
        if not self.options.keep:
            return {}
        columns = {name for one in self.options.keep for name in analysis_request(one).columns}
        self.records.find("keep", sorted(columns))
        others = [name for name in self._others_of(columns) if name not in self.keys]
        plain = Changed.untouched(changed.source)
        tables = {
            "original": plain,
            "recoded": changed.recoded_alone(),
            "protected": changed,
        }
        found = {name: _with_numbers(self._whole(one, others)) for name, one in tables.items()}
        return {
            one: analysis_kept(one, **found, weight=self.options.weight)
            for one in self.options.keep
        }

    def _others_of(self, columns: Iterable[str]) -> list[str]:
        weight = [] if self.options.weight is None else [self.options.weight]
        return list(dict.fromkeys([*sorted(columns), *weight]))

    def _whole(self, changed: Changed, others: list[str]) -> "pa.Table":
        """The keys and some other columns of all records, in memory."""
        import pyarrow as pa

        held = self._in_memory_columns(others)
        tables = []
        carry = [] if held is not None else others
        for rows, table in narrow_tables(changed, carry):
            own = table if held is None else _beside(table, held.take(pa.array(rows)))
            tables.append(own)
        return pa.concat_tables(tables)

    def _in_memory_columns(self, names: list[str]) -> "pa.Table | None":
        if not self.in_memory:
            return None
        scan = self.records.scan(self.records.find("keep", names))
        assert isinstance(scan, ArrowScan)
        return scan.table.rename_columns(names)


def _open_before(before: Assessment) -> Iterator[str]:
    """Why the file as it is was not enough, where a rule was open."""
    if before.verdict is not None:
        for one in before.verdict.those(Ruling.UNDECIDED):
            if not isinstance(one.value, Unavailable):
                yield f"open of the file as it is: {one.words}"


def _households(after: Assessment) -> Iterator[str]:
    """How many households whoever knows all their members would find."""
    if after.households is not None:
        alone = after.households.pattern_sizes.sample_uniques
        if alone:
            yield (
                f"{alone:,} of {after.households.n_households:,} households have a pattern of "
                "members that no other has, and are found by it while the file tells who lives "
                "together: remove the household (remove_columns)"
            )


class _NotKept(Exception):  # noqa: N818 - a signal within this module, not an error
    """The goal was not reached, so what is being written is not to stay."""


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _renamed(found: Assessment, name: str) -> Assessment:
    """The assessment by the name of the file as it goes out, not as it was while it was written."""
    return replace(found, settings=replace(found.settings, source=name))


def _without(changed: Changed, options: ProtectOptions) -> dict[str, Any]:
    """What an assessment can no longer be given: columns that are left out."""
    gone = set(changed.gone_columns)
    found: dict[str, Any] = {name: None for name in ROLES if getattr(options, name) in gone}
    if "cluster" in found:
        found["clusters"] = None
    if "weight" in found:
        found["stratum"] = None
        if options.population is None and not options.whole_population:
            size = changed.source.population  # which an intruder knows without the weights
            found["population"] = size
    kept = tuple(name for name in options.sensitive if name not in gone)
    if options.sensitive and not kept:
        found["l"] = None
    return found if kept == tuple(options.sensitive) else found | {"sensitive": kept}


def _least(changed: Changed) -> float | None:
    """A price of values that no suppression can do without, given the recodings; None where none
    was asked for, or it is not known."""
    if any(key.values[-1:] == (None,) for key in changed.source.counted.keys):
        return None  # the price counts values that are missing, of which none is taken out
    found = [one.least for one in changed.suppressions if one.least]
    return max(found) if found else None


def _read_back(target: Path, options: ProtectOptions) -> Any:
    """The file that was written, as an Arrow table."""
    import pyarrow as pa

    records = open_records(target, options.csv)
    scan = records.scan(range(len(records.column_names)))
    if isinstance(scan, ArrowScan):
        return scan.table.rename_columns(list(records.column_names))
    if records.is_csv:
        from pyarrow import csv

        return csv.read_csv(target)
    import pyarrow.parquet as pq

    return pq.read_table(target) if _is_parquet(target) else pa.table({})


def _with_numbers(table: "pa.Table") -> "pa.Table":
    """The table with columns of texts as numbers, where all of them are plainly numbers."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table.column(name)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            try:
                plain = column.cast(pa.string()).cast(pa.float64())
            except pa.ArrowInvalid:
                plain = column.cast(pa.string())
            table = table.set_column(place, name, plain)
    return table


def _beside(table: "pa.Table", other: "pa.Table") -> "pa.Table":
    for name in other.column_names:
        if name not in table.column_names:
            table = table.append_column(name, other.column(name))
    return table
