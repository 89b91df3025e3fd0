"""Special uniques: published scores, contributions, DIS-SUDA, derivations and bad input."""

import math
import subprocess
import sys

import numpy as np
import pytest

from discreet.errors import InputError, Interrupted
from discreet.numerics.arrays import IntArray
from discreet.survey.models.dis import correct_match_probability
from discreet.survey.suda.derivation import derive
from discreet.survey.suda.scores import (
    Attribution,
    Convention,
    Scaling,
    SpecialUniques,
    msu_contributions,
    special_uniques,
)

# SDC Practice Guide (sdcpractice.readthedocs.io, "Measuring risk"), tables 4.1, 4.4 and 4.5:
# residence, gender, education level and labour status of ten records.
GUIDE = np.array(
    [
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 1, 1],
        [0, 1, 2, 0],
        [1, 0, 2, 2],
        [0, 1, 2, 0],
        [0, 0, 3, 1],
        [0, 1, 4, 2],
        [0, 0, 0, 1],
        [0, 0, 0, 1],
    ]
)
GUIDE_NAMES = ["Residence", "Gender", "Education level", "Labor status"]


def random_file(n_rows: int = 80, tops: tuple[int, ...] = (2, 3, 4, 5, 8)) -> IntArray:
    rng = np.random.default_rng(11)
    return np.stack([rng.integers(0, top, n_rows) for top in tops], axis=1).astype(np.int64)


@pytest.fixture(scope="module")
def found() -> SpecialUniques:
    return special_uniques(random_file(), by_record=True)


def test_scores_of_the_practice_guide() -> None:
    scores = special_uniques(GUIDE, max_size=3).scores("elliot")
    assert scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_standardised_scores_of_the_same_records() -> None:
    """As sdcMicro printed them in 2017: its tracker, "Calculation of SUDA scores"."""
    scores = special_uniques(GUIDE).scores("guide")
    assert scores.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]


def test_dis_suda_of_the_practice_guide() -> None:
    """Table 4.5 prints DIS-SUDA from the standardised scores, with a sampling fraction of 0.01."""
    found = special_uniques(GUIDE)
    dis = correct_match_probability(4, 3, 0, 0.01).probability
    assert dis == pytest.approx(4 * 0.01 / (4 * 0.01 + 6 * 0.99))
    printed = [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert found.dis_suda(dis, "guide").round(4).tolist() == printed


def test_dis_suda_as_the_java_library_suda2_tests_it() -> None:
    """github.com/prasser/suda2, SUDA2Scores: the guide's records and one unique on every key."""
    found = special_uniques(np.vstack([[9, 9, 9, 9], GUIDE]))
    assert found.scores("guide").tolist() == [7, 0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    expected = np.zeros(11)
    expected[[0, 3, 5, 7, 8]] = 0.028038903, 0.005435918, 0.011357785, 0.005435918, 0.009313862
    dis = correct_match_probability(5, 3, 0, 0.01).probability
    dis_suda = found.dis_suda(dis, "guide")
    assert dis_suda == pytest.approx(expected, rel=2e-7)  # theirs come from single precision


def test_scores_of_templs_book() -> None:
    """Age, gender, income and education: scores as sdcMicro gives them, 2.25 as in the book."""
    age, gender = [0] * 7 + [1], [0] * 4 + [1] * 3 + [0]
    income, education = [0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 2, 1]
    found = special_uniques(np.transpose([age, gender, income, education]))
    assert found.scores().tolist() == [0, 0, 0, 0, 4, 2, 6, 8]
    assert found.scores("guide")[7] == 2.25


@pytest.mark.parametrize(
    ("levels", "percent"),
    [
        # sdcMicro, tests/testthat/test_suda2.R
        ([[2, 0, 0], [1, 3, 6], [1, 0, 0]], [50, 37.5, 37.5]),
        # sdcMicro's tracker, 2025: "understanding calculation for variable contribution"
        (
            [[0, 0, 0], [1, 0, 1], [0, 1, 1], [2, 2, 2], [1, 1, 2], [0, 0, 0], [1, 2, 1]],
            [61.53846, 69.23077, 53.84615],
        ),
    ],
)
def test_attribute_contributions_of_sdcmicro(levels: list[list[int]], percent: list[float]) -> None:
    found = special_uniques(levels)
    involved = found.key_contributions("elliot", "involved")
    assert 100 * involved / found.total_score() == pytest.approx(percent, abs=1e-5)


@pytest.mark.parametrize("n_keys", [1, 2, 5, 20])
def test_contributions_are_the_products_in_closed_form(n_keys: int) -> None:
    for max_size in range(1, n_keys):
        scale = math.factorial(n_keys - max_size - 1)
        expected = [math.factorial(n_keys - k) / scale for k in range(1, max_size + 1)]
        assert msu_contributions(n_keys, max_size).tolist() == expected
    everything = [math.factorial(n_keys - k) for k in range(1, n_keys + 1)]
    assert msu_contributions(n_keys, n_keys).tolist() == everything


def test_standardised_contributions() -> None:
    """(2^(K-k) - 1) k! (K-k)! / K!, as the IHSN program multiplies it out."""
    expected = [
        (2 ** (6 - k) - 1) * math.factorial(k) * math.factorial(6 - k) / 720 for k in range(1, 7)
    ]
    assert msu_contributions(6, 6, "guide") == pytest.approx(expected, rel=1e-15)
    assert msu_contributions(6, 6, "guide")[-1] == 0


@pytest.mark.parametrize("convention", Convention)
@pytest.mark.parametrize("attribution", Attribution)
def test_contributions_of_values_records_and_keys_add_up(
    found: SpecialUniques, convention: Convention, attribution: Attribution
) -> None:
    keys = found.key_contributions(convention, attribution)
    levels = [found.level_contributions(key, convention, attribution).sum() for key in range(5)]
    records = found.record_contributions(convention, attribution)
    assert levels == pytest.approx(keys)
    assert records.sum(axis=0) == pytest.approx(keys)
    if attribution is Attribution.SHARED:
        assert records.sum(axis=1) == pytest.approx(found.scores(convention)[found.rows])
        assert keys.sum() == pytest.approx(found.total_score(convention))


def test_a_key_is_involved_in_what_is_lost_without_it(found: SpecialUniques) -> None:
    for key in range(5):
        without = special_uniques(np.delete(random_file(), key, axis=1))
        lost = found.n_msus.sum(axis=0) - found.level_msus[key].sum(axis=0)
        assert [*without.n_msus.sum(axis=0), 0] == lost.tolist()


def test_shared_contributions_are_shapley_values() -> None:
    """Mean gain of record 5 of the guide's file over all orders in which keys become known."""
    from itertools import permutations

    found = special_uniques(GUIDE, max_size=3, by_record=True)
    msus = derive(GUIDE, 4, max_size=3).msus
    gains = np.zeros(4)
    for order in permutations(range(4)):
        for place, key in enumerate(order):
            known = set(order[: place + 1])
            gains[key] += sum(
                msu.contribution for msu in msus if key in msu.keys and known >= set(msu.keys)
            )
    row = found.rows.tolist().index(4)
    assert found.record_contributions()[row] == pytest.approx(gains / 24)


def test_cells_with_counts_are_records_counted() -> None:
    records = random_file(200, (2, 3, 4, 3))
    cells, counts = np.unique(records, axis=0, return_counts=True)
    of_cells, of_records = special_uniques(cells, counts), special_uniques(records)
    assert np.array_equal(cells[of_cells.rows], cells[counts == 1])
    assert of_cells.total_score() == of_records.total_score() > 0
    score_of = dict(zip(map(tuple, cells.tolist()), of_cells.scores(), strict=True))
    assert [score_of[tuple(record)] for record in records.tolist()] == of_records.scores().tolist()


def test_cells_given_twice_are_one_cell() -> None:
    found = special_uniques([[0, 1], [0, 1], [1, 0]], [1, 1, 1])
    assert found.rows.tolist() == [2]


def test_scores_do_not_depend_on_order_labels_or_type() -> None:
    levels = random_file()
    scores = special_uniques(levels).scores()
    rng = np.random.default_rng(1)
    rows, keys = rng.permutation(len(levels)), rng.permutation(5)
    assert np.array_equal(special_uniques(levels[rows][:, keys]).scores(), scores[rows])
    assert np.array_equal(special_uniques(10**15 - 7 * levels).scores(), scores)
    assert np.array_equal(special_uniques(levels.astype(np.uint8)).scores(), scores)


def test_a_record_alone_in_its_file_is_unique_on_each_key() -> None:
    found = special_uniques([[5, 3, 1]])
    assert found.n_msus.tolist() == [[3, 0, 0]]
    assert [msu.keys for msu in derive([[5, 3, 1]], 0).msus] == [(0,), (1,), (2,)]


def test_a_cell_of_several_records_has_no_msu() -> None:
    found = special_uniques([[0, 0], [1, 1]], [2, 1])
    assert found.rows.tolist() == [1]
    assert derive([[0, 0], [1, 1]], 0, [2, 1]).msus == ()


def test_identical_records_have_no_msus() -> None:
    found = special_uniques([[4, 2]] * 5, by_record=True)
    assert found.scores().tolist() == [0] * 5
    assert found.dis_suda().tolist() == [0] * 5
    assert found.total_score() == 0
    assert found.record_contributions().shape == (0, 2)


def test_limit_on_the_size_leaves_the_smaller_ones() -> None:
    full, limited = special_uniques(random_file()), special_uniques(random_file(), max_size=2)
    assert np.array_equal(limited.n_msus, full.n_msus[:, :2])
    assert full.n_msus.any(axis=1).all()
    assert not limited.n_msus.any(axis=1).all()


def test_scaling_by_odds_has_the_dis_as_harmonic_mean(found: SpecialUniques) -> None:
    risks = found.dis_suda(0.2)[found.rows]
    assert len(risks) / np.sum(1 / risks) == pytest.approx(0.2)
    order = np.argsort(found.scores()[found.rows], kind="stable")
    assert np.all(np.diff(risks[order]) >= 0)
    assert found.dis_suda(1.0)[found.rows].tolist() == [1.0] * len(risks)


def test_scaling_by_share_hands_out_the_dis(found: SpecialUniques) -> None:
    shares = found.dis_suda(0.2, scaling=Scaling.SHARE)
    assert shares.sum() == pytest.approx(0.2)
    assert shares * found.total_score() == pytest.approx(0.2 * found.scores())


def test_derivation_can_be_read() -> None:
    derived = derive(GUIDE, 4, max_size=3)
    assert derived.text(GUIDE_NAMES).splitlines() == [
        "row 4: 4 minimal sample uniques of at most 3 of 4 keys",
        "  Residence = 1: size 1, (4 - 1) · (4 - 2) · (4 - 3) = 6",
        "  Gender = 0, Education level = 2: size 2, (4 - 2) · (4 - 3) = 2",
        "  Gender = 0, Labor status = 2: size 2, (4 - 2) · (4 - 3) = 2",
        "  Education level = 2, Labor status = 2: size 2, (4 - 2) · (4 - 3) = 2",
        "score (elliot): 12",
    ]
    assert derived.score == special_uniques(GUIDE, max_size=3).scores()[4]


def test_derivation_of_standardised_scores_and_of_a_full_set() -> None:
    guide = derive(GUIDE, 2, convention="guide")
    assert "  key 2 = 1: size 1, (2^3 - 1) / C(4, 1) = 1.75" in guide.text()
    full = derive([[0, 0], [0, 1], [1, 0]], 0).text()
    assert "  key 0 = 0, key 1 = 0: size 2, empty product = 1" in full


def test_progress_runs_from_nothing_to_all() -> None:
    told: list[float] = []
    special_uniques(random_file(300, (2,) * 9), progress=told.append)
    assert told[0] == 0
    assert told[-1] == 1
    assert told == sorted(told)
    assert len(told) > 10
    told.clear()
    special_uniques([[0, 0]] * 3, progress=told.append)
    assert told == [0, 1]


def test_progress_can_stop_the_search() -> None:
    def stop(share: float) -> None:
        if share > 0.3:
            raise Interrupted("stopped")

    with pytest.raises(Interrupted):
        special_uniques(random_file(300, (2,) * 9), progress=stop)


def test_results_cannot_be_written_to(found: SpecialUniques) -> None:
    assert found.key_msus is not None
    assert not any(array.flags.writeable for array in (*found.levels, *found.level_msus))
    assert not any(array.flags.writeable for array in (found.n_msus, found.key_msus))
    assert not found.rows.flags.writeable


def test_importing_the_measure_does_not_load_the_compiler() -> None:
    check = "import sys, discreet.survey.suda.scores; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


@pytest.mark.parametrize(
    ("levels", "options", "message"),
    [
        ([[0, 1]], {"max_size": 0}, "max_size must be from 1 to the 2 keys, got 0"),
        ([[0, 1]], {"max_size": 3}, "max_size must be from 1 to the 2 keys, got 3"),
        ([0, 1], {}, r"levels must be a matrix with at least one row and one key, got the shape"),
        (np.zeros((0, 3), dtype=int), {}, r"at least one row and one key, got the shape \(0, 3\)"),
        (np.zeros((3, 0), dtype=int), {}, r"at least one row and one key, got the shape \(3, 0\)"),
        ([[0.5, 1.0]], {}, "levels must be whole-number codes, got the type float64"),
        (
            [[0, 1], [2, -1]],
            {},
            r"levels must be codes from 0 to 2\*\*63 - 1, got another at row 1, key 1; give ",
        ),
        (np.array([[0, 2**63]], dtype=np.uint64), {}, "got another at row 0, key 1"),
        ([[0, 1]], {"sample_count": [1, 1]}, r"sample_count must be 1 whole numbers, one a row"),
        ([[0, 1]], {"sample_count": [1.0]}, r"got the shape \(1,\) and type float64"),
        ([[0], [1]], {"sample_count": [2, 0]}, "sample_count must be at least 1, got 0 at row 1"),
        (
            np.zeros((2, 40), dtype=int),
            {},
            r"max_size must be small enough for at most 4,194,304 sets of keys, got 40 .*; for 40 "
            "keys that is 5",
        ),
    ],
)
def test_bad_input_is_refused(levels: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        special_uniques(levels, **options)  # type: ignore[arg-type]


def test_bad_questions_are_refused(found: SpecialUniques) -> None:
    with pytest.raises(InputError, match="row must be from 0 to 9, got 10"):
        derive(GUIDE, 10)
    with pytest.raises(InputError, match="convention must be elliot or guide, got 'sdcMicro'"):
        found.scores("sdcMicro")
    with pytest.raises(InputError, match="dis must be above 0 and at most 1, got 0"):
        found.dis_suda(0)
    with pytest.raises(InputError, match="by_record must be True"):
        special_uniques(GUIDE).record_contributions()


def test_odds_are_refused_where_their_power_turns() -> None:
    wide = special_uniques(np.eye(28, dtype=int), max_size=1)
    with pytest.raises(InputError, match="keys must be fewer than 28 for scaling by odds, got 28"):
        wide.dis_suda()
    assert wide.dis_suda(scaling="share").sum() == pytest.approx(0.1)
