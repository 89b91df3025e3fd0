"""python -m benchmarks [NAME …] [--rows N …] [--scale S]: what is compared, or the names given.

Without names all comparisons are run, in under half an hour, and a summary ends them. Named
benchmarks also print what they have beside their comparisons.
"""

import argparse
import importlib
import traceback
from collections.abc import Sequence
from time import perf_counter
from types import ModuleType

from benchmarks.comparing import Comparison, Result, compare, summarise

SIZES = (10_000, 100_000, 1_000_000)
COMPARED = (
    "commands",
    "counts",
    "fiber_counts",
    "suppression",
    "assess",
    "spark",
    "k_anonymity",
    "individual_risk",
    "sensitive",
    "suda",
    "loglinear",
    "protect",
)
BY_NAME = (
    "lancaster",
    "matching",
    "league",
    "spark_cost",
    "fiber_bounds",
    "fiber_walk",
    "tables",
    "compoisson",
    "rebuilding",
    "best_margins",
    "reconstruction",
    "linked",
)


def main() -> None:
    """Parse what to run and at which size, run it whatever fails, and sum it up."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *COMPARED, *BY_NAME], metavar="NAME")
    parser.add_argument("--rows", type=float, nargs="*", default=SIZES, help="sizes of files")
    parser.add_argument("--scale", type=float, default=1.0, help="size of benchmarks by name")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and end")
    given = parser.parse_args()
    if given.list:
        list_names()
        return
    began = perf_counter()
    results: list[Result] = []
    failures: dict[str, str] = {}
    for name in given.names or COMPARED:
        print(f"\n== {name}", flush=True)
        try:
            results += one(name, [int(rows) for rows in given.rows], bool(given.names), given.scale)
        except Exception as fault:
            traceback.print_exc()
            failures[name] = f"{type(fault).__name__}: {fault}"
    summarise(results)
    for name, why in failures.items():
        print(f"  {name} failed: {why}")
    if not given.names:
        print(f"  by name only: {', '.join(BY_NAME)}")
    print(f"  {(perf_counter() - began) / 60:.1f} minutes")


def one(name: str, sizes: Sequence[int], named: bool, scale: float) -> list[Result]:
    """The comparisons of a benchmark and, if it was named, all else that it prints."""
    module = importlib.import_module(f"benchmarks.{name}")
    results = [compare(each) for each in comparisons_of(module, sizes)]
    if hasattr(module, "afterwards"):
        module.afterwards(results, sizes)
    if named and hasattr(module, "run"):
        module.run(scale)
    return results


def comparisons_of(module: ModuleType, sizes: Sequence[int]) -> list[Comparison]:
    """What the module compares; nothing where it only prints."""
    return module.comparisons(sizes) if hasattr(module, "comparisons") else []


def list_names() -> None:
    """A line for each benchmark: its name, and the first line of what it says of itself."""
    for kind, names in (("compared", COMPARED), ("by name", BY_NAME)):
        for name in names:
            module = importlib.import_module(f"benchmarks.{name}")
            print(f"{name:<18}{kind:<10}{(module.__doc__ or '').splitlines()[0]}")


if __name__ == "__main__":
    main()
