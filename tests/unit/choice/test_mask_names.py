"""Masks by name, and made again from their records."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from discreet.choice.mask_names import (
    MaskSpec,
    fresh_seed,
    make_again,
    mask_table,
    parse_mask,
    parse_sets,
)
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.masks.contract import Masked

TABLE = Table.of_dense(
    np.array([[[6, 2], [0, 11]], [[12, 1], [11, 7]], [[9, 9], [4, 5]]]), names=["a", "b", "c d"]
)
COUNTS = Table.of_dense(np.array([15, 20, 9, 5, 2]), levels=[["0", "1", "2", "3", "4"]])

SPECS = [
    ('margins[a b][b "c d"]', TABLE),
    ("margins[]", TABLE),
    ("rounding:base=3", TABLE),
    ("rounding[a][b]:base=5,random,total_known=no", TABLE),
    ("rounding[a b][a]:base=4,sums=summed", TABLE),
    ("controlled-rounding:base=3", TABLE),
    ("controlled_rounding[a b]:base=5,random", TABLE),
    ("suppression", TABLE),
    ("suppression[a b][a]:small=10,protect=3,zeros=spare,exact=no,least=figures", TABLE),
    ("perturbation[a b]", TABLE),
    ("perturbation[a b][b]:fitted=table,show=[a][b],alpha=0.3", TABLE),
    ("imputation[a][b]:copies=4,distribution=dirichlet", TABLE),
    ("cell-key:variance=2", TABLE),
    ("cell_key[a b][a]:variance=1.5,max=4,small=1,total_known=no", TABLE),
    ("cell-key:variance=2:max=4:keep=0.3", TABLE),
    ("discrete-laplace:epsilon=0.5", TABLE),
    ('discrete-laplace[a "c d"][a]:epsilon=1,clamp', TABLE),
    ("statistics", COUNTS),
    ("statistics:largest_known=no", COUNTS),
]


def same(one, two):
    assert one.record() == two.record()
    assert one.title == two.title
    assert one.effect == two.effect
    assert one.figures == two.figures
    assert np.array_equal(one.estimate, two.estimate)
    assert len(one.published) == len(two.published)
    for a, b in zip(one.published, two.published):
        assert a.axes == b.axes
        assert np.array_equal(a.counts, b.counts)
        assert (a.shown is None) == (b.shown is None)
        assert a.shown is None or np.array_equal(a.shown, b.shown)
    return True


@pytest.mark.parametrize(("spec", "table"), SPECS)
def test_a_record_written_as_json_makes_the_same_publication(spec, table):
    masked = mask_table(spec, table, seed=11)
    assert isinstance(masked, Masked)
    record = json.loads(json.dumps(masked.record()))
    assert same(masked, make_again(record, table))


@pytest.mark.parametrize(
    "spec",
    [
        "rounding:base=3,random",
        "controlled-rounding:base=3,random",
        "perturbation[a][b]",
        "cell-key:variance=2",
        "discrete-laplace:epsilon=1",
    ],
)
def test_other_seeds_make_other_publications(spec):
    made = {mask_table(spec, TABLE, seed=seed).published[-1].counts.tobytes() for seed in range(10)}
    assert len(made) > 1


def test_sets_of_the_mask_come_before_those_given_beside():
    beside = mask_table("rounding:base=3", TABLE, [["a"]])
    own = mask_table("rounding[b]:base=3", TABLE, [["a"]])
    assert [part.axes for part in beside.published] == [(0,)]
    assert [part.axes for part in own.published] == [(1,)]


def test_sets_are_read_with_blanks_commas_and_quotes():
    assert parse_sets('[a b][b,"c d"] []') == (("a", "b"), ("b", "c d"), ())
    assert parse_mask("Rounding : base = 3 , random").options == {"base": 3, "random": True}
    assert parse_mask("rounding:base=3:random").options == {"base": 3, "random": True}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("roundng:base=3", "mask must be one of .*, got 'roundng'; did you mean 'rounding'?"),
        (
            "rounding:bse=3",
            "options of rounding must be one of .*, got 'bse'; did you mean 'base'?",
        ),
        ("rounding", "mask rounding must be given base=…, got none"),
        ("rounding:base", "base must be given a value, got none"),
        ("rounding:base=three", "base must be a whole number, got 'three'"),
        ("rounding:base=3,random=perhaps", "random must be yes or no, got 'perhaps'"),
        ("perturbation[a]:alpha=x", "alpha must be a number, got 'x'"),
        ("perturbation[a]:show=a", "sets must be in brackets"),
        ("margins:base=3", "options of margins must be left out, got 'base'"),
        ("imputation[a]", "mask imputation must be given copies=…"),
        ("", "mask must be a name, sets in brackets"),
        ("rounding[a:base=3", "mask must be a name, sets in brackets"),
        ("rounding:base=3,base=5", "base must be given once, got twice at mask rounding"),
        ("rounding:base=3,random,random=no", "random must be given once, got twice"),
        ("rounding:base=3[,random", "options must be with their brackets closed"),
        ('rounding["a b]:base=3', "sets must be names with their quotes closed"),
        ("3", "mask must be a name"),
        ("cell-key", "mask cell-key must be given variance=…, got none"),
        ("cell-key:variance=two", "variance must be a number, got 'two'"),
        ("cell-key:variance=2,most=3", "options of cell-key must be one of .*, got 'most'"),
        ("discrete-laplace:clamp", "mask discrete-laplace must be given epsilon=…, got none"),
        ("laplace:epsilon=1", "mask must be one of .*, got 'laplace'"),
    ],
)
def test_texts_that_are_no_masks_are_refused(spec, words):
    with pytest.raises(InputError, match=words.replace("?", r"\?").replace("[", r"\[")):
        parse_mask(spec)


@pytest.mark.parametrize(
    ("spec", "table", "words"),
    [
        ("rounding:base=1", TABLE, "base must be a whole number from 2"),
        ("rounding:base=3,random", TABLE, "seed must be given for random rounding"),
        ("perturbation[a]", TABLE, "seed must be given for perturbation"),
        ("cell-key:variance=2", TABLE, "seed must be given for cell keys, which draws"),
        ("discrete-laplace:epsilon=1", TABLE, "seed must be given for discrete Laplace noise"),
        ("cell-key:variance=30", TABLE, "variance must be below 25 with max=5, got 30; raise max"),
        ("margins", TABLE, "sets must be given for margins"),
        ("margins[z]", TABLE, "variables named must be those of the table, got 'z'"),
        ("statistics", TABLE, "table must be of one variable"),
    ],
)
def test_masks_that_do_not_fit_are_refused(spec, table, words):
    with pytest.raises(InputError, match=words):
        mask_table(spec, table)


def test_perturbation_without_margins_out_is_refused():
    with pytest.raises(InputError, match="margins out must be at least one"):
        mask_table("perturbation", TABLE, seed=1)


def test_records_that_are_none_are_refused():
    with pytest.raises(InputError, match="record must be one of a mask, got none of its seed"):
        make_again({"mask": "margins", "parameters": {}}, TABLE)
    with pytest.raises(InputError, match="options of margins must be left out, got 'small'"):
        make_again({"mask": "margins", "parameters": {"small": 3}, "seed": None}, TABLE)
    with pytest.raises(InputError, match="mask must be one of"):
        mask_table(MaskSpec("noise"), TABLE)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("rounding", {"base": 3, "random": "no"}, "random must be yes or no, got 'no'"),
        ("rounding", {"base": "3"}, "base must be a whole number, got '3'"),
        ("rounding", {"base": 3, "sums": 1}, "sums must be a word, got 1"),
        ("suppression", {"work": "4"}, "work must be a number, got '4'"),
        ("suppression", {"small": True}, "small must be a whole number, got True"),
        ("imputation", {"copies": 1.5}, "copies must be a whole number, got 1.5"),
        ("perturbation", {"alpha": "x"}, "alpha must be a number, got 'x'"),
    ],
)
def test_options_of_another_kind_are_refused(name, options, words):
    with pytest.raises(InputError, match=words):
        mask_table(MaskSpec(name, (("a",),), options), TABLE, seed=1)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "record must be one of a mask, got NoneType"),
        ({"mask": "margins", "parameters": None, "seed": None}, "got parameters without names"),
        ({"mask": "margins", "parameters": {"sets": 3}, "seed": None}, "sets must be lists"),
        ({"mask": "margins", "parameters": {"sets": ["a"]}, "seed": None}, "sets must be lists"),
        ({"mask": "margins", "parameters": {"sets": [[1]]}, "seed": None}, "sets must be lists"),
        ({"mask": ["margins"], "parameters": {}, "seed": None}, "mask must be one of .* got list"),
        (
            {"mask": "rounding", "parameters": {"base": 3, "random": True}, "seed": 1.5},
            "seed must be a whole number",
        ),
    ],
)
def test_damaged_records_are_refused(record, words):
    with pytest.raises(InputError, match=words):
        make_again(record, TABLE)


def test_fresh_seeds_differ_and_survive_json_read_as_floating_point():
    seeds = {fresh_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(int(float(seed)) == seed >= 0 for seed in seeds)


@pytest.mark.parametrize("spec", ["suppression", "perturbation[a b]"])
def test_no_time_makes_nothing_rather_than_something_else(spec):
    found = mask_table(spec, TABLE, seed=1, seconds=0)
    assert isinstance(found, Unavailable)


AGAIN = """
import json, sys
import numpy as np
from discreet.data.table import Table
from discreet.choice.mask_names import make_again
table = Table.of_dense(np.array(json.loads(sys.argv[1])), names=["a", "b", "c d"])
for record in json.loads(sys.argv[2]):
    made = make_again(record, table)
    print(json.dumps([part.counts.tolist() for part in made.published]))
"""


def test_another_process_makes_the_same_publications():
    specs = [spec for spec, table in SPECS if table is TABLE]
    made = [mask_table(spec, TABLE, seed=11) for spec in specs]
    counts = json.dumps(TABLE.dense().tolist())
    records = json.dumps([masked.record() for masked in made])
    told = subprocess.run(
        [sys.executable, "-c", AGAIN, counts, records],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    found = [json.loads(line) for line in told.stdout.splitlines()]
    assert found == [[part.counts.tolist() for part in masked.published] for masked in made]
