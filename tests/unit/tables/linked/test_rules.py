"""What printed figures say of true counts, and how the rules are written."""

from dataclasses import replace

import pytest
from tests.oracles.published_tables import published

from discreet.data.published.published_table import Statistic
from discreet.errors import InputError
from discreet.tables.linked.rules import Rule, Way, check_figures, guessed, rule_of


def rounded(count, base, way):
    """What may be printed for a count."""
    down, off = count - count % base, count % base
    up = down + base if off else down
    if way is Way.DOWN:
        return {down}
    if way is Way.UP:
        return {up}
    if way is Way.UNKNOWN:
        return {down, up}
    return {down} if 2 * off < base else {up} if 2 * off > base else {down, up}


@pytest.mark.parametrize("base", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("way", list(Way))
def test_the_range_of_a_rounded_figure_is_all_counts_that_are_printed_so(base, way):
    rule = Rule(base=base, way=way)
    for printed in range(0, 4 * base, base):
        counts = [x for x in range(6 * base) if printed in rounded(x, base, way)]
        assert rule.range_of(str(printed), "") == (min(counts), max(counts))


@pytest.mark.parametrize("most", [1, 4])
def test_the_range_of_a_perturbed_figure(most):
    rule = Rule(most=most)
    for printed in range(8):
        counts = [x for x in range(20) if abs(x - printed) <= most]
        assert rule.range_of(str(printed), "") == (min(counts), max(counts))


def test_what_is_withheld_lies_in_the_range_of_the_rule_or_of_its_mark():
    assert Rule().range_of("", "") == (0, None)
    assert Rule().range_of("", "c") == (0, None)
    assert Rule(withheld=(1, 4)).range_of("", "c") == (1, 4)
    assert Rule(withheld=(1, 4)).range_of("", "<3") == (0, 2)
    assert Rule().range_of("7", "") == (7, 7)
    assert Rule().range_of("7.0", "") == (7, 7)


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("exact", Rule(stated=True), "exact"),
        ("rounded(5)", Rule(base=5, stated=True), "rounded to 5"),
        (" Rounded ( base=5 , Nearest ) ", Rule(base=5, way=Way.NEAREST, stated=True),
         "rounded to 5 to the nearest"),
        ("rounded(3,down)", Rule(base=3, way=Way.DOWN, stated=True), "rounded to 3 down"),
        ("rounded(3,up)", Rule(base=3, way=Way.UP, stated=True), "rounded to 3 up"),
        ("perturbed(most=4)", Rule(most=4, stated=True), "each off by at most 4"),
        ("withheld(1..4)", Rule(withheld=(1, 4)), "exact"),
        ("withheld(1-4)", Rule(withheld=(1, 4)), "exact"),
        ("withheld(1..)", Rule(withheld=(1, None)), "exact"),
        ("withheld(..4)", Rule(withheld=(0, 4)), "exact"),
    ],
)  # fmt: skip
def test_rules_in_words(text, rule, words):
    assert rule_of([text]) == (rule, [])
    assert rule.words == words


def test_sections_that_say_no_rule_are_left():
    assert rule_of(["sex=F", "rounded(5)", "count=n"]) == (
        Rule(base=5, stated=True), ["sex=F", "count=n"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (["rounded"], "rounded must be given a whole number from 2 to 1,000,000 in brackets"),
        (["rounded(1)"], "rounded must be given a whole number from 2 .* such as exact"),
        (["rounded(five)"], "rounded must be given a whole number"),
        (["rounded(2.5)"], "rounded must be given a whole number"),
        (["perturbed(0)"], "perturbed must be given a whole number from 1 to"),
        (["perturbed(9999999)"], "perturbed must be given a whole number from 1 to"),
        (["rounded(5,sideways)"], "way of rounding must be one of unknown, nearest, down, up"),
        (["rounded(5,up,down)"], "way of rounding must be .*got 'up,down'"),
        (["withheld"], r"withheld must be given a range, as in withheld\(1..4\)"),
        (["withheld(..)"], "withheld must be given a range"),
        (["withheld(4)"], "withheld must be given a range"),
        (["withheld(4..1)"], "withheld must be a range from low to high"),
        (["exact", "rounded(5)"], "rule of figures must be one beside withheld, got 'exact' and "
         r"'rounded\(5\)'"),
        (["rounded(5)", "perturbed(2)"], "rule of figures must be one beside withheld"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be(sections, message):
    with pytest.raises(InputError, match=message):
        rule_of(sections)


def table_of(figures, name="t"):
    return published(name, ["a"], [(f"x{i}", figure) for i, figure in enumerate(figures)])


def test_figures_that_are_all_multiples_are_taken_as_rounded_with_a_note():
    rule, note = guessed(table_of([5 * i for i in range(1, 10)]), Rule(withheld=(1, 4)))
    assert rule == Rule(base=5, withheld=(1, 4))
    assert note.startswith("All 9 figures of t are multiples of 5: taken as rounded to 5")
    assert "'t | exact'" in note


def test_the_greatest_base_is_guessed():
    assert guessed(table_of([100, 200, 300, 400, 0]), Rule())[0].base == 100


@pytest.mark.parametrize(
    ("figures", "rule"),
    [
        ([5, 10, 15], Rule()),  # by chance in one of 125
        ([5 * i for i in range(1, 10)] + [7], Rule()),
        ([5 * i for i in range(1, 10)], Rule(stated=True)),
        ([0] * 50, Rule()),  # zeros are multiples of every number
        ([2 * i for i in range(1, 40)], Rule()),  # nobody rounds to 2
        ([None] * 20, Rule()),
    ],
)
def test_nothing_is_guessed_without_need(figures, rule):
    assert guessed(table_of(figures), rule) == (rule, "")


def test_percentages_are_not_taken_as_rounded():
    table = replace(table_of([50] * 20), statistic=Statistic.PERCENT)
    assert guessed(table, Rule()) == (Rule(), "")


@pytest.mark.parametrize("figure", ["5.5", "-1", str(2**53)])
def test_counts_are_whole_numbers(figure):
    with pytest.raises(InputError, match="figures must be whole numbers from 0, below 2.*53, got"):
        check_figures(table_of([3, figure]))
    table = replace(table_of([3, figure]), where=("row 2", "row 3"))
    with pytest.raises(InputError, match="at t, row 3"):
        check_figures(table)


@pytest.mark.parametrize("figure", ["-0.1", "100.5"])
def test_percentages_are_from_0_to_100(figure):
    table = replace(table_of([3, figure]), statistic=Statistic.PERCENT)
    with pytest.raises(InputError, match="percentages must be from 0 to 100, got"):
        check_figures(table)


def test_means_may_be_any_number():
    check_figures(replace(table_of([-3.5, 200]), statistic=Statistic.MEAN))


def test_a_table_has_figures():
    with pytest.raises(InputError, match="table t must be one with figures, got none"):
        check_figures(table_of([]))
