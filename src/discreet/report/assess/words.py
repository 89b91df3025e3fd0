"""An assessment in words: what was assessed, who stands out, what leads.

Two notions that fall together where counts are whole: a record is *alone* when no other record
counts as a match of it (sample count at most 1), and it *breaks 2-anonymity* when its sample count
is below 2. Where missing values match other values a count may be 1.5: below 2, yet not alone.
"""

from collections.abc import Iterator, Sequence

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import alike
from discreet.policy.population_rules import RARE
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.assess.meaning import MEANING
from discreet.report.verdict import remedies
from discreet.survey.assessment import Assessment
from discreet.survey.headline.recommendation import COUNTED, Recommended
from discreet.survey.headline.record_risk import RISK
from discreet.survey.leading import RiskOverview
from discreet.survey.models.contract import MATCH
from discreet.survey.riskiest import RiskyCell
from discreet.survey.scoring import ModelResult
from discreet.survey.suggestions import Suggestion

FIGURES = {
    "expected_population_uniques": "population uniques",
    "expected_correct_matches": "correct matches",
}


QUESTION = (
    "Is this file everybody (all patients of a hospital, say), or a sample of them? That decides "
    "the risk, and only you can tell. Everybody: --whole-population. A sample: --population with "
    "the number of persons it was drawn from, or --weight with the column of survey weights."
)
ALL_ROWS = "--risks FILE.csv lists every row."
SHOWN_ROWS = 3  # of the riskiest records, in one line


def scope_line(assessment: Assessment) -> str:
    """What was assessed, in one line."""
    summary, settings = assessment.summary, assessment.settings
    lacking = assessment.n_incomplete
    parts = [
        words.plural(summary.sample_size, "record"),
        population_line(assessment),
        words.plural(len(settings.keys), "key"),
    ]
    if lacking:
        parts.append(f"{words.count(lacking)} with a missing key ({settings.missing.name})")
    return ", ".join(parts)


def scope(assessment: Assessment) -> Iterator[str]:
    """What is known of the cells and of missing values, in a few lines."""
    yield words.full(cells_line(assessment))
    nesting = nesting_line(assessment)
    if nesting:
        rest = "what that rules out is no possible cell (--no-nesting counts it)"
        yield f"Nested keys: {nesting}; {rest}."
    yield words.full(missing_line(assessment))


def nesting_line(assessment: Assessment) -> str:
    """Which keys determine others; empty where none do."""
    told: dict[str, list[str]] = {}
    for determining, determined in assessment.nested:
        told.setdefault(determining, []).append(determined)
    return "; ".join(f"{one} determines {words.listed(others)}" for one, others in told.items())


def population_line(assessment: Assessment) -> str:
    """The size of the population and where it comes from."""
    summary, options = assessment.summary, assessment.settings.options
    if summary.population_size is None:
        return "population not known"
    if options.whole_population:
        return "the whole population"
    source = "given" if summary.population_size_known else "the sum of the weights"
    source = "counted in its file" if assessment.population is not None else source
    return f"population of {words.expected(summary.population_size)} ({source})"


def is_everybody(assessment: Assessment) -> bool:
    """Whether the file is the population, so that its figures are counted in it."""
    return _is_counted(assessment) and assessment.population is None


def has_register(assessment: Assessment) -> bool:
    """Whether the figures were counted in a file of the population."""
    return _is_counted(assessment) and assessment.population is not None


def _is_counted(assessment: Assessment) -> bool:
    matches = assessment.recommended.expected_correct_matches
    counted = assessment.recommended.model == COUNTED
    return counted and isinstance(matches, Figure) and matches.how is How.EXACT


def population_question(assessment: Assessment) -> Iterator[str]:
    """What has to be answered where the size of the population is not known."""
    if assessment.summary.population_size is None:
        yield QUESTION


def rows_of(cell: RiskyCell) -> str:
    """The first rows of a combination; more are only hinted at."""
    shown = ", ".join(str(row) for row in cell.rows)
    return f"{shown}, …" if len(cell.rows) < cell.records else shown


def riskiest_rows(assessment: Assessment) -> Iterator[str]:
    """The rows at the highest risk, each with its own, and whether there are more like them."""
    told = [
        (row, c.risk, carried)
        for c in assessment.riskiest
        if c.risk is not None
        for row, carried in zip(c.rows, c.carried, strict=True)
    ]
    if not told:
        return
    first = told[:SHOWN_ROWS]
    rows = words.by_number(len(first), "record", "records")
    if alike(first[0][1], first[-1][1]):
        shown = words.listed([named_row(assessment, row, held) for row, _, held in first])
        risk = f" (risk {words.probability(first[0][1])})"
        more = sum(alike(one, first[0][1]) for _, one, _ in told) - len(first)
        others = f" and at least {more} more with the same risk" if more else ""
        yield f"Riskiest: {rows} {shown}{risk}{others}{_all_rows(assessment)}"
    else:
        shown = words.listed(
            [
                f"{named_row(assessment, row, held)} ({words.probability(risk)})"
                for row, risk, held in first
            ]
        )
        yield f"Riskiest: {rows} {shown}, with their risk{_all_rows(assessment)}"


def _all_rows(assessment: Assessment) -> str:
    """How to have every row, where that was not asked for."""
    return "." if assessment.settings.options.risks is not None else f"; {ALL_ROWS}"


def named_row(assessment: Assessment, row: int, carried: Sequence[str]) -> str:
    """A row with what it holds in the columns to carry."""
    names = assessment.settings.options.carry
    held = ", ".join(f"{name} {value}" for name, value in zip(names, carried, strict=True) if value)
    return f"{row} [{held}]" if held else str(row)


def carried_by(cell: RiskyCell, n_columns: int) -> tuple[str, ...]:
    """What the first rows of a combination hold in each column to carry; more are hinted at."""
    more = ", …" if len(cell.rows) < cell.records else ""
    return tuple(", ".join(held[j] for held in cell.carried) + more for j in range(n_columns))


def next_steps(assessment: Assessment) -> Iterator[str]:
    """What helps most, computed: a sentence for each change of a key."""
    if assessment.verdict is not None and assessment.verdict.allows:
        yield "Nothing has to change to keep the limits"
    for one in assessment.suggestions:
        told = (*_counted_effects(assessment, one), *_effects(assessment, one), *_kept(one))
        yield f"{one.change}: {', '.join(told)}{_ruled(assessment, one)}"


def carrying_out(assessment: Assessment) -> Iterator[str]:
    """That there is a command which changes the file, where a change helps."""
    verdict = assessment.verdict
    if verdict is not None and verdict.ruling is Ruling.BROKEN and assessment.suggestions:
        yield "`discreet protect` with these keys and limits finds what loses least"


def open_steps(assessment: Assessment) -> Iterator[str]:
    """What would settle what is open: a limit where none was given, what a rule still needs."""
    if assessment.verdict is not None:
        yield from remedies(assessment.verdict)
        return
    yield (
        "To have it judged: --max-risk with the highest risk of a record, --min-k, or --policy "
        "with the name of one (`discreet policies` lists them)"
    )


def mending_steps(assessment: Assessment) -> Iterator[str]:
    """What mends broken rules that no change of the keys does."""
    verdict = assessment.verdict
    changes = {one.change for one in assessment.suggestions}
    if verdict is not None:
        told = (judged.remedy for judged in verdict.those(Ruling.BROKEN))
        known = {*changes, *([RARE] if changes else [])}
        yield from (one for one in dict.fromkeys(told) if one and one not in known)


def reported_steps(assessment: Assessment) -> Iterator[str]:
    """What policies ask to report without a limit."""
    total = assessment.summary.sample_size
    by_k = {row.k: row.records for row in assessment.anonymity}
    for policy in assessment.settings.options.policy:
        if policy.reports_k:
            told = [
                f"{words.count(by_k[k])} ({words.share(by_k[k], total)}) below k = {k}"
                for k in policy.reports_k
            ]
            yield f"the policy {policy.name} sets no limit: of the records {', '.join(told)}"


def _kept(one: Suggestion) -> Iterator[str]:
    """How much of the tables of two keys is left."""
    if one.information_kept is not None:
        share = words.share(one.information_kept, 1.0)
        yield f"{share} of the information of its tables of two keys kept"


def _counted_effects(assessment: Assessment, one: Suggestion) -> Iterator[str]:
    """What is counted before and after: those who are alone, and those who break k-anonymity."""
    if one.k != 2:
        before, after = one.breaking_before, one.breaking_after
        what = f"records that break {one.k}-anonymity"
        yield f"{what} from {words.count(before)} to {words.count(after)}"
    if one.k == 2 or is_everybody(assessment):
        what = "records alone" if is_everybody(assessment) else "sample uniques"
        before, after = one.sample_uniques_before, one.sample_uniques_after
        yield f"{what} from {words.count(before)} to {words.count(after)}"


def _effects(assessment: Assessment, one: Suggestion) -> Iterator[str]:
    """Population uniques before and after, and the highest risk where its limit is not kept."""
    before = _value(one.expected_population_uniques_before)
    after = _value(one.expected_population_uniques_after)
    if before is not None and after is not None and not is_everybody(assessment):
        yield f"population uniques from {words.expected(before)} to {words.expected(after)}"
    limited, risk = assessment.settings.options.risk_limits, assessment.risk
    if not limited or one.keeps_limits:
        return
    if isinstance(risk, RiskOverview) and one.largest_risk_after is not None:
        first, then = map(words.probability, (risk.largest, one.largest_risk_after))
        yield "highest risk " + (f"still {then}" if first == then else f"from {first} to {then}")


def _ruled(assessment: Assessment, one: Suggestion) -> str:
    """Whether the limits would be kept."""
    if one.keeps_limits is None:
        return "" if assessment.verdict is None else "; whether the limits are then kept is open"
    if one.keeps_limits and assessment.n_dropped:
        return "; the limits are then kept by the records that were judged"
    return "; the limits are then kept" if one.keeps_limits else "; that is not enough"


def _value(outcome: Outcome) -> float | None:
    return outcome.value if isinstance(outcome, Figure) else None


def missing_line(assessment: Assessment) -> str:
    """How missing key values were treated and how many records that touched."""
    policy = assessment.settings.missing
    n = assessment.n_incomplete
    if n == 0:
        return f"no key value is missing (policy: {policy.name})"
    lack = f"{words.plural(n, 'record')} {words.by_number(n, 'lacks', 'lack')} a key value"
    return f"{lack} (policy {policy.name}: {policy.meaning})"


def overlaps(assessment: Assessment) -> bool:
    """Whether some records match records of other cells."""
    return assessment.settings.missing.matching is not None and assessment.n_incomplete > 0


def alone(assessment: Assessment) -> str:
    """What a sample unique is, said of several records."""
    if not overlaps(assessment):
        return "alone in their cell"
    if assessment.settings.missing.matching == "conservative":
        return "matched by no other complete record"
    if assessment.settings.missing_weight == 0:
        return "matched by no other record in full"
    return "matched by no other record"


def anonymity_rows(assessment: Assessment) -> list[tuple[str, int, int]]:
    """What is counted, records and cells: who is alone, and who breaks k-anonymity for each k."""
    indices, rows = assessment.size_indices, []
    told_apart = overlaps(assessment)
    if told_apart:
        rows.append((alone(assessment), assessment.sample_uniques, indices.unique_cells))
    for row in assessment.anonymity:
        same = row.k == 2 and not told_apart
        whole = f" ({alone(assessment)})" if same else ""
        rows.append((f"break {row.k}-anonymity{whole}", row.records, row.cells))
    return rows


def anonymity_meaning(assessment: Assessment) -> str:
    """What it is to break k-anonymity, under the policy."""
    if not overlaps(assessment):
        return MEANING["anonymity"]
    in_part = 0 < assessment.settings.missing_weight < 1
    more = f" {MEANING['overlap_in_part']}" if in_part else ""
    return f"{MEANING['anonymity']} {MEANING['overlap']}{more}"


def unavailable_models(assessment: Assessment) -> dict[str, list[str]]:
    """The models that gave nothing, by the reason."""
    models = assessment.models.items()
    return words.by_reason((name, r.reason) for name, r in models if isinstance(r, Unavailable))


def cells_line(assessment: Assessment) -> str:
    """Cells that hold records, of those that could; what of them lacks a value."""
    summary, lacking = assessment.summary, assessment.n_incomplete_cells
    occupied = summary.size_indices.n_cells
    possible = words.count(summary.n_table_cells)
    if overlaps(assessment):
        return (
            f"{words.plural(occupied - lacking, 'complete cell')} occupied of {possible} possible, "
            f"and {words.plural(lacking, 'combination')} that "
            f"{words.by_number(lacking, 'lacks', 'lack')} a value"
        )
    as_level = " (missing counts as a level)" if lacking else ""
    return f"{words.plural(occupied, 'cell')} occupied of {possible} possible{as_level}"


def combination(count: float, records: int) -> str:
    """How many records a combination has: in it, and in all that match it where that differs."""
    if count == records:
        return words.plural(records, "record")
    return f"{words.plural(records, 'record')} with a count of {words.count(count)}"


def headline_title(recommended: Recommended) -> str:
    """What the figures that lead are: an estimate, proven bounds, or a count."""
    uniques, matches = recommended.expected_population_uniques, recommended.expected_correct_matches
    estimated = isinstance(matches, Figure) and matches.how is How.ESTIMATE
    if not estimated and isinstance(uniques, Figure) and uniques.how is not How.ESTIMATE:
        if uniques.how is How.BOUND:
            return "proven bounds"
        counted = recommended.model == COUNTED
        return "counted" if counted else "exact, if what was said is so"
    return f"by {recommended.model}" if recommended.is_chosen else "recommended estimate"


def headline_note(recommended: Recommended) -> str:
    """What speaks against the estimate, where something does."""
    uniques = recommended.expected_population_uniques
    note = uniques.note if isinstance(uniques, Figure) else ""
    return words.sentence(note) if note != recommended.why else ""


def headline_words(assessment: Assessment) -> Iterator[str]:
    """What the estimate is, in sentences."""
    recommended = assessment.recommended
    uniques = recommended.expected_population_uniques
    confidence = uniques.confidence if isinstance(uniques, Figure) else None
    if is_everybody(assessment):
        yield "The file is everybody, so all of this was counted and nothing is estimated."
        return
    if has_register(assessment):
        yield "Counted in the file of the population, so nothing is estimated."
        return
    if recommended.model == COUNTED:
        if assessment.summary.population_size is not None:
            yield f"There is no estimate: {recommended.why}."
        return
    limits = "" if confidence is None else f"With {100 * confidence:.0f} % limits. "
    yield f"{limits}The estimate {recommended.why}."
    if not assessment.models:
        yield "--all-models shows what other models say."


def two_figures(result: ModelResult) -> tuple[str, str]:
    """Population uniques and correct matches of a model, as a table shows them."""
    uniques, matches = (short_outcome(getattr(result, name)) for name in FIGURES)
    return uniques, matches


def short_outcome(outcome: Outcome) -> str:
    """A figure for a table; the reason why there is none has its place below."""
    return "–" if isinstance(outcome, Unavailable) else words.outcome(outcome)


def model_gaps(assessment: Assessment) -> Iterator[str]:
    """Why models, or some of their figures, are not there; models of one reason together."""
    for reason, names in unavailable_models(assessment).items():
        are = words.by_number(len(names), "is", "are")
        yield f"{words.listed(names)} {are} not available: {words.sentence(reason)}."
    results = [r for r in assessment.models.values() if isinstance(r, ModelResult)]
    for field, figure in FIGURES.items():
        pairs = ((r.name, getattr(r, field)) for r in results)
        lost = ((name, o.reason) for name, o in pairs if isinstance(o, Unavailable))
        for reason, names in words.by_reason(lost).items():
            give = words.by_number(len(names), "gives", "give")
            yield f"{words.listed(names)} {give} no {figure}: {words.sentence(reason)}."


def expected_persons(assessment: Assessment) -> dict[str, float]:
    """Persons that would be found, by the name of the risk: a model, `scenario_…`,
    `worst_scenario`, or `true` for the file of the population."""
    found: dict[str, float] = {}
    led = _value(assessment.recommended.expected_correct_matches)
    if led is not None:
        found["recommended"] = led
    for name, result in assessment.models.items():
        if isinstance(result, ModelResult):
            matches = result.expected_correct_matches
            if isinstance(matches, Figure) and matches.value is not None:
                found[name] = matches.value
    if assessment.scenarios is not None:
        found |= {f"scenario_{s.name}": s.correct_matches for s in assessment.scenarios.each}
        for view in assessment.scenarios.each:
            value = _value(view.recommended.expected_correct_matches)
            if value is not None:
                found[f"scenario_{view.name}_risk"] = value
        found["worst_scenario"] = assessment.scenarios.worst_correct_matches
    if assessment.population is not None:
        found["true"] = assessment.population.correct_matches
    return found


def risk_name(column: str) -> str:
    """Whose risk a column of the file of records holds: `recommended`, a model, `scenario_…`,
    `worst_scenario` or `true`."""
    return "recommended" if column == RISK else column.removesuffix(f"_{MATCH}")
