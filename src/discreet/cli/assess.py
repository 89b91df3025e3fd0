"""discreet assess FILE --keys a,b,c"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.engines import engine_of, engine_options, source_of
from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import COMPUTED, JUDGED, KNOWN, OUTPUT, READING, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.option_rules import by_name, check_csv, check_together
from discreet.cli.options import (
    NamedFile,
    Names,
    Role,
    Scenario,
    WholeNumbers,
    code_options,
    codes_by_column,
    csv_from,
    csv_options,
    design_options,
    full_option,
    model_names,
    page_options,
    policy_option,
)

OUTPUTS = ("report", "external_report", "risks")
ENDINGS = {"risks": (".parquet", ".pq", ".csv")}
PATH = click.Path(path_type=Path)
PLAIN = (  # options that reach the library as they are
    "keys", "weight", "population", "whole_population", "cells", "nesting", "household",
    "cluster", "clusters", "stratum", "sensitive", "max_risk", "min_k", "policy", "k",
    "all_models", "headline", "l", "c", "t", "alpha", "alpha_k", "suda",
    "subsets", "shrinkage", "shrinkage_table", "loss_ratios", "all_pairs",
    "risks", "carry", "missing", "missing_weight", "tries", "min_candidates", "recipe",
)  # fmt: skip


@click.command(name="assess", cls=Command)
@click.argument("file")
@option(
    KNOWN, "--keys", "--key-vars", "--keyVars", "--qi", "keys", type=Names(),
    help="Columns an intruder may know [default: all that the scenarios name].",
)  # fmt: skip
@design_options
@option(KNOWN, "--population-file", metavar="FILE", help="A file of the whole population.")
@option(
    KNOWN, "--known-margins", metavar="FILE", multiple=True,
    help="A published table of the population: one key or two, and a column of counts; may be "
    "given several times.",
)  # fmt: skip
@option(
    KNOWN, "--cells", type=int,
    help="Number of possible cells [default: the product of the numbers of levels, without what "
    "nested keys rule out].",
)  # fmt: skip
@option(
    KNOWN, "--nesting/--no-nesting", default=True,
    help="Whether combinations are impossible that a key which determines another rules out, such "
    "as a district in another region [default: they are].",
)  # fmt: skip
@option(
    KNOWN, "--impossible", metavar="FILE",
    help="Impossible combinations: columns are keys, an empty value means any level.",
)  # fmt: skip
@option(
    KNOWN, "--original", metavar="FILE",
    help="The file that FILE was made of, to count how many of its records fit each record.",
)  # fmt: skip
@option(
    KNOWN, "--recipe", metavar="FILE",
    help="With --original: the recipe by which FILE was made, so that keys are recoded alike.",
)  # fmt: skip
@option(
    KNOWN, "--sensitive", type=Names(), default=(),
    help="Columns that an intruder would like to learn.",
)  # fmt: skip
@option(
    KNOWN, "--tree", "trees", type=NamedFile(), multiple=True,
    help="Which levels of a sensitive variable, or of a key, belong together, one leaf a row.",
)  # fmt: skip
@option(
    KNOWN, "--scenario", "scenarios", type=Scenario(), multiple=True,
    help="A name and the keys that an intruder knows there; may be given several times.",
)  # fmt: skip
@option(
    JUDGED, "--max-risk", type=float, metavar="R",
    help="No record may have a risk above this, from 0 to 1 (docs/guide/limits.md).",
)  # fmt: skip
@option(
    JUDGED, "--min-k", type=int, metavar="K",
    help="At least so many records must share each combination of keys.",
)  # fmt: skip
@option(
    JUDGED, "--min-candidates", type=int, metavar="K",
    help="At least so many records of the --original could be behind each record.",
)  # fmt: skip
@policy_option
@option(
    JUDGED, "--role", "roles", type=Role(), multiple=True,
    help="The column of a kind that a policy asks for: region=province; region= says that there is "
    "none. May be given several times.",
)  # fmt: skip
@option(
    COMPUTED, "--try", "tries", multiple=True, metavar="KEY=RULE",
    help="Try a change of a key, and show what it does: age=bands(5), job=rare(20), name=drop (all "
    "forms: discreet protect --help). May be given several times.",
)  # fmt: skip
@option(
    COMPUTED, "--k", type=WholeNumbers(), default=(2, 3, 5),
    help="Records that must share each combination of keys [default: 2,3,5].",
)  # fmt: skip
@option(
    COMPUTED, "--models", metavar="NAME,…",
    help="Models to run beside the recommended estimate, with commas.",
)  # fmt: skip
@option(COMPUTED, "--all-models", is_flag=True, help="Run all models beside it.")
@option(
    COMPUTED, "--headline", metavar="MODEL",
    help="Lead with this model, as backtest may advise [default: the recommended estimate].",
)  # fmt: skip
@option(
    COMPUTED, "--l", type=int,
    help="Different sensitive values that a cell must have (l-diversity) [default: 2].",
)  # fmt: skip
@option(
    COMPUTED, "--c", type=float,
    help="The commonest sensitive value must be less than so many times as common as the l-th "
    "and rarer ones together [default: 3].",
)  # fmt: skip
@option(
    COMPUTED, "--t", type=float,
    help="Greatest distance of the sensitive values in a cell from those of the file, from 0 to 1 "
    "(t-closeness) [default: 0.3].",
)  # fmt: skip
@option(
    COMPUTED, "--alpha", type=float,
    help="Greatest share of one sensitive value in a cell [default: 0.8].",
)  # fmt: skip
@option(
    COMPUTED, "--alpha-k", type=int,
    help="Records that a cell must also have, with --alpha [default: 2].",
)  # fmt: skip
@option(
    COMPUTED, "--suda", type=int, metavar="M",
    help="SUDA scores: how often sets of up to M keys make a record unique.",
)  # fmt: skip
@option(
    COMPUTED, "--subsets", type=int, metavar="S", help="Sample uniques by all sets of up to S keys."
)
@option(
    COMPUTED, "--shrinkage", type=float,
    help="How far the Lancaster model shrinks interactions, from 0 to 1 [default: chosen].",
)  # fmt: skip
@option(
    COMPUTED, "--shrinkage-table", is_flag=True, help="The Lancaster model for shrinkages 0 to 1."
)
@option(
    COMPUTED, "--loss-ratio", "loss_ratios", type=float, multiple=True,
    help="How many times worse it is to miss a population unique than to call a record one that is "
    "not; may be given several times.",
)  # fmt: skip
@option(
    COMPUTED, "--all-pairs", is_flag=True,
    help="How many uniques each pair of keys makes, however long that takes.",
)  # fmt: skip
@engine_options
@page_options
@option(OUTPUT, "--risks", type=PATH, help="Write the risk of each record (CSV or Parquet).")
@option(
    OUTPUT, "--carry", type=Names(), default=(),
    help="Columns of FILE that are shown with the riskiest records and go into --risks as they "
    "are, such as an identifier.",
)  # fmt: skip
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@option(
    READING, "--missing", default="category", show_default=True, metavar="POLICY",
    help="How missing keys match: wildcard, conservative, category, drop, error; all compares "
    "them.",
)  # fmt: skip
@option(
    READING, "--missing-weight", type=float, default=1.0, show_default=True,
    help="With wildcard: how much a match counts that rests on a missing value, from 0 to 1.",
)  # fmt: skip
@code_options
@csv_options
def command(file: str, **options: Any) -> None:
    """Who stands out in FILE, and who could be found by someone who knows the keys.

    FILE is CSV, Parquet (a file, a folder or a glob), Arrow/Feather, Excel, Stata, SPSS or
    SAS; with --engine spark CSV, Parquet, an address such as s3a://…, or table:NAME.
    """
    with speaking_of():
        _run(file, options)


def _run(file: str, options: dict[str, Any]) -> None:
    from discreet.cli.console import progress_bar
    from discreet.data.records import Records
    from discreet.data.writing import check_outputs

    check_together(options)
    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    with progress_bar() as progress, engine_of(options, progress) as engine:
        inputs = _inputs(file, options, csv, engine)
        given = [records for records in inputs.values() if isinstance(records, Records)]
        given += inputs["known_margins"]
        check_csv(options, given, options["trees"])
        files = [path for records in given for path in records.files]
        files += [Path(path) for _, path in options["trees"]]
        outputs = [options[name] for name in OUTPUTS if options[name]]
        check_outputs(outputs, files, [path for records in given for path in records.parts])
        for name, endings in ENDINGS.items():
            _check_ending(name, options[name], endings)
        asked = inputs | _asked(csv, options) | {"engine": engine, "progress": progress}
        found = _compared(asked) if options["missing"] == "all" else _assessed(asked)
    if options["missing"] == "all":
        _show_comparison(found, options)
    else:
        _show(found, options)


def _inputs(file: str, options: dict[str, Any], csv: Any, engine: Any) -> dict[str, Any]:
    from discreet.data.records import open_records

    opened = {
        name: None if path is None else open_records(source_of(path, engine), csv, sheet)
        for name, path, sheet in (
            ("source", file, options["sheet"]),
            ("impossible", options["impossible"], None),
            ("population_file", options["population_file"], None),
            ("original", options["original"], None),
        )
    }
    margins = [open_records(source_of(path, engine), csv) for path in options["known_margins"]]
    return opened | {"known_margins": margins}


def _assessed(asked: dict[str, Any]) -> Any:
    from discreet.flows.assess import assess

    return assess(**asked)


def _compared(asked: dict[str, Any]) -> Any:
    from discreet.flows.assess import compare_policies

    return compare_policies(**asked)


def _show(assessment: Any, options: dict[str, Any]) -> None:
    from discreet.cli.show import show
    from discreet.report.assess.document import assess_document
    from discreet.report.assess.external import external_document
    from discreet.report.assess.json import assessment_json

    outside = options["external_report"]
    show(
        partial(assess_document, assessment),
        partial(assessment_json, assessment),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others={outside: partial(external_document, assessment)} if outside else None,
        written=[options["risks"]] if options["risks"] else [],
    )
    leave_with(assessment.verdict)


def _show_comparison(comparison: Any, options: dict[str, Any]) -> None:
    from discreet.cli.show import show
    from discreet.report.assess.comparison import comparison_document, comparison_json

    show(
        partial(comparison_document, comparison),
        partial(comparison_json, comparison),
        as_json=options["as_json"],
        full=options["full"],
    )


def _check_ending(name: str, path: Path | None, endings: tuple[str, ...]) -> None:
    if path is not None and path.suffix.lower() not in endings:
        option = "--" + name.replace("_", "-")
        raise click.UsageError(f"{option} must end in {endings[0]}, got {path.name!r}")


def _asked(csv: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the library, besides the files: the same names, in its forms."""
    codes = ("missing_codes", "suppressed_codes", "not_applicable_codes")
    changed = {
        "models": model_names(options["models"]),
        "trees": by_name("--tree", options["trees"]),
        "roles": by_name("--role", options["roles"]),
        "scenarios": by_name("--scenario", options["scenarios"]),
        **{name: codes_by_column(options[name]) for name in codes},
    }
    return {name: options[name] for name in PLAIN} | changed | {"csv": csv}
