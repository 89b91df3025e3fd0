"""python -m benchmarks [NAME …] [--rows N …] [--scale S]: all benchmarks, or those named."""

import argparse
import importlib

NAMES = (
    "assess",
    "individual_risk",
    "lancaster",
    "loglinear",
    "suda",
    "matching",
    "sensitive",
    "league",
    "fiber_bounds",
    "fiber_counts",
    "fiber_walk",
    "tables",
    "compoisson",
    "intruder",
    "best_margins",
)


def main() -> None:
    """Parse what to run and at which size, and run it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME")
    parser.add_argument("--rows", type=float, nargs="*", default=[1e6, 1e7])
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    for name in given.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        if name == "assess":
            for rows in given.rows:
                module.run(int(rows))
        else:
            module.run(given.scale)


if __name__ == "__main__":
    main()
