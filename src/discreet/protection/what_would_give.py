"""Where the goal is out of reach: how close the file came, and what would have to give."""

from collections.abc import Iterator

from discreet.masks.records.sampling import Subsample
from discreet.masks.records.suppression import Guarantee
from discreet.policy.verdict import Ruling
from discreet.protection.applying import Changed
from discreet.protection.protected import Protected

OF_KEYS = {"min_k", "min_candidates", "max_risk", "population_uniques", "l"}


AFTER = (
    "A sample of the records comes last, so that records stand out again: leave it out, or put it "
    "before the suppression in a recipe."
)


def what_would_give(found: Protected, changed: Changed) -> tuple[str, ...]:
    """What would help, in sentences; none where no rule is broken."""
    if found.reached or found.verdict is None:
        return ()
    broken = found.verdict.those(Ruling.BROKEN)
    own = [one for one in broken if one.rule in OF_KEYS]
    sampled = any(isinstance(step, Subsample) for step in found.recipe.steps)
    if own and sampled and found.options.recipe is None:
        return (AFTER,)
    told = list(_by_options(found, changed)) if own else []
    told += [f"{one.remedy[:1].upper()}{one.remedy[1:]}." for one in broken if one.remedy]
    if not told:
        told = ["No change of the keys mends this; see the rule that is broken."]
    return tuple(dict.fromkeys(told))


def _by_options(found: Protected, changed: Changed) -> Iterator[str]:
    options = found.options
    if options.recipe is not None:
        yield "The recipe does not reach the goal: change a step, or have one found."
        return
    n = changed.source.n_records
    if options.min_k is not None and options.min_k > n:
        yield f"Ask for fewer records that belong together (min_k): the file has {n:,}."
    elif changed.left:
        records = "record" if changed.left == 1 else "records"
        limited = options.untouched or options.most_suppressed
        why = "under these limits" if limited else "however many values are suppressed"
        yield f"{changed.left:,} {records} cannot be helped {why}."
    if options.untouched:
        yield f"Let {' or '.join(options.untouched)} be changed (untouched)."
    if options.most_suppressed:
        yield "Let more values be suppressed (most_suppressed)."
    if options.suppress == "none":
        yield "Let single values be suppressed (suppress)."
    if options.suppress == "records" and options.most_records < 1:
        yield "Let more records be suppressed (most_records)."
    if options.keep_keys:
        yield "Let keys be left out (keep_keys)."
    if not options.search:
        yield "Let keys be recoded (search)."
    if options.guarantee != Guarantee.STRICT:
        yield "Ask for the strict guarantee: rules count the records that show the same values."
