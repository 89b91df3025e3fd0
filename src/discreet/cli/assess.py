"""discreet assess FILE --keys a,b,c"""

from pathlib import Path
from typing import Any

import click

from discreet.cli.options import Names, WholeNumbers, csv_from, csv_options


@click.command(name="assess")
@click.argument("file")
@click.option(
    "--keys",
    "--key-vars",
    "--keyVars",
    "--qi",
    "keys",
    type=Names(),
    required=True,
    help="Columns an intruder may know.",
)
@click.option("--weight", help="Column of survey weights.")
@click.option("--population", type=float, help="Size of the population, where it is known.")
@click.option("--cells", type=int, help="Possible cells, if not the product of the levels.")
@click.option(
    "--impossible",
    metavar="FILE",
    help="Impossible combinations: columns are keys, an empty value means any level.",
)
@click.option("--models", default="auto", show_default=True, help="auto, or names with commas.")
@click.option(
    "--missing",
    default="category",
    show_default=True,
    metavar="POLICY",
    help="Missing key values: category, drop or error.",
)
@click.option(
    "--k",
    "levels",
    type=WholeNumbers(),
    default=(2, 3, 5),
    help="k-anonymity to report [default: 2,3,5].",
)
@click.option("--all-pairs", is_flag=True, help="Contributions of all pairs of keys, however long.")
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML report (internal).")
@click.option(
    "--external-report",
    type=click.Path(path_type=Path),
    help="Write an HTML report that may leave the agency.",
)
@click.option("--risks", type=click.Path(path_type=Path), help="Write a risk per record (Parquet).")
@click.option("--memory", help="Memory for counting, such as 4GB [default: 60 % of the machine's].")
@click.option("--threads", type=click.IntRange(min=1), help="Threads [default: all cores].")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(file: str, **options: Any) -> None:
    """Who stands out in FILE, and who could be found by someone who knows the keys.

    FILE is CSV, Parquet (a file, a folder or a glob), Arrow/Feather, Stata, SPSS or SAS.
    """
    from discreet.cli.showing import print_json, progress_bar, say, stdout_console
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.report.html import write_report
    from discreet.report.json import assessment_json
    from discreet.report.text import print_assessment
    from discreet.risk.assessment import assess

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    records = open_records(file, csv)
    impossible = None if options["impossible"] is None else open_records(options["impossible"], csv)
    outputs = [options[name] for name in ("report", "external_report", "risks") if options[name]]
    check_outputs(outputs, records.files + (impossible.files if impossible else ()))
    with progress_bar() as progress:
        assessment = assess(
            records,
            options["keys"],
            weight=options["weight"],
            population_size=options["population"],
            n_table_cells=options["cells"],
            models=_model_names(options["models"]),
            missing=options["missing"],
            structural_zeros=impossible,
            anonymity_levels=options["levels"],
            risks=options["risks"],
            all_pairs=options["all_pairs"],
            csv=csv,
            engine=DuckDBEngine(
                memory=options["memory"], threads=options["threads"], progress=progress
            ),
            progress=progress,
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


def _model_names(given: str) -> str | list[str]:
    return given if given == "auto" else [name.strip() for name in given.split(",")]
