"""What is refused of records, whichever engine counted it: the same words for the same fault."""

from collections.abc import Mapping, Sequence

from discreet.engines import sql
from discreet.engines.contract import Request
from discreet.engines.weight_units import unit_shift
from discreet.errors import ColumnError, FileError, InputError, MissingError, WeightError, must_be

MOST_WEIGHT = 1e15
BAD_WEIGHTS = {  # kinds of weights that no record may have, as SQL of every engine
    "missing or not a number": "(weight IS NULL OR isnan(weight))",
    "infinite": "abs(weight) = CAST('infinity' AS DOUBLE)",
    "zero": "weight = 0",
    "negative": "(weight < 0 AND weight > CAST('-infinity' AS DOUBLE))",
}


def check_types(request: Request, types: Sequence[str], weight_type: str | None) -> None:
    """Keys and sensitive variables, of these SQL types in order, can be told apart, and the weight
    is a number; raises ColumnError where not."""
    names = (*request.keys, *request.sensitive)
    for name, own in zip(names, types, strict=True):
        if not sql.can_be_key(own):
            rule = "a column of single values (text, numbers, dates, true or false)"
            got = "lists" if own.endswith("]") else own.lower()
            raise ColumnError(must_be(f"column {name!r}", rule, got))
    if weight_type not in (None, "VARCHAR", "NULL") and not sql.is_number(str(weight_type)):
        name = f"weight {request.weight!r}"
        raise ColumnError(must_be(name, "a column of numbers", str(weight_type).lower()))


def check_any(request: Request, n_all: int) -> None:
    """There is a record; raises InputError where not."""
    name = request.records.name
    if n_all == 0:
        if not request.records.files:
            raise InputError(must_be(name, "a frame with at least one record", "none"))
        raise FileError(must_be(name, "a file with at least one record", "none"))


def check_accepted(request: Request, n_all: int, n_kept: int, absent: Sequence[int]) -> None:
    """No record is left out under a policy that accepts no missing value; of each key `absent`
    records lack the value."""
    if n_kept < n_all and not request.missing.accepts:
        lacking = [key for key, n in zip(request.keys, absent, strict=True) if n]
        remedy = "choose category or drop for missing values (missing)"
        shown = " or ".join(map(repr, lacking))
        got = f"{n_all - n_kept:,} of {n_all:,} records without {shown}"
        raise MissingError(must_be("keys", "known in every record", got, remedy=remedy))


def check_kept(request: Request, n_all: int, n_kept: int) -> None:
    """Not all records are left out."""
    if n_kept == 0:
        what = "a file" if request.records.files else "a frame"
        rule = f"{what} with at least one record that has every key"
        got = f"none among {n_all:,}"
        remedy = "choose category for missing values (missing)"
        raise MissingError(must_be(request.records.name, rule, got, remedy=remedy))


def without_household(request: Request, n: int, first: int) -> MissingError:
    """The complaint about n records without a household, `first` the first of them."""
    name = f"household {request.household!r}"
    where = f"record {first:,} first"
    return MissingError(must_be(name, "known in every record", f"{n:,} without", where=where))


def bad_weights(
    request: Request, weight_type: str | None, by_kind: Mapping[str, int], first: int
) -> WeightError:
    """The complaint about weights of the kinds of BAD_WEIGHTS, the first of them in row `first`."""
    found = ", ".join(f"{n:,} {kind}" for kind, n in by_kind.items() if n)
    remedy = "correct or remove these records"
    texts = weight_type == "VARCHAR" and bool(request.records.files)
    if texts and request.decimal == ".":
        remedy += ", or give ',' as the mark (decimal) if the file writes 1,5 for 1.5"
    return WeightError(
        must_be(
            f"weight {request.weight!r}",
            "a positive, finite number in every record",
            f"{sum(by_kind.values()):,} that are not ({found})",
            where=f"record {first:,} first",
            remedy=remedy,
        )
    )


def shift_of_weights(request: Request, smallest: float, largest: float, n: int) -> int:
    """The units in which n weights are summed (see `weight_units`); raises WeightError if none."""
    shift = unit_shift(smallest, largest, n)
    if shift is None:
        name = f"weight {request.weight!r}"
        got = f"a largest that is {largest / smallest:.0e} times the smallest"
        raise WeightError(must_be(name, "of sizes that can be summed exactly", got))
    return shift


def check_weight_total(request: Request, total: float) -> None:
    """The weights add up to something that can be computed with."""
    if total >= MOST_WEIGHT:
        name = f"weight {request.weight!r}"
        raise WeightError(must_be(name, "below 1e15 in all", "a larger sum"))


def check_population(request: Request, name: str, total: int, n_incomplete: int) -> None:
    """The population file called `name` has every key, where the policy asks for it."""
    if n_incomplete and not request.missing.accepts:
        got = f"{n_incomplete:,} of {total:,} records without one"
        remedy = "choose category or drop for missing values (missing)"
        raise MissingError(must_be(f"keys of {name}", "known in every record", got, remedy=remedy))
