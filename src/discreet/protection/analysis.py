"""How far the estimates of a named analysis moved from the original to the protected records.

The original records are first recoded like the protected ones, so that a key that went into bands
is a category on both sides and its coefficients can be compared. Where a coefficient does not hang
on what was recoded, its estimate on the records as they were stands beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pyarrow as pa

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray
from discreet.protection.analysis_request import RULE, AnalysisRequest, analysis_request
from discreet.protection.estimates_kept import (
    AnalysisKept,
    counts_of,
    estimate_kept,
    mean_overlap,
    share_of,
)
from discreet.protection.model_columns import (
    ModelCells,
    ModelColumn,
    is_number,
    model_cells,
    model_column,
    weights_of,
)
from discreet.protection.model_fit import (
    CONFIDENCE,
    DesignColumn,
    ModelFit,
    linear_fit,
    logistic_fit,
)
from discreet.protection.table_kept import table_kept

BEFORE, AFTER = 0, 1
CONSTANT = "(constant)"
LINEAR, LOGISTIC = "linear regression", "logistic regression"
MOST_COEFFICIENTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One file as a model takes it; `decided` are levels that no finite coefficient fits."""

    cells: ModelCells
    design: tuple[DesignColumn, ...]
    decided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Response:
    """The response as numbers in every file: itself, or 1 for the level `success`."""

    kind: str
    values: tuple[FloatArray, ...]
    known: tuple[BoolArray, ...]
    levels: tuple[str, ...] = ()


def analysis_kept(
    request: str,
    *,
    original: pa.Table,
    recoded: pa.Table,
    protected: pa.Table,
    weight: str | None = None,
) -> AnalysisKept | Unavailable:
    """How far the estimates of an analysis moved from `recoded` to `protected`.

    A response of numbers is regressed on linearly, one of two levels logistically; a numeric column
    with two values has two levels. Columns of numbers in both files are taken as numbers, all
    others as categories, the reference being the one most frequent in both.
    Checked: the request, that the original has its columns, and the weights. Trusted: that
    `recoded` are the original records, recoded as the protected ones.
    """
    asked = analysis_request(request)
    needed = (*asked.columns, *([] if weight is None else [weight]))
    for name in needed:
        if name not in original.column_names:
            raise InputError(must_be("keep", f"{RULE}, of columns of the file", repr(name)))
    for name in needed:
        if name not in recoded.column_names or name not in protected.column_names:
            return Unavailable(f"the protected file has no column {name}")
    tables = (recoded, protected)
    weights = [weights_of(table, weight) for table in tables]
    if asked.response is None:
        return table_kept(asked, tables, weights)
    return _model_kept(asked, original, tables, weights, weights_of(original, weight))


def _model_kept(
    asked: AnalysisRequest,
    original: pa.Table,
    tables: Sequence[pa.Table],
    weights: Sequence[FloatArray],
    own_weight: FloatArray,
) -> AnalysisKept | Unavailable:
    response = _response(tables, str(asked.response))
    if isinstance(response, Unavailable):
        return response
    columns = [model_column(tables, name) for name in asked.predictors]
    references = _references(columns, _complete(columns, response))
    if isinstance(references, Unavailable):
        return references
    n = _n_coefficients(asked, columns, references)
    if n > MOST_COEFFICIENTS:
        return Unavailable(
            f"the model would have {n:,} coefficients, more than {MOST_COEFFICIENTS}"
        )
    sides = [
        _side(asked, columns, references, response, weights[file], file) for file in (BEFORE, AFTER)
    ]
    fits = [_fit(side, response.kind) for side in sides]
    for fit, which in zip(fits, ("the original records", "the protected records"), strict=True):
        if isinstance(fit, Unavailable):
            return Unavailable(f"of {which}, {fit.reason}")
    whole = _original(asked, original, columns, references, response, own_weight)
    before, after = (
        _estimates(side, fit)
        for side, fit in zip(sides, fits, strict=True)
        if isinstance(fit, ModelFit)
    )
    notes = (*_banded(original, columns), *_decided(sides))
    return _compared(asked, response, sides, before, after, whole, notes)


def _decided(sides: Sequence[_Side]) -> tuple[str, ...]:
    """Levels whose records all have the same response, and in which file."""
    return tuple(
        f"all {which} records of {name} have the same response, so it has no finite estimate"
        for side, which in zip(sides, ("original", "protected"), strict=True)
        for name in side.decided
    )


def _of(columns: Sequence[ModelColumn], term: Sequence[str]) -> list[ModelColumn]:
    return [next(column for column in columns if column.name == name) for name in term]


def _response(tables: Sequence[pa.Table], name: str) -> _Response | Unavailable:
    """The response: numbers, or which records have the second of two levels."""
    column = model_column(tables, name)
    if column.labels is None:
        values = np.concatenate([v[k] for v, k in zip(column.values, column.known, strict=True)])
        if len(np.unique(values)) > 2:
            return _Response(kind=LINEAR, values=column.values, known=column.known)
        column = model_column(tables, name, category=True)
    labels = column.labels or ()
    if len(labels) != 2:
        rule = "only numbers and responses of two levels are analysed"
        held = "a single level" if len(labels) == 1 else f"{len(labels):,} levels"
        return Unavailable(f"{name} has {held if labels else 'no value'}, and {rule}")
    if any(len(np.unique(v[k])) < 2 for v, k in zip(column.values, column.known, strict=True)):
        return Unavailable(f"{name} has a single level in one of the files")
    return _Response(
        kind=LOGISTIC,
        values=tuple(np.where(own == 1, 1.0, 0.0) for own in column.values),
        known=column.known,
        levels=labels,
    )


def _complete(columns: Sequence[ModelColumn], response: _Response) -> list[BoolArray]:
    """Which records of each file have all values."""
    found = [known.copy() for known in response.known]
    for column in columns:
        for own, known in zip(found, column.known, strict=True):
            own &= known
    return found


def _references(
    columns: Sequence[ModelColumn], complete: Sequence[BoolArray]
) -> dict[str, int] | Unavailable:
    """The level of each category that has no coefficient: the most frequent in both files."""
    if not all(own.any() for own in complete):
        return Unavailable("no record of one of the files has all values that the model needs")
    found: dict[str, int] = {}
    for column in columns:
        if column.labels is None:
            continue
        counts = [
            np.bincount(own[known].astype(np.int64), minlength=len(column.labels))
            for own, known in zip(column.values, complete, strict=True)
        ]
        shared = np.min(counts, axis=0)
        if not shared.any():
            return Unavailable(f"no level of {column.name} is in both files")
        found[column.name] = int(np.argmax(shared))
    return found


def _levels(column: ModelColumn, references: dict[str, int]) -> list[int | None]:
    """The levels that have a coefficient; None for a column of numbers."""
    if column.labels is None:
        return [None]
    return [v for v in range(len(column.labels)) if v != references[column.name]]


def _n_coefficients(
    asked: AnalysisRequest, columns: Sequence[ModelColumn], references: dict[str, int]
) -> int:
    """The constant, and the products of the levels of each term."""
    sizes = ([len(_levels(c, references)) for c in _of(columns, term)] for term in asked.terms)
    return 1 + sum(math.prod(own) for own in sizes)


def _side(
    asked: AnalysisRequest,
    columns: Sequence[ModelColumn],
    references: dict[str, int],
    response: _Response,
    weight: FloatArray,
    file: int,
) -> _Side:
    """The cells of a file, and the columns of the design that are not 0 everywhere in it."""
    cells = model_cells(columns, response.values[file], response.known[file], weight, file)
    design = [DesignColumn(name=CONSTANT)]
    for term in asked.terms:
        own = _of(columns, term)
        for levels in product(*(_levels(column, references) for column in own)):
            design.append(_design_column(own, levels))
    side = _Side(cells=cells, design=_occurring(design, cells))
    return _undecided(side) if response.kind == LOGISTIC else side


def _occurring(design: Sequence[DesignColumn], cells: ModelCells) -> tuple[DesignColumn, ...]:
    return tuple(column for column in design if column.of(cells, slice(None)).any())


def _undecided(side: _Side) -> _Side:
    """The file without levels whose records all have the same response, and without those records.

    The likelihood rises for ever as the coefficient of such a level goes to ±∞, where its records
    are fitted exactly: what is left has the same maximum in the other coefficients.
    """
    cells = side.cells
    for column in side.design:
        if not column.factors or any(level is None for _, level in column.factors):
            continue
        inside = column.of(cells, slice(None)) > 0
        if (
            inside.any()
            and len(np.unique(cells.mean[inside])) == 1
            and cells.mean[inside][0] in (0, 1)
        ):
            left = cells.at(~inside)
            rest = _occurring([other for other in side.design if other is not column], left)
            found = _undecided(_Side(cells=left, design=rest))
            return replace(found, decided=(column.name, *found.decided))
    return side


def _design_column(columns: Sequence[ModelColumn], levels: Sequence[int | None]) -> DesignColumn:
    names = [
        column.name if level is None else f"{column.name}={(column.labels or ())[level]}"
        for column, level in zip(columns, levels, strict=True)
    ]
    factors = zip((column.name for column in columns), levels, strict=True)
    return DesignColumn(name=":".join(names), factors=tuple(factors))


def _fit(side: _Side, kind: str) -> ModelFit | Unavailable:
    if not side.cells.n_records:
        return Unavailable("none with all values has a weight")
    if not side.design:
        return Unavailable("every level has records of one response only")
    fit = linear_fit if kind == LINEAR else logistic_fit
    found: ModelFit | Unavailable = fit(side.cells, side.design)
    return found


def _estimates(side: _Side, fit: ModelFit) -> dict[str, Figure]:
    """Each coefficient with its interval."""
    return {
        column.name: Figure(
            value=float(value),
            how=How.ESTIMATE,
            low=float(value - fit.quantile * error),
            high=float(value + fit.quantile * error),
            standard_error=float(error),
            confidence=CONFIDENCE,
        )
        for column, value, error in zip(side.design, fit.coefficients, fit.errors, strict=True)
    }


def _original(
    asked: AnalysisRequest,
    original: pa.Table,
    columns: Sequence[ModelColumn],
    references: dict[str, int],
    response: _Response,
    weight: FloatArray,
) -> dict[str, Figure]:
    """The estimates on the records as they were, of coefficients that mean the same there."""
    own_response = _response([original], str(asked.response))
    if isinstance(own_response, Unavailable) or own_response.levels != response.levels:
        return {}
    own = [model_column([original], column.name) for column in columns]
    same = {a.name for a, b in zip(own, columns, strict=True) if a.labels == b.labels}
    own_references = _references(own, _complete(own, own_response))
    if isinstance(own_references, Unavailable):
        return {}
    own_references |= {name: v for name, v in references.items() if name in same}
    if _n_coefficients(asked, own, own_references) > MOST_COEFFICIENTS:
        return {}
    side = _side(asked, own, own_references, own_response, weight, BEFORE)
    fit = _fit(side, own_response.kind)
    if isinstance(fit, Unavailable):
        return {}
    meant = _unmoved(asked, same)
    names = {c.name for c in side.design if {name for name, _ in c.factors} <= meant and c.factors}
    if len(same) == len(columns):
        names.add(CONSTANT)
    return {name: one for name, one in _estimates(side, fit).items() if name in names}


def _unmoved(asked: AnalysisRequest, same: set[str]) -> set[str]:
    """Columns that are as they were, and stand in no interaction with one that is not."""
    moved = {name for term in asked.terms if not set(term) <= same for name in term}
    return same - moved


def _banded(original: pa.Table, columns: Sequence[ModelColumn]) -> tuple[str, ...]:
    """Which columns are categories now that were numbers."""
    return tuple(
        f"{column.name} was a number and is a category in the protected file: what lies within its "
        "levels is not compared"
        for column in columns
        if column.labels is not None and is_number(original.column(column.name).type)
    )


def _compared(
    asked: AnalysisRequest,
    response: _Response,
    sides: Sequence[_Side],
    before: dict[str, Figure],
    after: dict[str, Figure],
    whole: dict[str, Figure],
    notes: tuple[str, ...],
) -> AnalysisKept:
    none = Unavailable(
        "the recoding changes what it means, or the model has no such estimate there"
    )
    estimates = tuple(
        estimate_kept(name, before[name], after[name], whole.get(name, none))
        for name in before
        if name in after
    )
    judged = [one for one in estimates if one.name != CONSTANT]
    return AnalysisKept(
        request=asked.text,
        kind=response.kind,
        estimates=estimates,
        overlap=mean_overlap(judged or estimates),
        sign_changed=share_of([one.sign_changed for one in judged]),
        significance_changed=share_of([one.significance_changed for one in judged]),
        distance=Unavailable("a regression has no cells"),
        **counts_of(sides[BEFORE].cells, sides[AFTER].cells),
        only_before=tuple(name for name in before if name not in after),
        only_after=tuple(name for name in after if name not in before),
        success=response.levels[1] if response.levels else "",
        notes=notes,
    )
