"""Assess against the raw group-by and join in DuckDB, pandas' group-by, and pycanon."""

from pathlib import Path

from benchmarks.measuring import print_table, run_job

PYCANON_ROWS = 1_000_000
RIVALS = Path(".venv-rivals/bin/python")  # pycanon wants a NumPy that is too old for us


def run(rows: int) -> None:
    """All comparisons at one size; pandas and pycanon only where their data fit with ease."""
    repeats = 3 if rows <= 1_000_000 else 1
    for kind in ("parquet", "csv"):
        if kind == "csv" and rows > 10_000_000:
            continue
        path = _file(rows, kind)
        costs = {
            "DuckDB, ten-column group-by and join": run_job("duckdb_raw", path, repeats=repeats),
            "discreet assess, 1/f of every record written": run_job(
                "discreet_assess", path, repeats=repeats
            ),
            "discreet assess, all models": run_job("discreet_without_risks", path, repeats=repeats),
        }
        print_table(f"{rows:,} records in {kind}", costs, "DuckDB, ten-column group-by and join")
    if rows <= 10_000_000:
        _in_memory(rows, repeats)


def _file(rows: int, kind: str) -> str:
    return run_job("make_census_file", str(rows), kind).answer


def _in_memory(rows: int, repeats: int) -> None:
    path = _file(rows, "parquet")
    costs = {
        "pandas group-by, counts only": run_job("pandas_group_by", path, repeats=repeats),
        "discreet, cells and size indices": run_job(
            "discreet_cells_from_pandas", path, repeats=repeats
        ),
        "discreet assess, all figures": run_job("discreet_from_pandas", path, repeats=repeats),
    }
    if rows <= PYCANON_ROWS and RIVALS.exists():
        costs["pycanon k_anonymity"] = run_job("pycanon_k", path, python=str(RIVALS))
    print_table(f"{rows:,} records in memory", costs, "pandas group-by, counts only")
