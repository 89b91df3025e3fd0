"""How far the estimates of an analysis moved, against dense fits on single records."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm, t

from discreet.errors import InputError, WeightError
from discreet.figures import Figure, How, Unavailable
from discreet.protection import analysis, model_fit, table_kept
from discreet.protection.analysis import analysis_kept
from discreet.protection.analysis_request import analysis_request
from discreet.protection.estimates_kept import interval_overlap


def people(n=400, seed=1):
    """Made-up persons: income depends on age and sex, work on both."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 60, n), rng.choice(["f", "m"], n, p=[0.6, 0.4])
    income = 10 + 0.5 * age - 3 * (sex == "m") + rng.normal(0, 4, n)
    work = np.where(rng.random(n) < 1 / (1 + np.exp(1 - 0.05 * age + (sex == "m"))), "yes", "no")
    return pa.table(
        {"income": income, "age": age, "sex": sex, "work": work, "w": rng.uniform(0.5, 2, n)}
    )


def banded(table):
    """The same with age in bands of ten years."""
    bands = [f"{a // 10 * 10}s" for a in table["age"].to_pylist()]
    return table.set_column(table.column_names.index("age"), "age", pa.array(bands))


def holed(table, name, share, seed=5):
    """The same with a share of a column taken out."""
    gone = np.random.default_rng(seed).random(table.num_rows) < share
    values = [None if out else v for v, out in zip(table[name].to_pylist(), gone)]
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, type=table[name].type))


def kept(request, original, recoded=None, protected=None, **more):
    recoded = original if recoded is None else recoded
    return analysis_kept(
        request,
        original=original,
        recoded=recoded,
        protected=recoded if protected is None else protected,
        **more,
    )


def dense(table, *, bands=False, product=False):
    """A design by hand: constant, age (or bands but the most frequent), sex=m."""
    male = np.array(table["sex"].to_pylist()) == "m"
    columns = {"(constant)": np.ones(table.num_rows)}
    if bands:
        age = np.array(table["age"].to_pylist())
        labels, counts = np.unique(age, return_counts=True)
        for label in np.delete(labels, np.argmax(counts)):
            columns[f"age={label}"] = (age == label) * 1.0
    else:
        columns["age"] = table["age"].to_numpy().astype(float)
    columns["sex=m"] = male * 1.0
    if product:
        columns["age:sex=m"] = columns["age"] * male
    return list(columns), np.stack(list(columns.values()), axis=1)


def least_squares(x, y, w):
    w = w / w.mean()
    inverse = np.linalg.inv(x.T @ (x * w[:, None]))
    b = inverse @ (x.T @ (w * y))
    variance = (w @ (y - x @ b) ** 2) / (len(y) - x.shape[1])
    half = t.ppf(0.975, len(y) - x.shape[1]) * np.sqrt(variance * np.diag(inverse))
    return b, b - half, b + half


def likelihood(x, y, w):
    w = w / w.mean()
    scale = np.abs(x).max(axis=0)

    def loss(b):
        eta = x / scale @ b
        p = 1 / (1 + np.exp(-eta))
        return w @ (np.logaddexp(0, eta) - y * eta), (x / scale).T @ (w * (p - y))

    b = minimize(loss, np.zeros(x.shape[1]), jac=True, tol=1e-12).x / scale
    p = 1 / (1 + np.exp(-x @ b))
    half = norm.ppf(0.975) * np.sqrt(np.diag(np.linalg.inv(x.T @ (x * (w * p * (1 - p))[:, None]))))
    return b, b - half, b + half


def agrees(figures, names, truth, rel):
    assert [one.name for one in figures] == names
    for which, values in zip(("value", "low", "high"), truth):
        found = [getattr(one.before, which) for one in figures]
        assert found == pytest.approx(list(values), rel=rel, abs=rel)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("product", [False, True])
def test_linear_regression(weight, product):
    table = people()
    names, x = dense(table, product=product)
    w = np.ones(400) if weight is None else table["w"].to_numpy()
    truth = least_squares(x, table["income"].to_numpy(), w)
    request = "income ~ age:sex" if product else "income ~ age + sex"  # brings its main effects
    found = kept(request, table, weight=weight)
    assert found.kind == "linear regression"
    agrees(found.estimates, names, truth, 1e-8)


@pytest.mark.parametrize("weight", [None, "w"])
def test_logistic_regression(weight):
    table = people()
    names, x = dense(table)
    w = np.ones(400) if weight is None else table["w"].to_numpy()
    truth = likelihood(x, (np.array(table["work"].to_pylist()) == "yes") * 1.0, w)
    found = kept("work ~ age + sex", table, weight=weight)
    assert (found.kind, found.success) == ("logistic regression", "yes")
    agrees(found.estimates, names, truth, 1e-5)


def test_two_numbers_are_two_levels():
    table = people()
    numbers = pa.array([2 if v == "yes" else 1 for v in table["work"].to_pylist()])
    other = table.set_column(3, "work", numbers)
    one, two = kept("work ~ sex", table), kept("work ~ sex", other)
    assert two.success == "2"
    assert one.estimates == two.estimates


def test_bands_are_categories_on_both_sides():
    table = people()
    names, x = dense(banded(table), bands=True)
    truth = least_squares(x, table["income"].to_numpy(), np.ones(400))
    found = kept("income ~ age + sex", table, banded(table))
    agrees(found.estimates, names, truth, 1e-8)
    assert "age was a number" in found.notes[0]
    # Of the original model only sex has the same meaning.
    whole = {one.name: one.original for one in found.estimates}
    plain = least_squares(dense(table)[1], table["income"].to_numpy(), np.ones(400))
    assert whole["sex=m"].value == pytest.approx(plain[0][2])
    assert all(isinstance(one, Unavailable) for name, one in whole.items() if name != "sex=m")
    linked = kept("income ~ age + sex + age:sex", table, banded(table))
    assert all(isinstance(one.original, Unavailable) for one in linked.estimates)


def test_nothing_moved():
    found = kept("income ~ age + sex", people())
    assert found.overlap == Figure(value=1.0, how=How.EXACT)
    assert found.sign_changed.value == found.significance_changed.value == 0
    assert all(one.standardised_difference.value == 0 for one in found.estimates)
    assert all(one.original == one.before for one in found.estimates)
    json.dumps(found.to_json(), allow_nan=False)


def test_what_moved_and_by_how_much():
    table = people()
    rng = np.random.default_rng(9)
    shuffled = table.set_column(2, "sex", pa.array(rng.permutation(table["sex"].to_pylist())))
    found = kept("income ~ age + sex", table, protected=shuffled)
    sex = {one.name: one for one in found.estimates}["sex=m"]
    _, x = dense(shuffled)
    b, low, high = least_squares(x, table["income"].to_numpy(), np.ones(400))
    assert (sex.after.value, sex.after.low, sex.after.high) == pytest.approx(
        (b[2], low[2], high[2])
    )
    assert sex.overlap.value == 0
    assert sex.standardised_difference.value == pytest.approx(
        (b[2] - sex.before.value) / sex.before.standard_error
    )
    assert sex.significance_changed
    assert found.significance_changed.value == 0.5  # sex, and not age; the constant is not judged
    age = {one.name: one for one in found.estimates}["age"]
    assert found.overlap.value == pytest.approx(age.overlap.value / 2)
    assert sex.original == sex.before


def test_signs():
    table = people()
    turned = pa.array(["m" if v == "f" else "f" for v in table["sex"].to_pylist()])
    found = kept("income ~ sex", table, protected=table.set_column(2, "sex", turned))
    assert found.sign_changed.value == 1
    assert found.significance_changed.value == 0


def test_records_without_a_value_are_left_out_and_counted():
    table = people()
    recoded = holed(table, "age", 0.1, seed=2)
    protected = holed(recoded, "sex", 0.2, seed=3)
    found = kept("income ~ age + sex", table, recoded, protected)
    lacking = sum(v is None for v in recoded["age"].to_pylist())
    rows = zip(protected["age"].to_pylist(), protected["sex"].to_pylist())
    n_after = sum(None not in row for row in rows)
    assert (found.records_before.value, found.left_out_before.value) == (400 - lacking, lacking)
    assert (found.records_after.value, found.left_out_after.value) == (n_after, 400 - n_after)
    whole = recoded.filter(pa.compute.is_valid(recoded["age"]))
    names, x = dense(whole)
    truth = least_squares(x, whole["income"].to_numpy(), np.ones(whole.num_rows))
    agrees(found.estimates, names, truth, 1e-8)
    weight = pa.array([0.0, *[1.0] * 399])
    assert (
        kept("income ~ sex", table.set_column(4, "w", weight), weight="w").left_out_before.value
        == 1
    )


def test_the_reference_is_a_level_of_complete_records():
    rows = {"y": [None, None, None, 1.0, 2, 4, 3], "g": ["a", "a", "a", "b", "b", "c", "c"]}
    found = kept("y ~ g", pa.table(rows))
    assert [one.name for one in found.estimates] == ["(constant)", "g=c"]
    assert found.estimates[1].before.value == pytest.approx(2)
    table = pa.table({"y": [1.0, 2, 4], "w": [0.0, 0.0, 0.0]})
    assert "none with all values has a weight" in kept("y ~ 1", table, weight="w").reason


def test_levels_of_one_file_are_named_and_not_compared():
    before = pa.table({"y": [1.0, 2, 4, 3, 5, 9], "g": ["a", "a", "b", "b", "c", "c"]})
    after = pa.table({"y": [1.0, 2, 4, 3, 5, 9], "g": ["a", "a", "b", "b", "d", "d"]})
    found = kept("y ~ g", before, protected=after)
    assert [one.name for one in found.estimates] == ["(constant)", "g=b"]
    assert (found.only_before, found.only_after) == (("g=c",), ("g=d",))
    none = kept("y ~ g", before, protected=after.set_column(1, "g", pa.array(list("ddeeff"))))
    assert none == Unavailable("no level of g is in both files")


@given(st.permutations(range(60)))
def test_the_order_of_records_does_not_matter(order):
    table = people(60)
    other = table.take(order)
    one, two = kept("income ~ age + sex", table), kept("income ~ age + sex", other)
    for a, b in zip(one.estimates, two.estimates):
        assert a.before.value == pytest.approx(b.before.value)
        assert a.before.standard_error == pytest.approx(b.before.standard_error)


def test_many_chunks(monkeypatch):
    table = people()
    whole = [kept("income ~ age + sex", table), kept("work ~ age + sex", table)]
    monkeypatch.setattr(model_fit, "AT_HAND", 7)
    for one, other in zip(
        whole, [kept("income ~ age + sex", table), kept("work ~ age + sex", table)]
    ):
        for a, b in zip(one.estimates, other.estimates):
            assert a.before.high == pytest.approx(b.before.high)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """95 % intervals of the coefficient of sex in both models, over repeated draws."""
    hit = np.zeros(2)
    repeats = 250
    for seed in range(repeats):
        table = people(150, seed=seed)
        for j, (request, truth) in enumerate(
            [("income ~ age + sex", -3), ("work ~ age + sex", -1)]
        ):
            sex = kept(request, table).estimates[-1].before
            hit[j] += sex.low <= truth <= sex.high
    error = (0.95 * 0.05 / repeats) ** 0.5
    assert np.all(np.abs(hit / repeats - 0.95) < 3.5 * error)


def test_a_table():
    table = pa.table({"a": ["x", "x", "y", "y", None], "b": [1, 1, 1, 2, 2]})
    after = pa.table({"a": ["x", "y", "y", "y", "x"], "b": [1, 1, 1, None, 2]})
    found = kept("table:a,b", table, protected=after)
    assert {one.name: (one.before.value, one.after.value) for one in found.estimates} == {
        "a=x, b=1": (0.5, 0.25),
        "a=x, b=2": (0, 0.25),
        "a=y, b=1": (0.25, 0.5),
        "a=y, b=2": (0.25, 0),
    }
    assert found.distance.value == 0.5
    assert (found.left_out_before.value, found.left_out_after.value) == (1, 1)
    # Wilson's interval of 2 in 4, and of 0 in 4 (Newcombe 1998, by his formula).
    z = norm.ppf(0.975)
    half = z * (4 * 0.25 * 4 + z**2) ** 0.5 / (2 * (4 + z**2))
    first = found.estimates[0].before
    assert (first.low, first.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert found.estimates[1].before.low == 0
    assert found.estimates[1].before.high == pytest.approx(z**2 / (4 + z**2))
    assert isinstance(found.estimates[1].standardised_difference, Unavailable)
    assert found.estimates[0].standardised_difference.value == pytest.approx(-1)
    json.dumps(found.to_json(), allow_nan=False)


def test_a_weighted_table():
    table = pa.table({"a": ["x", "y", "y"], "w": [2.0, 1.0, 1.0]})
    found = kept("table:a", table, weight="w")
    assert found.estimates[0].before.value == 0.5
    assert found.estimates[0].before.standard_error == pytest.approx((0.25 / (16 / 6)) ** 0.5)


def interval(low, high):
    return Figure(value=(low + high) / 2, how=How.ESTIMATE, low=low, high=high)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [((0, 2), (0, 2), 1), ((0, 2), (1, 3), 0.5), ((0, 4), (1, 2), 0.625), ((0, 1), (2, 3), 0),
     ((1, 1), (1, 1), 1), ((1, 1), (0, 2), 0.5)],
)  # fmt: skip
def test_overlap_by_hand(one, other, overlap):
    assert interval_overlap(interval(*one), interval(*other)) == overlap
    assert interval_overlap(interval(*other), interval(*one)) == overlap


def refused(request, **columns):
    found = kept(request, pa.table(columns))
    assert isinstance(found, Unavailable)
    return found.reason


def test_what_cannot_be_fitted():
    y, a = [1.0, 2.0, 4.0, 3.0], [1.0, 2.0, 3.0, 4.0]
    twice = [2.0, 4.0, 6.0, 8.0]
    assert "follow from the others" in refused("y ~ a + b", y=y, a=a, b=twice)
    assert "no more records than the 4" in refused("y ~ a", y=y, a=["p", "q", "r", "s"])
    assert "without error" in refused("y ~ a", y=twice, a=a)
    assert "has all values" in refused("y ~ a", y=y, a=pa.array([None] * 4, pa.float64()))
    assert "g has 3 levels" in refused("g ~ a", g=["p", "q", "r", "r"], a=a)
    assert "g has a single level" in refused("g ~ a", g=["p"] * 4, a=a)
    both = {"a": ["y", "y", "x", "x"], "b": ["p", "p", "q", "q"]}
    assert "one response only" in refused("g ~ a + b", g=["1", "1", "0", "0"], **both)
    assert "g has no value" in refused("g ~ a", g=pa.array([None] * 4, pa.string()), a=a)
    assert "decide the response" in refused("g ~ a", g=["p", "p", "q", "q"], a=a)
    assert "none of the original" in refused("table:a", a=pa.array([None] * 4, pa.string()))


def test_a_level_that_decides_the_response_is_left_out_with_its_records():
    table = people()
    fixed = [
        ("yes" if s == "f" and a < 25 else w)
        for w, s, a in zip(*(table[c].to_pylist() for c in ("work", "sex", "age")))
    ]
    young = pa.array(
        [
            ["no", "yes"][a < 25 and s == "f"]
            for a, s in zip(table["age"].to_pylist(), table["sex"].to_pylist())
        ]
    )
    after = table.set_column(3, "work", pa.array(fixed)).append_column("young", young)
    before = table.append_column("young", young)
    found = kept("work ~ sex + young + age", before, protected=after)
    assert found.only_before == ("young=yes",)
    assert found.notes == (
        "all protected records of young=yes have the same response, so it has no finite estimate",
    )
    assert found.records_after.value == 400
    rest = kept("work ~ sex + age", after.filter(pa.compute.equal(young, "no")))
    for one, other in zip(found.estimates, rest.estimates):
        assert one.after.value == pytest.approx(other.before.value)
        assert one.after.standard_error == pytest.approx(other.before.standard_error)


def test_a_single_level_on_one_side_and_a_column_that_is_gone():
    table = people(50)
    one = table.set_column(3, "work", pa.array(["yes"] * 50))
    assert "single level in one of the files" in kept("work ~ age", table, protected=one).reason
    assert kept("work ~ age", table, protected=table.drop(["age"])) == Unavailable(
        "the protected file has no column age"
    )


def test_bounds(monkeypatch):
    monkeypatch.setattr(analysis, "MOST_COEFFICIENTS", 2)
    assert "would have 3 coefficients" in kept("income ~ age + sex", people(50)).reason
    monkeypatch.setattr(table_kept, "MOST_TABLE_CELLS", 3)
    assert "more than 3 cells" in kept("table:sex,work", people(50)).reason


def test_the_constant_alone():
    found = kept("income ~ 1", people(50))
    assert [one.name for one in found.estimates] == ["(constant)"]
    assert found.overlap.value == 1
    assert isinstance(found.sign_changed, Unavailable)


def test_numbers_against_text_are_categories():
    numbers = pa.table({"y": [1.0, 2, 4, 3], "a": [1, 1, 2, 2]})
    texts = numbers.set_column(1, "a", pa.array(["1", "1", "2", "2"]))
    floats = numbers.set_column(1, "a", pa.array([1.0, 1.0, 2.0, 2.0]))
    coded = numbers.set_column(1, "a", texts["a"].dictionary_encode())
    for one, other in [(numbers, texts), (texts, floats), (coded, texts)]:
        found = kept("y ~ a", one, protected=other)
        assert [e.name for e in found.estimates] == ["(constant)", "a=2"]
        assert found.estimates[1].after.value == pytest.approx(2)


def test_errors_of_the_caller():
    table = people(20)
    with pytest.raises(InputError, match="keep must be a formula such as .*, got 'agee'"):
        kept("income ~ agee", table)
    with pytest.raises(WeightError, match="weight must be a number of 0 or more"):
        kept("income ~ age", table.set_column(4, "w", pa.array([-1.0] * 20)), weight="w")


def test_requests():
    found = analysis_request(" income ~ age + sex + sex:age + age")
    assert found.response == "income"
    assert found.terms == (("age",), ("sex",), ("sex", "age"))
    assert analysis_request("`a~b` ~ `x + y`").columns == ("a~b", "x + y")
    assert analysis_request("table: age, marital status").terms == (("age", "marital status"),)
    assert analysis_request("table:`a,b`").predictors == ("a,b",)
    assert analysis_request("y ~ 1").terms == ()


@pytest.mark.parametrize(
    "text",
    ["", "income", "y ~", "~ a", "y ~ a ~ b", "y ~ a*b", "y ~ a + ", "y ~ y", "y ~ a:a",
     "y ~ a:b:c", "table:", "table:a,,b", "table:a,a", "y ~ log(a)", "y ~ ``"],
)  # fmt: skip
def test_what_is_no_request(text):
    with pytest.raises(InputError, match="keep must be"):
        analysis_request(text)
