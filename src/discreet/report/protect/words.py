"""What a protection says of itself, in sentences."""

import re
from collections.abc import Iterator

from discreet.figures import Figure, Unavailable
from discreet.masks.records.pram import Pram
from discreet.masks.records.recoding import Drop
from discreet.masks.records.sampling import Subsample
from discreet.masks.records.suppress import Suppress
from discreet.masks.records.suppression import MEANING, Guarantee
from discreet.masks.records.swapping import Swap
from discreet.policy.verdict import Ruling
from discreet.protection.protected import Protected
from discreet.report import words

OPTION = re.compile(r"\((min_k|untouched|most_\w+|suppress|keep_keys|search)\)")
MOST_KEYS = 6  # that are named with what was taken out of them


def scope(found: Protected) -> str:
    """What was protected, and how strongly."""
    options = found.options
    n, keys = found.before.summary.sample_size, len(options.keys or ())
    told = [words.plural(n, "record"), words.plural(keys, "key")]
    if options.min_k is not None:
        means = MEANING[Guarantee(options.guarantee)].format(k=options.min_k)
        told.append(f"{options.guarantee}: {means.partition(';')[0]}")
    return ", ".join(told)


def changes(found: Protected) -> Iterator[str]:
    """What was done, a sentence each."""
    for step in found.recipe.steps:
        if isinstance(step, Suppress):
            yield _suppressed(found)
        else:
            yield step.in_words
    if not found.recipe.steps:
        yield "nothing had to be changed" if found.reached else "nothing that may be done helps"


def _suppressed(found: Protected) -> str:
    """How many values were taken out, of how many records, and of which keys."""
    cost = found.loss.suppressed_values
    n = number(cost.overall)
    if not n:
        return "no single value had to be suppressed"
    by_key = sorted(
        ((int(number(one) or 0), name) for name, one in cost.by_key.items()), reverse=True
    )
    shown = [f"{name} {words.count(many)}" for many, name in by_key if many][:MOST_KEYS]
    records = 0 if _has_chance(found) else number(found.loss.records_touched) or 0
    of = f"of {words.plural(records, 'record')}" if records else ""
    return " ".join(
        filter(None, (f"suppress {words.plural(n, 'value')}", of, f"({', '.join(shown)})"))
    )


def _has_chance(found: Protected) -> bool:
    """Whether other steps changed values, or took records out, so that not all that moved was
    suppressed and not all that was suppressed is there."""
    return any(isinstance(step, Pram | Swap | Subsample) for step in found.steps)


def number(outcome: Figure | Unavailable) -> float | None:
    """The number of a figure; None where there is none."""
    return None if isinstance(outcome, Unavailable) else outcome.value


def search_told(found: Protected) -> str:
    """How well the recipe is known to be the best among recodings; '' where none were sought."""
    one = found.searched
    if one is None:
        return ""
    whole = number(found.loss.search[found.options.loss].overall)  # recodings asked for included
    loss = f"loss {one.loss if whole is None else whole:.4f} ({found.options.loss})"
    only = [s for s in found.steps if isinstance(s, Suppress) and s.above is not None]
    if only:
        return f"{loss}; recoded as for k = {only[0].k}, values taken out of risky records alone"
    if one.n_nodes == 1:
        return f"{loss}; no recodings were looked for"
    many = words.plural(one.n_nodes, "recoding")
    if found.options.min_k is None:
        loss += "".join(f" at k = {point.k}" for point in found.frontier if point.chosen)
    if one.proved:
        how = "" if found.options.guarantee == Guarantee.CANDIDATES else ", suppressed like this,"
        counted = words.count(one.n_looked_at)
        return f"{loss}; none of {many}{how} loses less (proved, {counted} counted)"
    return (
        f"{loss}; of {many} {words.count(one.n_looked_at)} were counted, and no other can lose "
        f"less by more than {one.gap:.4f}"
    )


def least_told(found: Protected) -> str:
    """A number of values that no suppression can do without; '' where that is not known."""
    taken = number(found.loss.suppressed_values.overall)
    uniform = not found.options.importance
    if found.least_values is None or not taken or not uniform or _has_chance(found):
        return ""
    least = words.plural(found.least_values, "value")
    return f"with these recodings no suppression can do with fewer than {least}"


def information_told(found: Protected) -> str:
    """The share of the information of tables of two keys that is left."""
    kept = found.loss.two_way_information_kept.mean
    value = number(kept)
    return "–" if value is None else words.share(value, 1.0)


def warnings(found: Protected) -> Iterator[str]:
    """What must not be overlooked: that a guarantee is weak, that other columns tell keys."""
    yield from found.notes
    if found.options.guarantee == Guarantee.WILDCARD and found.options.min_k is not None:
        yield (
            "do not rest on this alone: a few records without any value are enough for it; "
            "candidates and strict prove more (--guarantee)"
        )


def title_of(found: Protected) -> str:
    """What came of it, for the verdict's title."""
    if found.verdict is None:
        return ""
    if found.verdict.ruling is Ruling.BROKEN:
        return "the goal was not reached"
    return ""


def _typed(name: re.Match[str]) -> str:
    """An option as it is typed."""
    return f"(--{name[1].replace('_', '-')})"


def next_steps(found: Protected) -> Iterator[str]:
    """What to do now."""
    yield from (OPTION.sub(_typed, line) for line in found.closest)
    if not found.reached and found.output is None and not found.options.closest:
        yield "Nothing was written; --closest writes the closest file all the same."
    elif found.reached and found.output is None:
        yield "Nothing was written yet: --write FILE writes the protected records."
    if any(isinstance(step, Drop) for step in found.recipe.steps):
        gone = [step.key for step in found.recipe.steps if isinstance(step, Drop)]
        yield (
            f"Keys that were left out: {', '.join(gone)}. If one must stay, name it (--untouched, "
            "or --keep-keys for all)."
        )
