"""A flow, and a command, loads only what it works with."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOW = (
    "import sys\n"
    "parts = [n.split('.')[1:] for n in sys.modules if n.startswith('discreet.')]\n"
    "parts = [one for one in parts if one != ['masks']]\n"  # the folder itself holds no method
    "own = {'records' if one[:2] == ['masks', 'records'] else one[0] for one in parts}\n"
    "print(*sorted(own | ({'duckdb'} & set(sys.modules))), file=sys.stderr)"
)
REST = {"tables", "count_tables", "choice", "masks", "belief", "fiber"}  # masks of tables
NOT_FOR = {
    "counts": {"survey", "tables", "choice", "masks", "duckdb"},
    "assess": REST,
    "backtest": REST,
    "plan": REST | {"duckdb"},
    "audit": {"survey", "count_tables", "choice"},
    "choose": {"survey"},
}
COMMANDS = {
    "counts": ["0:15,1:20,2:9,3:5,4:2"],
    "assess": [f"{EXAMPLES / 'survey.csv'}", "--keys", "sex,age", "--models", "pitman"],
    "plan": ["--cells", "100", "--population", "1000", "--target-risk", "0.1"],
    "audit": [f"{EXAMPLES / 'census.csv'}", "--count", "count", "--release", "race"],
}


def loaded(script):
    run = subprocess.run(
        [sys.executable, "-c", f"{script}\n{SHOW}"], capture_output=True, text=True, check=True
    )
    return set(run.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("flow", NOT_FOR)
def test_a_flow_loads_what_it_works_with(flow):
    assert not loaded(f"import discreet.flows.{flow}") & NOT_FOR[flow]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_only_its_own_flow(command):
    arguments = ["discreet", command, *COMMANDS[command], "--json"]
    run = f"import sys; sys.argv = {arguments!r}\nfrom discreet.cli import main"
    assert not loaded(f"{run}\ntry: main()\nexcept SystemExit: pass") & NOT_FOR[command]


HEAVY = "pandas polars pyarrow scipy numba matplotlib jinja2 networkx ortools flint openpyxl"
LIBRARIES = "import sys; print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"


@pytest.mark.parametrize("more", [[], ["--json"], ["--risks", "risks.csv"]])
def test_assessing_a_csv_file_loads_no_heavy_library(more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = ["--keys", "sex,age,marital_status", "--population", "40000", "--max-risk", "0.2"]
    arguments = ["discreet", "assess", str(EXAMPLES / "survey.csv"), *keys, *more]
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.argv = {arguments!r}\nfrom discreet.cli import main\n"
            f"try: main()\nexcept SystemExit as end: assert end.code == 3\n{LIBRARIES}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    found = set(run.stderr.splitlines()[-1].split())
    assert "duckdb" in found
    assert sorted(found & set(HEAVY.split())) == []
