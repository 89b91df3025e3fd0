"""What may leave the agency: rounded shares of the whole, and no way to put anything else in.

`PublicFigures` has no field for a level, a combination or a count of records, and the document is
made from it alone. Each share is a multiple of a step half of which stands for at
least SMALLEST records, so that no share, and no difference of two, tells of fewer; a whole of fewer
than FEWEST records is not shown at all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.figures import Figure
from discreet.policy.policy import Policy
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.assess.classes import FEWEST_SHOWN, first_result, risk_classes
from discreet.report.assess.meaning import MEANING
from discreet.report.assess.words import anonymity_meaning
from discreet.report.document import Block, Document, Plot, Section, Text, Tiles
from discreet.report.outside import (
    CONCLUSIONS,
    FEWEST,
    NOT_JUDGED,
    SMALLEST,
    in_percent,
    public_share,
    rules_section,
)
from discreet.report.verdict import TONES
from discreet.survey.assessment import Assessment
from discreet.survey.headline.recommendation import COUNTED, note_on_fraction

MOST_KEYS = 30  # that a plot has room for
TOO_FEW = f"Not shown: there are fewer than {FEWEST} records to take shares of."
READING = (
    f"Every share is rounded to a step that stands for at least {SMALLEST} records, so that no "
    "difference between shares tells of fewer. The figures say how the file as a whole stands; "
    "nothing here points to a person."
)


def external_document(assessment: Assessment, name: str = "") -> Document:
    """Rounded shares of the whole; nothing that a reader could act on."""
    return _document(public_figures(assessment, name))


@dataclass(frozen=True, slots=True)
class PublicFigure:
    """A share in words with what it is a share of."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicShares:
    """Some named shares of a whole that is large enough to be shown."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]


PUBLIC_K = (2, 3, 5)  # whatever was asked for, since that may be the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFigures:
    """All that the external report may show; None for shares of too small a whole."""

    name: str
    ruling: Ruling | None
    estimate: str
    scope: str
    keys: tuple[str, ...]
    missing: str
    anonymity_meaning: str
    tiles: tuple[PublicFigure, ...]
    anonymity: PublicShares | None
    contributions: PublicShares | None
    risk: PublicShares | None
    risk_meaning: str
    version: str
    policies: tuple[Policy, ...] = ()


def _document(figures: PublicFigures) -> Document:
    """The document of public figures; the assessment itself is out of reach here."""
    keys = ", ".join(figures.keys)
    known = f"Keys, the facts that an intruder is supposed to know: {keys}."
    return Document(
        title="Disclosure risk: summary for readers outside",
        mark="public",
        blocks=(
            Section(
                "Conclusion",
                (Text(_conclusion(figures.ruling), "strong"), Text(figures.estimate)),
                tone="" if figures.ruling is None else TONES[figures.ruling],
            ),
            rules_section(figures.policies),
            Section("What could be asked instead", tuple(_instead(figures.ruling))),
            Tiles(tuple((tile.value, tile.label) for tile in figures.tiles)),
            Section(
                "What was assessed",
                (
                    Text(f"Data set: {figures.name}. {figures.scope}"),
                    Text(f"{known} Missing values: {figures.missing}.", "soft"),
                ),
            ),
            _anonymity(figures),
            _risks(figures),
            _keys(figures),
            Section(
                "How to read this",
                (Text(READING, "soft"), Text(f"Made with Discreet {figures.version}.", "soft")),
                half=True,
            ),
        ),
    )


def _conclusion(ruling: Ruling | None) -> str:
    return NOT_JUDGED if ruling is None else CONCLUSIONS[ruling]


def _instead(ruling: Ruling | None) -> Iterator[Text]:
    if ruling in (Ruling.BROKEN, Ruling.UNDECIDED):
        yield Text("A file with broader categories, or with fewer of these keys.")
        yield Text("Each of these would be judged anew.")


def _half(title: str, meaning: str, block: Block | None) -> Section:
    blocks = (Text(meaning, "soft"),) if block is None else (Text(meaning, "soft"), block)
    return Section(title, blocks, half=True)


def _anonymity(figures: PublicFigures) -> Section:
    def draw(shares: PublicShares) -> str:
        from discreet.report.plots import anonymity_plot

        return anonymity_plot([int(k) for k in shares.labels], shares.shares)

    label = "Share of records that break k-anonymity for k from 2 to 100"
    plot = _plot("anonymity", label, figures.anonymity, draw)
    return _half("k-anonymity", figures.anonymity_meaning, plot)


def _risks(figures: PublicFigures) -> Section:
    def draw(shares: PublicShares) -> str:
        from discreet.report.plots import risk_plot

        return risk_plot(shares.labels, [100 * share for share in shares.shares], "records, %")

    label = "Bar chart of the share of records in each class of risk"
    plot = _plot("risk", label, figures.risk, draw)
    return _half("Risk of the records", figures.risk_meaning, plot)


def _keys(figures: PublicFigures) -> Section:
    def draw(shares: PublicShares) -> str:
        from discreet.report.plots import contribution_plot

        return contribution_plot(shares.labels[:MOST_KEYS], shares.shares[:MOST_KEYS])

    label = "Share of unique records that vanish when each key is dropped"
    plot = _plot("contributions", label, figures.contributions, draw)
    return _half("Which keys make records unique", MEANING["contributions"], plot)


def _plot(
    name: str, label: str, shares: PublicShares | None, draw: Callable[[PublicShares], str]
) -> Block:
    return Text(TOO_FEW) if shares is None else Plot(name, label, lambda: draw(shares))


def public_figures(assessment: Assessment, name: str = "") -> PublicFigures:
    """The part of an assessment that a reader outside may have."""
    verdict = getattr(assessment, "verdict", None)
    total = assessment.summary.sample_size
    settings, single = assessment.settings, assessment.contributions.single
    shown = total >= FEWEST
    return PublicFigures(
        name=name or Path(settings.source).name,
        ruling=None if verdict is None else verdict.ruling,
        estimate=_estimate(assessment, total),
        scope=f"{rounded(total)} with {words.plural(len(assessment.keys), 'key')}.",
        keys=settings.keys,
        missing=settings.missing.in_words(settings.missing_weight),
        anonymity_meaning=anonymity_meaning(assessment),
        tiles=tuple(
            PublicFigure(in_percent(row.records, total), f"of the records break {row.k}-anonymity")
            for row in (assessment.anonymity_curve if shown else ())
            if row.k in PUBLIC_K
        ),
        anonymity=_shares(((str(a.k), a.records) for a in assessment.anonymity_curve), total),
        contributions=_shares(
            ((" and ".join(c.keys), c.uniques_removed) for c in single), assessment.sample_uniques
        ),
        risk=_risk(assessment, total),
        risk_meaning=_risk_meaning(assessment),
        version=settings.versions["discreet"],
        policies=settings.options.policy,
    )


def _estimate(assessment: Assessment, total: int) -> str:
    """The share of records that the recommended estimate expects to be matched correctly."""
    found = assessment.recommended.expected_correct_matches
    value = found.value if isinstance(found, Figure) else None
    if value is None:
        return "How many records an intruder would match correctly could not be estimated."
    if total < FEWEST:
        return TOO_FEW
    share = in_percent(round(value), total)
    told = f"An intruder who knows the keys would match {share} of the records correctly."
    size = assessment.summary.population_size
    if assessment.recommended.model != COUNTED and size and note_on_fraction(total / size):
        told += " The sample is a smaller part of the population than this estimate was tried on."
    return told


def rounded(records: int) -> str:
    """The size of the file to two digits, in steps of fifty or more."""
    if records < FEWEST:
        return f"Fewer than {FEWEST} records"
    step = max(50, 10 ** (len(str(records)) - 2))
    return f"About {round(records / step) * step:,} records"


def _shares(named: Iterable[tuple[str, int]], whole: int) -> PublicShares | None:
    if whole < FEWEST:
        return None
    labels, parts = zip(*named, strict=True)
    return PublicShares(labels=labels, shares=tuple(public_share(part, whole) for part in parts))


def _risk(assessment: Assessment, total: int) -> PublicShares | None:
    """Classes of risk, from the first that can be shown on."""
    if total < FEWEST:
        return None
    classes = risk_classes(first_result(assessment).distribution)
    first = next((i for i, (_, n) in enumerate(classes) if public_share(n, total)), 0)
    return _shares(classes[min(first, len(classes) - FEWEST_SHOWN) :], total)


def _risk_meaning(assessment: Assessment) -> str:
    return first_result(assessment).assumption
