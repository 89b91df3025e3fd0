"""The numerical tests under other kinds of arithmetic: the same answers on every processor.

Processors differ in the last bits of a sum: OpenBLAS and NumPy choose their kernels by what the
processor can do, and Numba compiles for it. Each kind of arithmetic makes one of them choose as on
another processor: `haswell`, `skylakex` and `nehalem` the BLAS; `no-simd` NumPy, as on a processor
without vector instructions; `generic` Numba, compiling for any processor; `plain` is nehalem and
no-simd together. By default all but `plain` run all numerical tests. `--short` takes the papers,
the README's examples and the comparisons with brute force, by default under haswell and plain,
which need no compiling."""

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUMERICAL = ("tests/unit", "tests/agreement", "tests/papers", "tests/statistical")
README = (
    "tests/pages/test_pages.py::test_every_example_of_a_page_prints_what_the_page_shows[README.md]"
)
FIGURES = ("tests/papers/test_papers_command.py", README)
# Counting records is done in whole numbers, so those comparisons are left out of the short form.
NO_COUNTING = "not every_policy and not matching_brute_force and not sensitive_brute_force"
SHORT = ("tests/agreement", *FIGURES, "-k", NO_COUNTING)
DEFAULT_SHORT = {"haswell": FIGURES, "plain": SHORT}


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One kind: the environment that brings it about, or why it cannot be had here."""

    settings: dict[str, str]
    missing: str = ""


def kinds() -> dict[str, Arithmetic]:
    """All kinds by name."""
    intel = platform.machine().lower() in ("x86_64", "amd64")
    other = "" if intel else "not an x86 processor"
    wide = other or ("" if "AVX512F" in _features() else "the processor has no AVX-512")
    no_simd = {"NPY_DISABLE_CPU_FEATURES": " ".join(_dispatched())}
    none = "" if _dispatched() else "NumPy has no other kernels for this processor"
    generic = {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CACHE_DIR": str(ROOT / "build" / "numba-generic"),
    }
    nehalem = {"OPENBLAS_CORETYPE": "Nehalem"}
    return {
        "haswell": Arithmetic({"OPENBLAS_CORETYPE": "Haswell"}, other),
        "skylakex": Arithmetic({"OPENBLAS_CORETYPE": "SkylakeX"}, wide),
        "nehalem": Arithmetic(nehalem, other),
        "no-simd": Arithmetic(no_simd, none),
        "generic": Arithmetic(generic),
        "plain": Arithmetic({**nehalem, **no_simd}, other or none),
    }


def _features() -> set[str]:
    from numpy._core._multiarray_umath import __cpu_features__

    return {name for name, present in __cpu_features__.items() if present}


def _dispatched() -> list[str]:
    """Kinds of instructions that NumPy has kernels for and this processor can do."""
    from numpy._core._multiarray_umath import __cpu_dispatch__

    return [name for name in __cpu_dispatch__ if name in _features()]


def run(name: str, arithmetic: Arithmetic, tests: tuple[str, ...]) -> tuple[bool, str]:
    """Whether the tests pass under this arithmetic, and pytest's last line."""
    command = [sys.executable, "-m", "pytest", "-n", "auto", "-p", "no:cacheprovider", *tests]
    settings = {**os.environ, **arithmetic.settings}
    print(f"== {name}: {' '.join(f'{k}={v}' for k, v in arithmetic.settings.items())}", flush=True)
    lines = []
    with subprocess.Popen(
        command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            print(line, end="", flush=True)
    return process.returncode == 0, _tally(lines)


def _tally(lines: list[str]) -> str:
    """The line that counts the tests."""
    told = (
        line.strip() for line in reversed(lines) if re.search(r"\d+ (passed|failed|error)", line)
    )
    return next(told, "no test was run")


def chosen(short: bool, names: list[str]) -> Iterator[tuple[str, Arithmetic, tuple[str, ...]]]:
    """Which tests are run under which kind."""
    default = DEFAULT_SHORT if short else dict.fromkeys(set(kinds()) - {"plain"}, NUMERICAL)
    wanted = dict.fromkeys(names, SHORT if short else NUMERICAL) or default
    for name, arithmetic in kinds().items():
        if name in wanted:
            yield name, arithmetic, wanted[name]


def main() -> int:
    """Run all kinds, or those named; 1 if a test of any failed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    every = ", ".join(kinds())
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"one or more of {every}")
    parser.add_argument("--short", action="store_true", help="two minutes instead of half an hour")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.kinds) - set(kinds())):
        parser.error(f"KIND must be one of {every}, got {unknown[0]}")
    told, good = [], True
    for name, arithmetic, tests in chosen(asked.short, asked.kinds):
        if arithmetic.missing:
            told.append(f"{name:10} skipped: {arithmetic.missing}")
            continue
        passed, tally = run(name, arithmetic, tests)
        good = good and passed
        told.append(f"{name:10} {'passed' if passed else 'FAILED'}: {tally}")
    print("\nUnder other arithmetic:", *told, sep="\n  ")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
