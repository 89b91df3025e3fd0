"""How recodings are written: every form is read, everything else is refused in one line."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError
from discreet.masks.records.notation import recoding_of
from discreet.masks.records.recoding import (
    Bands,
    Bottom,
    Breaks,
    Dates,
    Drop,
    Leading,
    Merge,
    Quantiles,
    Rare,
    Top,
    Tree,
)

TREE = Hierarchy.of_table([("a", "x", "*"), ("b", "x", "*")])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("age=bands(5)", Bands(key="age", width=5)),
        ("age=bands(5,16)", Bands(key="age", width=5, start=16)),
        ("age=bands(width=2.5, start=.5)", Bands(key="age", width=2.5, start=0.5)),
        (" age = Bands( 5 ) ", Bands(key="age", width=5)),
        ("age=bands(5,stay=99)", Bands(key="age", width=5, stay=("99",))),
        ("age=breaks(18,30, 65)", Breaks(key="age", at=(18, 30, 65))),
        ("t=breaks(-5,0)", Breaks(key="t", at=(-5, 0))),
        ("age=quantiles(4)", Quantiles(key="age", number=4)),
        ("age=top(85)", Top(key="age", at=85)),
        ("age=top(share=.01)", Top(key="age", share=0.01)),
        ("age=top(count=20)", Top(key="age", count=20)),
        ("age=bottom(population=100)", Bottom(key="age", population=100)),
        ("job=rare(20)", Rare(key="job", below=20)),
        ("job=rare(population=1000,into=few)", Rare(key="job", population=1000, into="few")),
        ("job=merge(a,b,into=c)", Merge(key="job", levels=("a", "b"), into="c")),
        ('job=merge("a, b","say ""so""",into="c, d")',
         Merge(key="job", levels=("a, b", 'say "so"'), into="c, d")),
        ("code=leading(2)", Leading(key="code", characters=2)),
        ("code=leading(2,digits=5)", Leading(key="code", characters=2, digits=5)),
        ("code=leading(0,before_space=yes)", Leading(key="code", characters=0, before_space=True)),
        ("born=dates(month)", Dates(key="born", to="month")),
        ("born=dates(year,5)", Dates(key="born", years=5)),
        ("born=dates(years=10)", Dates(key="born", years=10)),
        ("name=drop", Drop(key="name")),
        ("name=drop()", Drop(key="name")),
        ("a=b=drop", Drop(key="a=b")),
        ("größe=bands(10)", Bands(key="größe", width=10)),
        ("zip code=leading(3)", Leading(key="zip code", characters=3)),
        ("bands=bands(3)", Bands(key="bands", width=3)),
        ("income (eur)=bands(1000)", Bands(key="income (eur)", width=1000)),
        ('job=merge("a=b",c)', Merge(key="job", levels=("a=b", "c"))),
    ],
)  # fmt: skip
def test_every_form(text, wanted):
    assert recoding_of(text) == wanted


def test_a_tree_is_that_of_the_key():
    assert recoding_of("g=tree(1)", {"g": TREE}) == Tree(key="g", height=1, tree=TREE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age", "recoding must be KEY=RULE, such as age=bands(5), got 'age'"),
        ("=bands(5)", "recoding must be KEY=RULE"),
        ("", "recoding must be KEY=RULE"),
        ("age=", "must be written as NAME(PARAMETER,…)"),
        ("age=bands(5", "must be written as NAME(PARAMETER,…)"),
        ("age=bands 5", "must be written as NAME(PARAMETER,…)"),
        ("age=band(5)", "did you mean 'bands'?"),
        ("age=zzz", "must be a rule, got 'zzz'"),
        ("age=bands()", "must be written as"),
        ("age=bands(x)", "must be written with a number, got 'x'"),
        ("age=bands(nan)", "must be written with a number, got 'nan'"),
        ("age=bands(5,1,2)", "must be given 2 values at most, got 3"),
        ("age=bands(wide=5)", "parameter of 'age=bands(wide=5)' must be one of start, stay, width"),
        ("age=drop(1)", "must be given no values, got 1"),
        ("age=drop(x=1)", "must be nothing, got 'x'"),
        ("age=quantiles(2.5)", "number in 'age=quantiles(2.5)' must be a whole number, got 2.5"),
        ("age=breaks()", "must be ascending numbers, got none"),
        ("age=breaks(1,x)", "must be written with a number, got 'x'"),
        ("age=top()", "must be one of a value, share, count and population"),
        ("age=tree(1)", "'age' must be a key with a tree, got a key without; give its tree (tree)"),
        ("job=merge(a=b,c)", "parameter of 'job=merge(a=b,c)' must be one of into, got 'a'"),
        ("job=merge(levels=a)", "must be one of into, got 'levels'"),
        ("age=same", "must be a rule, got 'same'"),
        ("age=bands(key=age)", "parameter of"),
        ("age=bands(whole=1)", "parameter of"),
    ],
)
def test_bad_forms_are_refused_in_one_line(text, message):
    with pytest.raises(InputError) as told:
        recoding_of(text)
    assert message in str(told.value)
    assert len(str(told.value).splitlines()) == 1


@given(st.text(alphabet="ab=(),\"' 5.\n", max_size=25))
@example('a=merge("')
@example("a=merge(,)")
@example("a=dates(5,5)")
def test_no_text_makes_it_fail_otherwise(text):
    try:
        recoding_of(text)
    except InputError as error:
        assert len(str(error).splitlines()) == 1
