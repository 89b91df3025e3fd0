"""What changes of the keys do: those that were found, and those that were asked for."""

from collections.abc import Iterator, Sequence

from discreet.figures import Figure, Outcome
from discreet.report import words
from discreet.report.document import Plot, Row, Section, Table, Text
from discreet.survey.assessment import Assessment
from discreet.survey.suggestions import Suggestion

LONGEST = 60  # characters of a change in a plot


def changes_section(assessment: Assessment) -> Section:
    """What was found to help, in a table; sentences on the same stand further up."""
    if not assessment.suggestions:
        return Section("What would change", ())
    blocks = (*_table(assessment, assessment.suggestions), _plot("changes", assessment.suggestions))
    return Section("What would change", blocks, only="detail")


def tried_section(assessment: Assessment) -> Section:
    """What the changes do that were asked for; each alone, and last all together."""
    if not assessment.tried:
        return Section("Tried", ())
    blocks = (*_table(assessment, assessment.tried), _plot("tried", assessment.tried))
    return Section("Tried, without writing anything", blocks)


def _table(assessment: Assessment, changes: Sequence[Suggestion]) -> Iterator[Table | Text]:
    k = changes[0].k
    sampled = not assessment.settings.options.whole_population  # of everybody nobody is estimated
    told = sampled and any(
        isinstance(one.expected_population_uniques_after, Figure) for one in changes
    )
    alone = "records alone" if k == 2 else f"below k = {k}"
    header: tuple[str, ...] = ("change", alone)
    header += ("population uniques", "information kept") if told else ("information kept",)
    yield Table(
        header=header,
        rows=(_before(changes[0], told=told), *(_row(one, told=told) for one in changes)),
        sides="l" + "r" * (len(header) - 1),
    )
    yield Text(
        "Information: what tables of two keys tell of one key by the other, on average over the "
        "tables.",
        "soft",
        only="detail",
    )


def _before(one: Suggestion, *, told: bool) -> Row:
    uniques = (_outcome(one.expected_population_uniques_before),) if told else ()
    return ("the file as it is", words.count(one.breaking_before), *uniques, "100 %")


def _row(one: Suggestion, *, told: bool) -> Row:
    uniques = (_outcome(one.expected_population_uniques_after),) if told else ()
    kept = "–" if one.information_kept is None else words.share(one.information_kept, 1.0)
    return (one.change, words.count(one.breaking_after), *uniques, kept)


def _outcome(found: Outcome) -> str:
    return words.outcome(found) if isinstance(found, Figure) else "–"


def _plot(name: str, changes: Sequence[Suggestion]) -> Plot:
    def draw() -> str:
        from discreet.report.plots import before_and_after_plot

        labels = [one.change[:LONGEST] for one in changes]
        shares = [one.breaking_after / max(one.breaking_before, 1) for one in changes]
        kept = [one.information_kept for one in changes]
        return before_and_after_plot(labels, shares, kept)

    label = "Records that stand out after each change, and the information that is kept"
    return Plot(name, label, draw)
