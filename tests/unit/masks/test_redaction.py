"""Redaction: small figures removed or shown as one, others rounded, and what that tells."""

import numpy as np
import pytest

from discreet.choice.mask_names import make_again, mask_table
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.redaction import REMOVED, Rule, redact, rule_of

TABLE = Table.of_dense(np.array([[1, 4, 0], [7, 12, 33]]), names=["a", "b"])


def published_as(count, most, base=None, shown=None, zeros="kept"):
    """The rule in plain words, one count at a time."""
    if count == 0 and zeros == "kept":
        return 0
    if count <= most:
        return REMOVED if shown is None else shown
    if base is None:
        return count
    below = count // base * base
    return below if count - below < below + base - count else below + base


RULES = [
    {"most": 7, "base": 5, "zeros": "redacted"},
    {"most": 7, "base": 5, "shown": 5},
    {"most": 9, "base": 5, "zeros": "redacted"},
    {"most": 4},
    {"most": 4, "base": 5, "shown": 5},
    {"most": 3, "shown": 2},
    {"most": 2, "base": 4, "zeros": "redacted", "shown": 0},
]


@pytest.mark.parametrize("given", RULES, ids=str)
def test_each_figure_follows_the_rule_and_its_range_is_what_leads_to_it(given):
    rule = Rule(**given)
    expected = [published_as(count, **given) for count in range(300)]
    assert rule.figures(np.arange(300)).tolist() == expected
    for figure in {one for one in expected if one < 250}:
        same = [count for count, one in enumerate(expected) if one == figure]
        assert rule.range_of(figure) == (same[0], same[-1])
        assert same == list(range(same[0], same[-1] + 1))
        assert rule.is_exact(np.array([figure])).tolist() == [len(same) == 1 and figure != REMOVED]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"most": 0}, "most must be a whole number from 1"),
        ({"most": 3, "base": 1}, "base must be"),
        ({"most": 3, "shown": -1}, "shown must be"),
        ({"most": 3, "zeros": "hidden"}, "zeros must be one of kept, redacted"),
        ({"most": 1, "base": 5}, "the figure 0 for counts apart"),  # 0 and 2, not 1
        ({"most": 4, "base": 5, "shown": 20}, "the figure 20 for counts apart"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        Rule(**given)


def test_removed_figures_are_not_shown_and_the_estimate_puts_their_middle():
    masked = redact(TABLE, rule=Rule(most=7, base=5, zeros="redacted"))
    [out] = masked.published
    assert out.shown.tolist() == [[False, False, False], [False, True, True]]
    assert out.counts.tolist() == [[0, 0, 0], [0, 10, 35]]
    assert masked.estimate.tolist() == [[4, 4, 4], [4, 10, 35]]
    found = intruders_bounds(masked)
    assert found.complete
    assert (found.lower <= TABLE.dense().ravel()).all()
    assert (found.upper >= TABLE.dense().ravel()).all()
    assert masked.beyond == ""


def test_it_is_made_by_name_and_again_from_its_record():
    masked = mask_table("redaction[a b][a]:most=7,base=5,shown=5", TABLE)
    assert [one.axes for one in masked.published] == [(0, 1), (0,)]
    again = make_again(masked.record(), TABLE)
    for one, other in zip(masked.published, again.published, strict=True):
        assert one.counts.tolist() == other.counts.tolist()
    assert rule_of(masked) == Rule(most=7, base=5, shown=5)
    assert masked.title == "counts 1 to 7 shown as 5, others rounded to 5 [a b][a]"


def test_a_redaction_needs_the_greatest_count_that_is_small():
    with pytest.raises(InputError, match="mask redaction must be given most="):
        mask_table("redaction:base=5", TABLE)
