"""Tables of the league by sampling design and fraction, from the files that it saves.

Several files are shown side by side under their labels, over the samples that all of them have:
each number is then `before → now`. The last line of each label says how near the aim it is.

Run: python -m benchmarks.league_tables [LABEL=]FILE.csv … [--method recommended]
     [--figure uniques | matches] [--by design,fraction]
"""

import argparse
import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from benchmarks.league_by_design import RECOMMENDED, TENTHS, Line
from benchmarks.populations.designs import DESIGNS
from discreet.numerics.arrays import FloatArray

FEWEST_TRUE = 5  # errors are shares of at least so many
FEWEST_OF_A_KIND = 5  # uniques, and others, that an area under the curve is taken from
FEWEST_SAMPLES = 200  # of a row, before its coverage is judged
COVERAGE_AIM = (0.85, 0.95)
ROUNDED = 1e-5  # of a number in the file
AIMED_AT = {"0.03–0.3": ("0.03", "0.1", "0.3"), "0.01": ("0.01",), "0.005": ("0.005",)}
ALL = "all"
FIELDS = tuple(each.name for each in fields(Line))
TEXTS = ("population", "design", "method", "tenth_records", "tenth_predicted", "tenth_uniques")
COUNTS = ("repeat", "persons", "records", "sample_uniques", "uniques_true")

Group = tuple[str, ...]
Labelled = Mapping[str, Sequence[Line]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """How a method did on some samples; None where there is nothing to tell it from.

    `error` is the mean distance of estimate and truth over max(truth, 5), `bias` the same with its
    sign, `coverage` the share of 90 % intervals that hold the truth, `width` the median of upper
    over lower limit (at least 1 taken for the lower), `area` the mean area under the curve of the
    samples with five uniques and five others, `brier` the mean Brier score.
    """

    samples: int
    answers: int
    error: float | None
    bias: float | None
    coverage: float | None
    width: float | None
    area: float | None
    brier: float | None


SHOWN: dict[str, Callable[[Scores], float | None]] = {
    "error": lambda scores: scores.error,
    "bias": lambda scores: scores.bias,
    "coverage": lambda scores: scores.coverage,
    "high/low": lambda scores: scores.width,
    "area": lambda scores: scores.area,
    "Brier": lambda scores: scores.brier,
}


def read(path: Path) -> tuple[Line, ...]:
    """The lines of a file that `benchmarks.league_by_design` saved."""
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(_line(row) for row in csv.DictReader(file))


def _line(row: Mapping[str, str]) -> Line:
    return Line(**{name: _value(name, row[name]) for name in FIELDS})  # type: ignore[arg-type]


def _value(name: str, text: str) -> str | int | float | None:
    if name in TEXTS:
        return text
    if name in COUNTS:
        return int(text)
    return float(text) if text else None


def scores(lines: Sequence[Line], figure: str = "uniques") -> Scores:
    """How well a figure was estimated on these samples."""
    true = _numbers(lines, f"{figure}_true")
    estimate, low, high = (_numbers(lines, f"{figure}{end}") for end in ("", "_low", "_high"))
    off = (estimate - true) / np.maximum(true, FEWEST_TRUE)
    limits = ~np.isnan(estimate + low + high)  # certain bounds without an estimate do not count
    holds = (low <= true * (1 + ROUNDED)) & (true <= high * (1 + ROUNDED))
    unique = "" if figure == "uniques" else "match_"
    area = [getattr(line, f"{unique}area") for line in lines if _has_both_kinds(line)]
    return Scores(
        samples=len(lines),
        answers=int((~np.isnan(estimate)).sum()),
        error=_mean(np.abs(off)),
        bias=_mean(off),
        coverage=_mean(holds[limits].astype(float)),
        width=float(np.median((high / np.maximum(low, 1))[limits])) if limits.any() else None,
        area=_mean(np.array(area, dtype=float)),
        brier=_mean(_numbers(lines, f"{unique}brier")),
    )


def _numbers(lines: Sequence[Line], name: str) -> FloatArray:
    """A column, nan for None."""
    return np.array([getattr(line, name) for line in lines], dtype=float)


def _mean(values: FloatArray) -> float | None:
    """The mean of those that are there."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def _has_both_kinds(line: Line) -> bool:
    others = line.sample_uniques - line.uniques_true
    return min(line.uniques_true, others) >= FEWEST_OF_A_KIND


def grouped(lines: Sequence[Line], by: Sequence[str]) -> dict[Group, list[Line]]:
    """The lines of each group, and with two fields or more those pooled over all but one of them
    and over all: 'all' stands for what is pooled. In the order of designs and of numbers."""
    found: dict[Group, list[Line]] = {}
    for line in lines:
        own = tuple(_word(getattr(line, name)) for name in by)
        pooled = [tuple(w if i == j else ALL for j, w in enumerate(own)) for i in range(len(own))]
        for group in dict.fromkeys((own, *pooled, (ALL,) * len(own))):
            found.setdefault(group, []).append(line)
    return dict(sorted(found.items(), key=lambda item: [_order(word) for word in item[0]]))


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _order(word: str) -> tuple[int, float, str]:
    """Designs as they are listed, numbers by size, other words by the alphabet, 'all' last."""
    if word in DESIGNS:
        return 0, list(DESIGNS).index(word), word
    try:
        return 0, float(word), word
    except ValueError:
        return int(word == ALL), 0, word


def shared(labelled: Labelled) -> dict[str, list[Line]]:
    """The lines on samples and methods that every label has."""
    keys = [{line.key for line in lines} for lines in labelled.values()]
    common = set.intersection(*keys)
    return {
        label: [line for line in lines if line.key in common] for label, lines in labelled.items()
    }


def table(labelled: Labelled, by: Sequence[str], figure: str = "uniques") -> Iterator[str]:
    """A Markdown table with a row for each group; each label's numbers side by side."""
    yield from _head([*by, "samples", *SHOWN], len(by))
    groups = {label: grouped(lines, by) for label, lines in labelled.items()}
    for group in next(iter(groups.values()), {}):
        found = [scores(each[group], figure) for each in groups.values()]
        yield _row([*group, _counted(found), *_side_by_side(found)])


def table_of_methods(labelled: Labelled, figure: str = "uniques") -> Iterator[str]:
    """A Markdown table with a row for each method, pooled over all samples."""
    yield from _head(["method", "samples", *SHOWN], 1)
    methods = dict.fromkeys(line.method for lines in labelled.values() for line in lines)
    for method in methods:
        found = [
            scores([line for line in lines if line.method == method], figure)
            for lines in labelled.values()
        ]
        yield _row([method, _counted(found), *_side_by_side(found)])


def table_of_tenths(labelled: Labelled) -> Iterator[str]:
    """A Markdown table of how often sample uniques are population uniques, by the probability that
    was given: the mean of it and the share that came true."""
    yield from _head(["probability", "records", "mean of it", "came true"], 1)
    sums = [_tenths(lines) for lines in labelled.values()]
    for tenth in range(TENTHS):
        here = [[each[tenth] for each in three] for three in sums]
        cells = (
            [f"{records:,.0f}" for records, _, _ in here],
            [_text(_ratio(predicted, records), 3) for records, predicted, _ in here],
            [_text(_ratio(unique, records), 3) for records, _, unique in here],
        )
        span = f"{tenth / TENTHS:g}–{(tenth + 1) / TENTHS:g}"
        yield _row([span, *map(_joined, cells)])


def _tenths(lines: Sequence[Line]) -> list[FloatArray]:
    """Sums over the samples of records, of probabilities and of population uniques."""
    names = ("tenth_records", "tenth_predicted", "tenth_uniques")
    texts = ([getattr(line, name) for line in lines if getattr(line, name)] for name in names)
    return [
        np.array([each.split() for each in found], dtype=float).reshape(-1, TENTHS).sum(axis=0)
        for found in texts
    ]


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def aim(lines: Sequence[Line], figure: str = "uniques") -> str:
    """One line: the error averaged over designs, and how many rows cover as they should."""
    rows = {
        group: scores(each, figure)
        for group, each in grouped(lines, ("design", "fraction")).items()
        if ALL not in group
    }
    errors = (
        f"{_text(_mean_error(rows, fractions))} at {name}" for name, fractions in AIMED_AT.items()
    )
    told = [s.coverage for s in rows.values() if s.answers >= FEWEST_SAMPLES]
    low, high = COVERAGE_AIM
    kept = sum(share is not None and low <= share <= high for share in told)
    return (
        f"error {', '.join(errors)}; coverage within {low:g}–{high:g} in {kept} of {len(told)} "
        f"rows of {FEWEST_SAMPLES} samples"
    )


def _mean_error(rows: Mapping[Group, Scores], fractions: Sequence[str]) -> float | None:
    """The mean of the errors of the rows at these fractions, each design and fraction alike."""
    found = [s.error for (_, fraction), s in rows.items() if fraction in fractions]
    return _mean(np.array(found, dtype=float))


def _head(names: Sequence[str], n_words: int) -> Iterator[str]:
    yield _row(names)
    yield _row(["---"] * n_words + ["---:"] * (len(names) - n_words))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _counted(found: Sequence[Scores]) -> str:
    """How many samples there are, and how many of them got an estimate where some did not."""
    return _joined([
        str(each.samples) if each.answers == each.samples else f"{each.answers} of {each.samples}"
        for each in found
    ])  # fmt: skip


def _side_by_side(found: Sequence[Scores]) -> list[str]:
    return [
        _joined([_text(value(each), 3 if name == "Brier" else 2) for each in found])
        for name, value in SHOWN.items()
    ]


def _joined(texts: Sequence[str]) -> str:
    """Before and now, or one text where they are the same."""
    return " → ".join(texts) if len(set(texts)) > 1 else texts[0]


def _text(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def report(
    labelled: Labelled, method: str, by: Sequence[str], figure: str = "uniques"
) -> Iterator[str]:
    """All tables, line by line."""
    labelled = shared(labelled)
    own = {
        label: [line for line in lines if line.method == method]
        for label, lines in labelled.items()
    }
    yield f"{method}, {figure}: {' → '.join(labelled)}\n"
    yield from table(own, by, figure)
    yield "\nreliability of the probability of being a population unique\n"
    yield from table_of_tenths(own)
    if any(line.method != method for lines in labelled.values() for line in lines):
        yield "\nall methods, over all samples\n"
        yield from table_of_methods(labelled, figure)
    yield ""
    for label, lines in own.items():
        yield f"{label}: {aim(lines, figure)}"


def main() -> None:
    """Parse the files, and print their tables."""
    parser = argparse.ArgumentParser(description="Tables of the league by design")
    parser.add_argument("files", nargs="+", metavar="[LABEL=]FILE.csv")
    parser.add_argument("--method", default=RECOMMENDED)
    parser.add_argument("--figure", choices=("uniques", "matches"), default="uniques")
    parser.add_argument("--by", default="design,fraction", metavar="FIELD,…")
    given = parser.parse_args()
    labelled = {}
    for text in given.files:
        label, _, path = text.rpartition("=")
        labelled[label or Path(path).stem] = read(Path(path))
    for line in report(labelled, given.method, given.by.split(","), given.figure):
        print(line)


if __name__ == "__main__":
    main()
