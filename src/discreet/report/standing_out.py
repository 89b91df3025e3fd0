"""Who stands out, in words that fit the policy for missing values.

Two notions that fall together where counts are whole: a record is *alone* when no other record
counts as a match of it (sample count at most 1), and it *breaks 2-anonymity* when its sample count
is below 2. Where missing values match other values a count may be 1.5: below 2, yet not alone.
"""

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.meaning import MEANING
from discreet.survey.assessment import Assessment


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
    found: dict[str, list[str]] = {}
    for name, result in assessment.models.items():
        if isinstance(result, Unavailable):
            found.setdefault(result.reason, []).append(name)
    return found


def cells_line(assessment: Assessment) -> str:
    """Cells that hold records, of those that could; what of them lacks a value."""
    summary, lacking = assessment.summary, assessment.n_incomplete_cells
    occupied = summary.size_indices.n_cells
    possible = words.count(summary.n_table_cells)
    if overlaps(assessment):
        return (
            f"{words.plural(occupied - lacking, 'complete cell')} occupied of {possible} possible, "
            f"and {words.plural(lacking, 'combination')} that "
            f"{'lacks' if lacking == 1 else 'lack'} a value"
        )
    as_level = " (missing counts as a level)" if lacking else ""
    return f"{words.plural(occupied, 'cell')} occupied of {possible} possible{as_level}"


def combination(count: float, records: int) -> str:
    """How many records a combination has: in it, and in all that match it where that differs."""
    if count == records:
        return words.plural(records, "record")
    return f"{words.plural(records, 'record')} with a count of {words.count(count)}"
