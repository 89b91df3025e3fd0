"""Knowledge in words or made, of one table or of each category."""

import pytest

from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.options import CategoryOptions, CountOptions
from discreet.count_tables.verdict import CountMeasure
from discreet.errors import InputError
from discreet.flows.counts import assess_statistics


def test_knowledge_in_words_or_made():
    known = Knowledge(largest=(4, 4))
    assert CountOptions(knows="max=4").knowledge == CountOptions(knows=known).knowledge == known
    assert CountOptions().knowledge is None
    assert CountOptions(measure="truth").measure is CountMeasure.TRUTH


def test_knowledge_of_every_category_or_of_each():
    known = Knowledge(largest=(4, 4))
    assert CategoryOptions(knows="max=4").knowledge(["a", "b"]) == {"a": known, "b": known}
    assert CategoryOptions(knows={"b": known}).knowledge(["a", "b"]) == {"b": known}
    assert CategoryOptions(knows="max=4").described() == known.described()
    assert CategoryOptions().knowledge(["a"]) == {}


def test_s2_as_it_is_written():
    written, given = (assess_statistics(51, 61, s2) for s2 in ("2^20*3^7", {2: 20, 3: 7}))
    assert written.release == given.release
    assert written.found.count == given.found.count


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        (CountOptions, {"measure": "guess"}, "measure must be one of best_guess, truth"),
        (CountOptions, {"knows": "maximum=4"}, "knowledge must be max=J"),
        (CountOptions, {"seconds": 0}, "seconds must be a finite number above zero"),
        (CategoryOptions, {"max_risk": 2}, "max_risk must be between 0 and 1"),
    ],
)
def test_what_cannot_be_meant(kind, given, says):
    with pytest.raises(InputError, match=says):
        kind(**given)
