"""Text and JSON load no drawing library, no templates, and nothing of the other flows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[3] / "src" / "discreet" / "report"
TABLE = "a,b,n\nx,u,3\nx,v,1\ny,u,0\ny,v,2\n"
COMMANDS = {
    "assess": "assess TABLE --keys a,b --models sample_frequency",
    "audit": "audit TABLE --count n --release a --release b",
    "counts": "counts 0:15,1:20,2:9,3:5,4:2",
    "plan": "plan --cells 5000 --population 1000000 --target-risk 0.05",
}
OTHERS = {
    "assess": ("discreet.tables", "discreet.count_tables", "discreet.choice", "discreet.fiber"),
    "audit": ("discreet.survey", "discreet.count_tables", "discreet.choice"),
    "counts": (
        "discreet.survey",
        "discreet.tables",
        "discreet.choice",
        "discreet.belief.ladder",
        "numba",
        "scipy.special",
        "scipy.optimize",
        "scipy.sparse.csgraph",
        "scipy.stats",
        "pyarrow",
        "pandas",
        "ortools",
        "networkx",
        "duckdb",
    ),
    "plan": ("discreet.tables", "discreet.count_tables", "discreet.choice", "numba", "scipy.stats"),
}
SCRIPT = """
import sys
from discreet.cli import cli
cli(sys.argv[1:], standalone_mode=False)
print(*sys.modules, sep="\\n", file=sys.stderr)
"""


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_its_own_flow_only(tmp_path, name, more):
    table = tmp_path / "table.csv"
    table.write_text(TABLE)
    given = [str(table) if word == "TABLE" else word for word in COMMANDS[name].split()]
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, *given, *more],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    loaded = ran.stderr.splitlines()
    assert "discreet.report.render_json" in loaded
    for part in ("matplotlib", "jinja2", *OTHERS[name]):
        assert not [module for module in loaded if f"{module}.".startswith(f"{part}.")]


def test_reports_compute_no_statistics_of_their_own():
    for path in REPORT.rglob("*.py"):
        assert not re.search(r"^\s*(from|import) scipy", path.read_text(encoding="utf-8"), re.M), (
            path
        )


def test_only_pages_and_plots_load_what_draws_them():
    drawing = {"render_html.py", "plots.py", "counts_plots.py", "lattice_plot.py",
               "risk_utility_plot.py"}  # fmt: skip
    found = {
        path.name
        for path in REPORT.rglob("*.py")
        if re.search(
            r"^\s*(from|import) (matplotlib|jinja2)", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert found == drawing
