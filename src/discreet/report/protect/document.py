"""A protection as a document for readers inside the agency: the answer, what was done, what it
cost, what else could have been done."""

from collections.abc import Iterator
from dataclasses import replace

from discreet.figures import Figure, Outcome, Unavailable
from discreet.masks.records.suppression import Guarantee
from discreet.protection.estimates_kept import AnalysisKept
from discreet.protection.protected import FrontierPoint, Protected
from discreet.report import words
from discreet.report.document import (
    Block,
    Document,
    Facts,
    Place,
    Plot,
    Row,
    Section,
    Table,
    Text,
    Tiles,
)
from discreet.report.protect import words as texts
from discreet.report.verdict import next_section, verdict_section
from discreet.survey.assessment import Assessment

MOST_PAIRS = 12  # tables of two keys that are listed
PLACES: dict[Place, int] = {"terminal": 36, "page": 400}  # characters of what is changed


def protect_document(found: Protected) -> Document:
    """Everything; as confidential as the data."""
    return Document(
        title=f"Protection of {found.source}",
        scope=(words.full(texts.scope(found)),),
        mark="confidential",
        blocks=(
            *_verdict(found),
            Section("What was changed", tuple(_changed(found))),
            Section("Before and after", tuple(_before_and_after(found))),
            _next(found),
            Tiles(tuple(_tiles(found)), bad=not found.reached),
            Section("What an intruder can still do", tuple(_possible(found)), only="detail"),
            _frontier(found),
            Section("What it cost, key by key", tuple(_by_key(found)), only="detail"),
            Section("Tables of two keys", tuple(_pairs(found)), only="detail"),
            *_analyses(found),
            Section("How this was made", (Facts(tuple(_made(found))),)),
            Section(
                "The recipe",
                tuple(Text(line) for line in found.recipe.to_toml().splitlines() if line),
                collapsed=True,
                only="detail",
            ),
        ),
    )


def _verdict(found: Protected) -> Iterator[Section]:
    if found.verdict is not None:
        section = verdict_section(found.verdict, title=texts.title_of(found))
        told = tuple(Text(words.full(line), "warning") for line in texts.warnings(found))
        yield replace(section, blocks=(*section.blocks[:1], *told, *section.blocks[1:]))


def _changed(found: Protected) -> Iterator[Text]:
    for line in texts.changes(found):
        yield Text(words.full(line))
    least = texts.least_told(found)
    if least:
        yield Text(words.full(least), "soft")
    searched = texts.search_told(found)
    if searched:
        yield Text(words.full(searched), "soft")


def _before_and_after(found: Protected) -> Iterator[Block]:
    before, after = found.before, found.assessment
    uniques, matches = "expected_population_uniques", "expected_correct_matches"
    matched = found.options.guarantee == Guarantee.WILDCARD
    counted = ", a suppressed value matching any" if matched else ""
    rows: list[Row] = [
        ("records", words.count(before.summary.sample_size), words.count(found.n_records)),
        (f"records alone in their cell{counted}", words.count(before.sample_uniques),
         words.count(after.sample_uniques)),
        (f"fewest records in a cell{counted}", _fewest(before), _fewest(after)),
    ]  # fmt: skip
    for name, told in ((uniques, "population uniques"), (matches, "correct matches")):
        pair = [getattr(one.recommended, name) for one in (before, after)]
        if all(isinstance(one, Figure) and one.value is not None for one in pair):
            rows.append((told, *map(words.outcome, pair)))
    risks = [_largest(before), _largest(after)]
    if all(risks):
        rows.append(("largest risk of a record", *risks))
    rows.append(("information of tables of two keys", "100 %", texts.information_told(found)))
    yield Table(header=("", "before", "after"), rows=tuple(rows), sides="lrr")


def _fewest(one: Assessment) -> str:
    return words.count(float(one.size_indices.sizes.min()))


def _largest(one: Assessment) -> str:
    return "" if isinstance(one.risk, Unavailable) else words.probability(one.risk.largest)


def _next(found: Protected) -> Section:
    return next_section(list(texts.next_steps(found)))


def _tiles(found: Protected) -> Iterator[tuple[str, str]]:
    suppressed = texts.number(found.loss.suppressed_values.overall) or 0
    yield words.count(suppressed), "values suppressed"
    yield texts.information_told(found), "of the information of tables of two keys kept"
    arx = texts.number(found.loss.arx.overall)
    yield "–" if arx is None else f"{arx:.3f}", "loss (the metric of ARX)"
    after = found.assessment
    yield words.count(after.sample_uniques), "records alone in their cell afterwards"


def _possible(found: Protected) -> Iterator[Text]:
    yield from (Text(words.full(line)) for line in found.still_possible)
    for one in found.by_chance:
        if isinstance(one.right, Unavailable):
            yield Text(words.full(f"after {one.method}: {one.right.reason}"))
        else:
            looks = words.plural(one.looks_alone, "record looks", "records look")
            yield Text(
                f"After {one.method} {looks} unique; a link to one of them is right with "
                f"probability {words.probability(one.right.value or 0.0)}, worked out from the "
                "chances."
            )


def _frontier(found: Protected) -> Section:
    points = found.frontier
    if len(points) < 2 or not found.options.frontier:
        return Section("Other strengths", ())
    told = any(isinstance(one.largest_risk, Figure) for one in points)
    header = (
        "",
        "k",
        "what is changed",
        "suppressed",
        "loss",
        *(("largest risk",) if told else ()),
    )
    tables = tuple(
        Table(
            header=header,
            rows=tuple(_point(one, told=told, most=most) for one in points),
            sides="lrlrr" + ("r" if told else ""),
            only=place,
        )
        for place, most in PLACES.items()
    )
    meaning = (
        "k: how many records belong together at least. Each row is the recipe with the least loss "
        "that was found at that strength; the marked one was taken. In the picture the number "
        "beside a point is that of the values suppressed."
    )

    def draw() -> str:
        from discreet.report.protect.plots import frontier_plot

        return frontier_plot(points)

    plot = Plot("frontier", "Loss against strength, with the values suppressed", draw)
    return Section("Other strengths", (*tables, Text(meaning, "soft"), plot), only="detail")


def _point(one: FrontierPoint, *, told: bool, most: int) -> Row:
    changes = "; ".join(one.changes) or "keys as they are"
    shown = changes if len(changes) <= most else f"{changes[: most - 1]}…"
    risk = (_risk(one.largest_risk),) if told else ()
    k = "–" if one.k == 1 else words.count(one.k)
    mark = "▶" if one.chosen else ""
    return (mark, k, shown, words.count(one.suppressed), f"{one.loss:.4f}", *risk)


def _risk(risk: Outcome) -> str:
    value = texts.number(risk)
    return "–" if value is None else words.probability(value)


def _by_key(found: Protected) -> Iterator[Block]:
    loss = found.loss
    names = list(loss.suppressed_values.by_key)
    rows = tuple(
        (
            name,
            _whole(loss.suppressed_values.by_key[name]),
            _whole(loss.changed_values.by_key.get(name)),
            _whole(loss.coarsened_values.by_key.get(name)),
            _share(loss.entropy_kept.by_key.get(name)),
        )
        for name in names
    )
    header = ("key", "suppressed", "changed", "coarsened", "information kept")
    yield Table(header=header, rows=rows, sides="lrrrr")
    yield Text(
        "Suppressed: known before, taken out. Changed: other than the recoding of what it was. "
        "Coarsened: in a level that holds several old ones. Information: the entropy of the key "
        "that is left.",
        "soft",
    )


def _whole(outcome: Outcome | None) -> str:
    value = None if outcome is None else texts.number(outcome)
    return "–" if value is None else words.count(value)


def _share(outcome: Outcome | None) -> str:
    value = None if outcome is None else texts.number(outcome)
    return "–" if value is None else words.share(value, 1.0)


def _pairs(found: Protected) -> Iterator[Block]:
    kept, moved = found.loss.two_way_information_kept, found.loss.two_way_distance
    order = sorted(kept.by_table, key=lambda pair: texts.number(kept.by_table[pair]) or 0.0)
    rows = tuple(
        (" × ".join(pair), _share(kept.by_table[pair]), _share(moved.by_table.get(pair)))
        for pair in order[:MOST_PAIRS]
    )
    if rows:
        header = ("tables", "information kept", "persons in another cell, or in none")
        yield Table(header=header, rows=rows, sides="lrr")
    pmse = found.loss.pmse
    if isinstance(pmse.pmse, Figure):
        yield Text(
            f"Propensity: pMSE {words.expected(pmse.pmse.value or 0.0)}, where identical files "
            "have 0 and files that can be told apart record by record 0.25.",
            "soft",
        )


def _analyses(found: Protected) -> Iterator[Section]:
    for name, one in found.analyses.items():
        if isinstance(one, AnalysisKept):
            yield Section(f"The analysis {name}", tuple(_analysis(one)))
        else:
            yield Section(f"The analysis {name}", (Text(words.full(one.reason)),))


def _analysis(one: AnalysisKept) -> Iterator[Block]:
    rows = tuple(
        (kept.name, words.outcome(kept.before), words.outcome(kept.after), _share(kept.overlap))
        for kept in one.estimates
    )
    header = ("estimate", "before", "after", "intervals in common")
    yield Table(header=header, rows=rows, sides="lrrr", most=20, only="detail")
    overlap = texts.number(one.overlap)
    if overlap is not None:
        yield Text(f"On average {words.share(overlap, 1.0)} of the intervals lie in both.", "soft")
    yield from (Text(words.full(note), "soft") for note in one.notes)


def _made(found: Protected) -> Iterator[tuple[str, str]]:
    yield "guarantee", found.options.guarantee
    yield "loss", found.options.loss
    searched = texts.search_told(found)
    yield "search", searched or "none: the recipe was given, or nothing had to be done"
    yield "seed", "none" if found.recipe.seed is None else f"{found.recipe.seed} (secret)"
    yield from found.assessment.settings.versions.items()
