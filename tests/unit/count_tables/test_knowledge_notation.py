"""Knowledge as people write it, and whether it is true of a table."""

import pytest

from discreet.count_tables.knowledge import Knowledge, Shape
from discreet.count_tables.knowledge_notation import parse_knowledge
from discreet.count_tables.knowledge_truth import check_true
from discreet.errors import InputError

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", Knowledge()),
        ("max=4", Knowledge(largest=(4, 4))),
        ("max = 3..6 , nozeros", Knowledge(largest=(3, 6), no_zeros=True)),
        ("zero=0", Knowledge(no_zeros=True)),
        ("0=0", Knowledge(no_zeros=True)),
        ("zero=15", Knowledge(cells={0: (15, 15)})),
        ("2=5..9,3=4..,4=..2", Knowledge(cells={2: (5, 9), 3: (4, None), 4: (0, 2)})),
        ("Decreasing", Knowledge(shape=Shape.DECREASING)),
        ("peak=1", Knowledge(shape=Shape.UNIMODAL, peak=1)),
        ("n=40..60", Knowledge(n=(40, 60))),
    ],
)
def test_words(text, meant):
    assert parse_knowledge(text) == meant


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("foo", "knowledge must be max=J"),
        ("nozeros=3", "knowledge must be max=J"),
        ("max=", "a count such as 2=5"),
        ("2=-1", "a count such as 2=5"),
        ("n=40..", "a range with both ends"),
        ("2=5,2=6", "said once of each thing, got '2=6'"),
        ("nozeros,zero=0", "said once of each thing"),
        ("max=9..4", "a range from low to high"),
        ("nozeros,0=3", "0, since nobody is known to have value 0"),
    ],
)
def test_words_that_mean_nothing(text, part):
    with pytest.raises(InputError) as problem:
        parse_knowledge(text)
    assert part in str(problem.value)


@pytest.mark.parametrize(
    "text", ["", "max=4", "max=3..9", "zero=15", "2=5..9", "unimodal", "peak=1", "n=40..60", "7=0"]
)
def test_what_is_true(text):
    check_true(parse_knowledge(text), DISASTERS)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("max=3", "the largest value is 3"),
        ("nozeros", "got what is not: nobody has value 0"),
        ("2=10..12", "f2 is 10 to 12"),
        ("decreasing", "the counts are decreasing"),
        ("increasing", "the counts are increasing"),
        ("peak=0", "the counts are unimodal with its peak at 0"),
        ("n=60..70", "n is 60 to 70"),
        ("max=4,3=1,n=1..9", "got what is not: f3 is 1; n is 1 to 9"),
    ],
)
def test_what_is_not(text, named):
    with pytest.raises(InputError) as problem:
        check_true(parse_knowledge(text), DISASTERS)
    assert str(problem.value).endswith(named)


def test_shapes_begin_at_one_where_nobody_has_zero():
    check_true(parse_knowledge("nozeros,decreasing"), {1: 5, 2: 3, 3: 3})
    check_true(parse_knowledge("nozeros,increasing"), {1: 1, 2: 3, 3: 3})
    with pytest.raises(InputError, match="increasing"):
        check_true(parse_knowledge("increasing"), {1: 3, 2: 1})
