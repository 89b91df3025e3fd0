"""A choice for linked tables knows what was published before, as it was published."""

import numpy as np
import pytest

from discreet.choice.linked_tables import LinkedSet
from discreet.choice.options import ChooseOptions
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.flows.choose import choose

TABLE = Table.of_dense(
    np.array([[20, 2, 5], [6, 5, 20]]), names="ab", levels=(("x", "y"), ("u", "v", "w"))
)


def written(folder, rows, name="before.csv"):
    path = folder / name
    path.write_text("a,b,count\n" + "".join(f"{a},{b},{n}\n" for a, b, n in rows))
    return path


@pytest.fixture
def rounded(tmp_path):
    """The table as it was rounded to 5 before."""
    counts = TABLE.dense()
    near = np.floor(counts / 5 + 0.5).astype(int) * 5
    cells = [(a, b, near[i, j]) for i, a in enumerate("xy") for j, b in enumerate("uvw")]
    return f"{written(tmp_path, cells)} | rounded(5,nearest)"


def test_what_is_out_in_any_form_is_known_in_every_judgement(rounded):
    asked = ChooseOptions(tables="a,b", published=rounded, max_risk=0.2)
    linked = LinkedSet.of(TABLE, asked, {})
    ranges = {tuple(one.cells.tolist()): (one.low, one.high) for one in linked.known}
    assert ranges[(0,)] == (18, 22)
    assert ranges[(1,)] == (0, 2)
    assert len(ranges) == 6


def test_a_part_and_bands_count_by_the_cells_that_they_hold(tmp_path):
    path = tmp_path / "part.csv"
    path.write_text("a,count\nx,7\ny,25\n")
    asked = ChooseOptions(
        tables="a,b:merge(v,w,into=late)", published=(f"{path} | b=late",), labels=("b:late=w",),
        max_risk=0.2,
    )  # fmt: skip
    with pytest.raises(InputError, match=r"published figures must be true of the data, got one of"):
        LinkedSet.of(TABLE, asked, {})
    path.write_text("a,count\nx,5\ny,20\n")
    found = LinkedSet.of(TABLE, asked, {})
    assert sorted((one.low, one.high) for one in found.known) == [(5, 5), (20, 20)]


def test_a_limit_that_is_exceeded_by_what_is_out_is_told(rounded):
    alone = choose(TABLE, "margins", tables="a", max_risk=0.2, seed=1)
    beside = choose(TABLE, "margins", tables="a", published=rounded, max_risk=0.2, seed=1)
    assert alone.verdict.allows
    assert not beside.verdict.allows


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("a,b,count\nx,v,2\n", "with it, some of them are known more closely: [a=x, b=v]."),
        ("a,b,count\ny,v,5\n", "with it, some of them are known more closely: [a=x, b=v]."),
        ("b,count\nw,25\n", "So it is with what was published before, in whole numbers (proved)."),
    ],
)
def test_a_pattern_says_what_published_files_make_of_it(tmp_path, before, words):
    path = tmp_path / "before.csv"
    path.write_text(before)
    given = {"tables": "a+total,b+total", "max_risk": 1.0, "seed": 1}
    found = choose(TABLE, "suppression", published=str(path), **given)
    masked = found.candidates[1].masked
    assert words in masked.effect
    # A pattern of two rows and two columns: who knows one of its figures knows the other three.
    assert (masked.protection.guarantee is None) == ("closely" in words)


def test_a_figure_that_is_not_true_is_refused_without_its_count(tmp_path):
    path = written(tmp_path, [("x", "v", 7)])
    with pytest.raises(InputError, match="published figures must be true of the data") as told:
        choose(TABLE, tables="a", published=str(path), max_risk=0.2)
    assert "2" not in str(told.value).replace("row 2", "").replace(str(path), "")


def test_options_that_have_no_effect_are_refused(rounded):
    with pytest.raises(InputError, match="published must be given with tables, got none"):
        ChooseOptions(published=rounded, max_risk=0.2)
    with pytest.raises(InputError, match="labels must be given with published tables, got none"):
        ChooseOptions(tables="a", labels=("a:1=x",), max_risk=0.2)
