"""discreet demo"""

from pathlib import Path

import click

from discreet.cli.grouped import Command
from discreet.cli.option_names import speaking_of

PARAMETERS = {"expected_size": "--sample", "size": "--population"}


@click.command(name="demo", cls=Command)
@click.option(
    "--population",
    "size",
    type=click.IntRange(min=1000),
    default=2_000_000,
    show_default=True,
    help="Persons in the made-up population.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=10),
    default=10_000,
    show_default=True,
    help="Persons in the survey, about.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of all draws."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Where the survey, the risks and the reports go.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(size: int, sample: int, seed: int, folder: Path, as_json: bool) -> None:
    """Draw a survey from a population that is known in full, assess it, and show the truth.

    The persons are made up; the ten keys and their 249,704,000 possible cells are those of a
    census file in the literature (Takemura).
    """
    from discreet.cli.console import print_json, progress_bar, say, stdout_console
    from discreet.report.html import write_report
    from discreet.synthetic.demo_report import demo_json, print_demo, truth_section
    from discreet.synthetic.demonstration import demonstrate

    with speaking_of(PARAMETERS), progress_bar() as progress:
        shown = demonstrate(folder, size=size, sample=sample, seed=seed, progress=progress)
        reports = (folder / "report.html", folder / "report-external.html")
        write_report(shown.assessment, reports[0], first=[truth_section(shown)])
        write_report(shown.assessment, reports[1], external=True)
    if as_json:
        print_json(demo_json(shown))
    else:
        print_demo(stdout_console(), shown, report=reports[0])
    for path in (shown.survey, shown.risks, *reports):
        say(f"written: {path}")
