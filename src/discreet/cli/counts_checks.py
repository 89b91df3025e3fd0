"""Options of counts that need one another or exclude one another, told before any work is done."""

from typing import Any

import click

from discreet.errors import must_be
from discreet.flows.counts_input import is_file

OF_HOLDER = (
    "decimals", "withhold_n", "max_risk", "measure", "small", "column", "count", "missing",
    "totals", "margins", "withhold", "policy", "fit_draws",
)  # fmt: skip
OF_FILE = ("column", "count", "missing", "by", "sheet", "delimiter", "quote", "encoding")
OF_ONE_SET = (
    "decimals", "truncate", "withhold_n", "number_prior", "measure", "small",
    "fit_draws",
)  # fmt: skip
OF_CATEGORIES = ("regress", "totals", "margins", "withhold", "total_table")
TYPED = {"margins": "--margin"}


def check_together(counts: str | None, options: dict[str, Any]) -> None:
    """No option is given that would have no effect beside the others."""
    given = {
        name
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }
    if options["sets"] is not None:
        _check_sets(counts, given)
    elif counts is None:
        _check_statistics(options, given)
    else:
        _refuse(given & {"n", "s1", "s2"}, "without a table, which has statistics of its own")
        _refuse(given & {"total_table"}, "with --sets; --totals says it of a FILE")
    if options["sets"] is None and (counts is None or not is_file(counts)):
        _refuse(given & set(OF_FILE), "with a file")
    _check_categories(options, given)
    _check_pairs(counts, options, given)


def _check_sets(counts: str | None, given: set[str]) -> None:
    if counts is not None:
        raise click.UsageError("--sets must be given without a table, got both")
    _refuse(given & {"n", "s1", "s2", "truncate"}, "without --sets, whose file has them")
    _refuse(given & set(OF_HOLDER), "with the table of counts, which an intruder has not")


def _check_statistics(options: dict[str, Any], given: set[str]) -> None:
    lacking = [name for name in ("s1", "s2") if name not in given]
    if len(lacking) == 2:
        got = "--n alone" if "n" in given else "none"
        rule = "given (or a FILE, --sets, or --s1 and --s2 with --n unless it is withheld)"
        raise click.UsageError(f"a table of counts must be {rule}, got {got}")
    if lacking:
        other = "s2" if lacking == ["s1"] else "s1"
        raise click.UsageError(f"--{lacking[0]} must be given with --{other}, got none")
    _refuse(given & set(OF_HOLDER), "with the table of counts, which an intruder has not")
    if options["truncate"] and not is_decimal(options["s2"]):
        raise click.UsageError("--truncate must be given with a decimal, got a factorisation")


def _check_categories(options: dict[str, Any], given: set[str]) -> None:
    if "by" not in given and "sets" not in given:
        _refuse(given & set(OF_CATEGORIES), "with --by or --sets")
    else:
        _refuse(given & set(OF_ONE_SET), "without --by and --sets, whose sets are exact")


def _check_pairs(counts: str | None, options: dict[str, Any], given: set[str]) -> None:
    for name in ("measure", "small"):
        if name in given and "max_risk" not in given:
            raise click.UsageError(f"--{name} must be given with --max-risk, got none")
    if (
        counts is not None
        and options["truncate"]
        and not {"decimals", "max_risk", "policy"} & given
    ):
        raise click.UsageError("--truncate must be given with --decimals, got none")
    if "number_prior" in given and (options["n"] is not None or not _hides_n(counts, given)):
        raise click.UsageError("--number-prior must be given where n is withheld, got it where not")
    if "prior" in given and "bayes" not in given:
        raise click.UsageError("--prior must be given with --bayes, got none")


def _hides_n(counts: str | None, given: set[str]) -> bool:
    return "n" not in given if counts is None else "withhold_n" in given


def _refuse(names: set[str], rule: str) -> None:
    for name in sorted(names):
        typed = TYPED.get(name, f"--{name.replace('_', '-')}")
        raise click.UsageError(must_be(typed, f"given {rule}", "otherwise"))


def is_decimal(s2: str) -> bool:
    """S2 itself as a decimal, and not e^S2 as a product."""
    return not any(sign in s2 for sign in "^*·×")
