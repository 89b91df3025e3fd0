"""discreet assess FILE --keys a,b,c"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.option_names import speaking_of
from discreet.cli.option_rules import by_name, check_csv, check_together
from discreet.cli.options import (
    Codes,
    NamedFile,
    Names,
    Scenario,
    WholeNumbers,
    csv_from,
    csv_options,
)
from discreet.cli.single_options import OnceCommand

OUTPUTS = ("report", "external_report", "risks")
ENDINGS = {
    "report": (".html", ".htm"),
    "external_report": (".html", ".htm"),
    "risks": (".parquet", ".pq"),
}
PATH = click.Path(path_type=Path)
PARAMETERS = {  # of the library, where the user typed something else
    "population_size": "--population",
    "n_table_cells": "--cells",
    "missing_weight": "--missing-weight",
    "loss_ratios": "--loss-ratio",
    "scenarios": "--scenario",
    "alpha_k": "--alpha-k",
    **{
        name: f"--{name}"
        for name in ("k", "l", "c", "t", "alpha", "suda", "shrinkage", "subsets", "headline")
    },
}


@click.command(name="assess", cls=OnceCommand)
@click.argument("file")
@click.option(
    "--keys", "--key-vars", "--keyVars", "--qi", "keys", type=Names(),
    help="Columns an intruder may know [default: all that the scenarios name].",
)  # fmt: skip
@click.option("--weight", help="Column of survey weights.")
@click.option("--population", type=float, help="Size of the population, where it is known.")
@click.option("--population-file", metavar="FILE", help="A file of the whole population.")
@click.option("--cells", type=int, help="Possible cells, if not the product of the levels.")
@click.option(
    "--impossible", metavar="FILE",
    help="Impossible combinations: columns are keys, an empty value means any level.",
)  # fmt: skip
@click.option("--models", help="auto, or names with commas [default: auto].")
@click.option(
    "--headline", metavar="MODEL",
    help="Lead with this model, as backtest may advise [default: the recommended estimate].",
)  # fmt: skip
@click.option(
    "--k", "levels", type=WholeNumbers(), default=(2, 3, 5), help="For k-anonymity [2,3,5]."
)
@click.option("--sensitive", type=Names(), default=(), help="Sensitive variables.")
@click.option("--l", type=int, help="For l-diversity [default: 2].")
@click.option("--c", type=float, help="For (c, l)-diversity [default: 3].")
@click.option("--t", type=float, help="For t-closeness [default: 0.3].")
@click.option("--alpha", type=float, help="Share for (α, k)-anonymity [default: 0.8].")
@click.option("--alpha-k", type=int, help="Records for (α, k)-anonymity [default: 2].")
@click.option(
    "--tree", "trees", type=NamedFile(), multiple=True,
    help="Levels of a sensitive variable and what they belong to, one leaf a row.",
)  # fmt: skip
@click.option("--household", help="Column that tells the household of each record.")
@click.option("--suda", type=int, metavar="M", help="SUDA scores with sets of up to M keys.")
@click.option(
    "--scenario", "scenarios", type=Scenario(), multiple=True,
    help="What an intruder may know; may be given several times.",
)  # fmt: skip
@click.option("--subsets", type=int, metavar="S", help="Uniques under all sets of up to S keys.")
@click.option("--shrinkage", type=float, help="λ of the Lancaster model [default: chosen].")
@click.option("--shrinkage-table", is_flag=True, help="The Lancaster model for λ from 0 to 1.")
@click.option("--loss-ratio", type=float, multiple=True, help="More ratios b/c for the Bayes test.")
@click.option(
    "--missing", default="category", show_default=True, metavar="POLICY",
    help="Missing keys: wildcard, conservative, category, drop, error; all compares them.",
)  # fmt: skip
@click.option(
    "--missing-weight", type=float, default=1.0, show_default=True,
    help="What a match counts that needs a missing value (wildcard).",
)  # fmt: skip
@click.option("--missing-code", type=Codes(), multiple=True, help="Values that mean: not known.")
@click.option("--suppressed-code", type=Codes(), multiple=True, help="Values that mean: taken out.")
@click.option(
    "--not-applicable-code", type=Codes(), multiple=True, help="Values that mean: nothing to know."
)
@click.option("--all-pairs", is_flag=True, help="Contributions of all pairs of keys, however long.")
@click.option("--report", type=PATH, help="Write an HTML report (internal).")
@click.option("--external-report", type=PATH, help="Write a report that may leave the agency.")
@click.option("--risks", type=PATH, help="Write a risk per record (Parquet).")
@click.option("--memory", help="Memory for counting, such as 8GB [default: 4GB].")
@click.option("--threads", type=click.IntRange(1, 1024), help="Threads [default: all cores].")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(file: str, **options: Any) -> None:
    """Who stands out in FILE, and who could be found by someone who knows the keys.

    FILE is CSV, Parquet (a file, a folder or a glob), Arrow/Feather, Stata, SPSS or SAS.
    """
    with speaking_of(PARAMETERS):
        _run(file, options)


def _run(file: str, options: dict[str, Any]) -> None:
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs

    check_together(options)
    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    inputs: dict[str, Any] = {
        name: None if path is None else open_records(path, csv)
        for name, path in (
            ("source", file),
            ("structural_zeros", options["impossible"]),
            ("population", options["population_file"]),
        )
    }
    given = [records for records in inputs.values() if records is not None]
    check_csv(options, given, options["trees"])
    files = [path for records in given for path in records.files]
    files += [Path(path) for _, path in options["trees"]]
    outputs = [options[name] for name in OUTPUTS if options[name]]
    check_outputs(outputs, files, [path for records in given for path in records.parts])
    for name, endings in ENDINGS.items():
        _check_ending(name, options[name], endings)
    asked = inputs | _asked(csv, options)
    if options["missing"] == "all":
        _compare(asked, options)
    else:
        _assess(asked, options)


def _assess(asked: dict[str, Any], options: dict[str, Any]) -> None:
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.report.assess.document import assess_document
    from discreet.report.assess.external import external_document
    from discreet.report.assess.json import assessment_json
    from discreet.survey.assessment import assess

    with progress_bar() as progress:
        assessment = assess(
            **asked,
            engine=_engine(options, progress),
            models=_model_names(options["models"] or "auto"),
            headline=options["headline"],
            missing=options["missing"],
            risks=options["risks"],
            all_pairs=options["all_pairs"],
            subsets=options["subsets"],
            shrinkage_table=options["shrinkage_table"],
            loss_ratios=options["loss_ratio"],
            progress=progress,
        )
    outside = options["external_report"]
    show(
        partial(assess_document, assessment),
        partial(assessment_json, assessment),
        as_json=options["as_json"],
        report=options["report"],
        others={outside: partial(external_document, assessment)} if outside else None,
        written=[options["risks"]] if options["risks"] else [],
    )


def _compare(asked: dict[str, Any], options: dict[str, Any]) -> None:
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.report.assess.comparison import comparison_document, comparison_json
    from discreet.survey.missing_policies import compare_policies

    with progress_bar() as progress:
        comparison = compare_policies(
            **{name: value for name, value in asked.items() if name != "population"},
            engine=_engine(options, progress),
            models=None if options["models"] is None else _model_names(options["models"]),
            progress=progress,
        )
    show(
        partial(comparison_document, comparison),
        partial(comparison_json, comparison),
        as_json=options["as_json"],
    )


def _check_ending(name: str, path: Path | None, endings: tuple[str, ...]) -> None:
    if path is not None and path.suffix.lower() not in endings:
        option = "--" + name.replace("_", "-")
        raise click.UsageError(f"{option} must end in {endings[0]}, got {path.name!r}")


def _engine(options: dict[str, Any], progress: Any) -> Any:
    from discreet.engines.duckdb import DuckDBEngine

    return DuckDBEngine(memory=options["memory"], threads=options["threads"], progress=progress)


def _asked(csv: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What both the assessment and the comparison of policies take, besides the files."""
    from discreet.data.missing import MissingCodes
    from discreet.survey.attributes.tree_file import read_hierarchy

    kinds = ("missing", "suppressed", "not_applicable")
    trees = by_name("--tree", options["trees"])
    return {
        "keys": options["keys"],
        "anonymity_levels": options["levels"],
        "codes": MissingCodes(**{kind: _by_column(options[f"{kind}_code"]) for kind in kinds}),
        "csv": csv,
        "weight": options["weight"],
        "population_size": options["population"],
        "n_table_cells": options["cells"],
        "missing_weight": options["missing_weight"],
        "sensitive": options["sensitive"],
        "thresholds": _thresholds(options),
        "hierarchies": {name: read_hierarchy(path, csv) for name, path in trees.items()},
        "household": options["household"],
        "suda": options["suda"],
        "scenarios": by_name("--scenario", options["scenarios"]) or None,
        "shrinkage": options["shrinkage"],
    }


def _thresholds(options: dict[str, Any]) -> Any:
    """What was said of the sensitive variables, None if nothing was."""
    from discreet.survey.attributes.sensitive import Thresholds

    names = {
        "l": "diversity",
        "c": "recursive_c",
        "t": "closeness",
        "alpha": "concentration",
        "alpha_k": "anonymity",
    }
    given = {field: options[name] for name, field in names.items() if options[name] is not None}
    return Thresholds(**given) if given else None


def _by_column(given: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, tuple[str, ...]]:
    codes: dict[str, tuple[str, ...]] = {}
    for column, values in given:
        codes[column] = (*codes.get(column, ()), *values)
    return codes


def _model_names(given: str) -> str | list[str]:
    return given if given == "auto" else [name.strip() for name in given.split(",")]
