"""discreet assess FILE --keys a,b,c"""

from pathlib import Path
from typing import Any

import click

from discreet.cli.options import (
    Codes,
    NamedFile,
    Names,
    Scenario,
    WholeNumbers,
    csv_from,
    csv_options,
)

OUTPUTS = ("report", "external_report", "risks")
ENDINGS = {
    "report": (".html", ".htm"),
    "external_report": (".html", ".htm"),
    "risks": (".parquet", ".pq"),
}
PATH = click.Path(path_type=Path)


@click.command(name="assess")
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
@click.option("--models", default="auto", show_default=True, help="auto, or names with commas.")
@click.option(
    "--k", "levels", type=WholeNumbers(), default=(2, 3, 5), help="For k-anonymity [2,3,5]."
)
@click.option("--sensitive", type=Names(), default=(), help="Sensitive variables.")
@click.option("--l", "ell", type=int, default=2, show_default=True, help="For l-diversity.")
@click.option("--c", type=float, default=3.0, show_default=True, help="For (c, l)-diversity.")
@click.option("--t", type=float, default=0.3, show_default=True, help="For t-closeness.")
@click.option("--alpha", type=float, default=0.8, show_default=True, help="For (α, k)-anonymity.")
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
    from discreet.cli.showing import print_json, progress_bar, say, stdout_console
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.report.html import write_report
    from discreet.report.json import assessment_json
    from discreet.report.text import print_assessment
    from discreet.risk.assessment import assess

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    inputs: dict[str, Any] = {
        name: None if path is None else open_records(path, csv)
        for name, path in (
            ("source", file),
            ("structural_zeros", options["impossible"]),
            ("population", options["population_file"]),
        )
    }
    outputs = [options[name] for name in OUTPUTS if options[name]]
    given = [records for records in inputs.values() if records is not None]
    files = [path for records in given for path in records.files]
    files += [Path(path) for _, path in options["trees"]]
    check_outputs(outputs, files, [path for records in given for path in records.parts])
    for name, endings in ENDINGS.items():
        _check_ending(name, options[name], endings)
    if options["missing"] == "all":
        _compare(inputs, csv, outputs, options)
        return
    with progress_bar() as progress:
        assessment = assess(
            **inputs,
            **_common(csv, options, progress),
            weight=options["weight"],
            population_size=options["population"],
            n_table_cells=options["cells"],
            models=_model_names(options["models"]),
            missing=options["missing"],
            missing_weight=options["missing_weight"],
            risks=options["risks"],
            all_pairs=options["all_pairs"],
            progress=progress,
            **_measures(csv, options),
        )
        if options["report"]:
            write_report(assessment, options["report"])
        if options["external_report"]:
            write_report(assessment, options["external_report"], external=True)
    if options["as_json"]:
        print_json(assessment_json(assessment))
    else:
        print_assessment(stdout_console(), assessment)
    for path in outputs:
        say(f"written: {path}")


def _check_ending(name: str, path: Path | None, endings: tuple[str, ...]) -> None:
    if path is not None and path.suffix.lower() not in endings:
        option = "--" + name.replace("_", "-")
        raise click.UsageError(f"{option} must end in {endings[0]}, got {path.name!r}")


def _common(csv: Any, options: dict[str, Any], progress: Any) -> dict[str, Any]:
    """What both the assessment and the comparison of policies take."""
    from discreet.data.missing import MissingCodes
    from discreet.engines.duckdb import DuckDBEngine

    kinds = ("missing", "suppressed", "not_applicable")
    return {
        "keys": options["keys"],
        "anonymity_levels": options["levels"],
        "codes": MissingCodes(**{kind: _by_column(options[f"{kind}_code"]) for kind in kinds}),
        "csv": csv,
        "engine": DuckDBEngine(
            memory=options["memory"], threads=options["threads"], progress=progress
        ),
    }


def _measures(csv: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The figures that are computed on request."""
    from discreet.risk.sensitive import Thresholds
    from discreet.risk.tree_file import read_hierarchy

    return {
        "sensitive": options["sensitive"],
        "thresholds": Thresholds(
            diversity=options["ell"],
            recursive_c=options["c"],
            closeness=options["t"],
            concentration=options["alpha"],
        ),
        "hierarchies": {name: read_hierarchy(path, csv) for name, path in options["trees"]},
        "household": options["household"],
        "suda": options["suda"],
        "scenarios": dict(options["scenarios"]) or None,
        "subsets": options["subsets"],
        "shrinkage": options["shrinkage"],
        "shrinkage_table": options["shrinkage_table"],
        "loss_ratios": options["loss_ratio"],
    }


def _compare(
    inputs: dict[str, Any], csv: Any, outputs: list[Path], options: dict[str, Any]
) -> None:
    from discreet.cli.showing import print_json, progress_bar, stdout_console
    from discreet.report.extras import comparison_section
    from discreet.report.extras_json import comparison_json
    from discreet.report.text import section_parts
    from discreet.risk.comparison import compare_policies

    if outputs:
        raise click.UsageError("--missing all compares policies and writes no files; choose one")
    with progress_bar() as progress:
        comparison = compare_policies(
            inputs["source"],
            missing_weight=options["missing_weight"],
            **_common(csv, options, progress),
        )
    if options["as_json"]:
        print_json(comparison_json(comparison))
        return
    console = stdout_console()
    for part in section_parts(comparison_section(comparison)):
        console.print(part)


def _by_column(given: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, tuple[str, ...]]:
    codes: dict[str, tuple[str, ...]] = {}
    for column, values in given:
        codes[column] = (*codes.get(column, ()), *values)
    return codes


def _model_names(given: str) -> str | list[str]:
    return given if given == "auto" else [name.strip() for name in given.split(",")]
