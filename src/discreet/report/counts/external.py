"""What may leave the agency of an answer about the statistics of counts."""

from collections.abc import Iterator

from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.category_assessment import CategoriesAssessment
from discreet.count_tables.release import CountRelease
from discreet.count_tables.statistics import DecimalLog
from discreet.figures import Figure, Outcome, Unavailable
from discreet.report import words
from discreet.report.document import Document
from discreet.report.outside import chance, outside_document

TITLE = "Statistics of counts to be published: summary for readers outside"
STATISTICS = (
    "the number of observations, the sum of their values and the sum of the logarithms of their "
    "factorials"
)


def external_document(a: CountAssessment, name: str = "") -> Document:
    """Which statistics were to go out, and whether they may."""
    risk = a.risks["multinomial"]
    best = risk if isinstance(risk, Unavailable) else risk.best_guess_probability
    return outside_document(
        TITLE,
        name=name,
        asked=[f"to publish {_released(a.release)}, instead of the table of counts"],
        ruling=None if a.verdict is None else a.verdict.ruling,
        estimate=_estimate(best, "the table"),
        instead=_instead(),
        policies=a.options.policies if a.verdict is not None else (),
    )


def external_categories(found: CategoriesAssessment, name: str = "") -> Document:
    """Which sets of statistics were to go out, and whether they may."""
    joint = found.joint
    best = joint if isinstance(joint, Unavailable) else joint.best_guess_probability
    by = f" by {words.listed(list(found.options.by))}" if found.options.by else ""
    return outside_document(
        TITLE,
        name=name,
        asked=[f"to publish, for each category{by}, {STATISTICS}"],
        ruling=None if found.verdict is None else found.verdict.ruling,
        estimate=_estimate(best, "all tables together"),
        instead=("the same for fewer and broader categories, which would be judged anew",),
        policies=found.options.policies if found.verdict is not None else (),
    )


def _released(release: CountRelease) -> str:
    """What goes out in words, without a figure."""
    _, _, rest = STATISTICS.partition(", ")
    which = rest if release.n is None else STATISTICS
    given = release.log_factorial_total
    return f"{which} (rounded)" if isinstance(given, DecimalLog) else which


def _estimate(best: Outcome, what: str) -> Iterator[str]:
    value = best.value if isinstance(best, Figure) else None
    if value is None:
        yield "how surely the counts could be worked back could not be estimated"
    else:
        yield f"an intruder's best guess of {what} would be right with a chance of {chance(value)}"


def _instead() -> Iterator[str]:
    yield "the same statistics with the last of them rounded, or of more observations together"
    yield "the mean alone"
    yield "each of these would be judged anew"
