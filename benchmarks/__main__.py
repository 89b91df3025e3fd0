"""python -m benchmarks [--rows N …]: every benchmark, or assess at the given sizes only."""

import argparse

from benchmarks import assess


def main() -> None:
    """Parse the sizes and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", type=float, nargs="*", default=[1e6, 1e7])
    for rows in parser.parse_args().rows:
        assess.run(int(rows))


if __name__ == "__main__":
    main()
