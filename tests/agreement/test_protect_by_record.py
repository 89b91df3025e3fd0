"""What comes out of a recipe, record by record, and what was promised of it."""

import json
from collections import Counter
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.masks.records.recoding import recodings_in
from discreet.protection.recipe import Recipe, read_recipe

KEYS = ("age", "sex", "job")


def made_up(n=300, seed=0):
    """A file with blanks, of which one cell is large so that it can spare records."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 60, n).astype(str),
            "sex": rng.choice(["m", "f"], n),
            "job": rng.choice(["baker", "smith", 'say "so"', "a;b", "größe"], n),
            "income": rng.normal(100, 10, n).round(2),
        }
    )
    frame.loc[frame.index[: n // 4], ["age", "sex", "job"]] = ["30", "f", "baker"]
    frame.loc[rng.choice(n, n // 20, replace=False), "job"] = None
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)


def rows_of(frame):
    """The keys of each record as texts, None for a missing value."""
    return [
        tuple(None if pd.isna(v) else str(v) for v in row)
        for row in frame[list(KEYS)].itertuples(index=False)
    ]


def slowly(before, recipe):
    """Each record after the recodings alone."""
    rows = [dict(zip(KEYS, row, strict=True)) for row in before]
    for step in recipe.steps:
        for how in recodings_in([step]):
            for row in rows:
                if row[how.key] is not None:
                    with suppress(ValueError):
                        row[how.key] = how.group(row[how.key])
    return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize("guarantee", ["strict", "candidates", "wildcard"])
@pytest.mark.parametrize("search", [True, False])
def test_records_are_recoded_and_lose_values_and_nothing_else(guarantee, search):
    before = made_up()
    found = discreet.protect(
        before, keys=KEYS, min_k=3, guarantee=guarantee, search=search, keep_keys=True,
        recode=["age=bands(10)"], frontier=False,
    )  # fmt: skip
    after = found.data
    assert after.columns.tolist() == before.columns.tolist()
    pd.testing.assert_frame_equal(after[["id", "income"]], before[["id", "income"]])
    wanted, shown = slowly(rows_of(before), found.recipe), rows_of(after)
    gone = Counter()
    for one, other in zip(wanted, shown, strict=True):
        for key, was, now in zip(KEYS, one, other, strict=True):
            assert now in (was, None)
            gone[key] += was is not None and now is None
    told = found.loss.suppressed_values
    assert {key: int(one.value) for key, one in told.by_key.items()} == {k: gone[k] for k in KEYS}
    assert told.overall.value == sum(gone.values())
    if guarantee == "strict":
        assert min(Counter(shown).values()) >= 3
        assert found.reached
    if guarantee == "candidates":
        for one in set(shown):
            fits = sum(all(a in (None, b) for a, b in zip(one, p, strict=True)) for p in wanted)
            assert fits >= 3


def test_spare_records_are_the_first_of_their_cell_in_the_order_of_the_file():
    before = pd.DataFrame({"age": ["30"] * 8, "sex": ["m"] * 8, "job": [*"aaaaaaa", "b"]})
    found = discreet.protect(before, keys=KEYS, min_k=3, search=False)
    shown = rows_of(found.data)
    assert Counter(shown) == {("30", "m", "a"): 5, ("30", "m", None): 3}
    parts = [row[2] is None for row in shown[:7]]
    assert parts in (sorted(parts), sorted(parts, reverse=True))  # a stretch, not here and there


FRAMES = [lambda f: f, pl.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False)]


@pytest.mark.parametrize("as_frame", FRAMES, ids=["pandas", "polars", "arrow"])
def test_frames_come_back_as_they_came_and_stay_as_they_were(as_frame):
    frame = as_frame(made_up())
    copy = as_frame(made_up())
    found = discreet.protect(frame, keys=KEYS, min_k=3, frontier=False)
    assert isinstance(found.data, type(frame))
    assert frame.equals(copy)
    back = found.data if isinstance(frame, pd.DataFrame) else found.data.to_pandas()
    wanted = discreet.protect(made_up(), keys=KEYS, min_k=3, frontier=False).data
    assert rows_of(back) == rows_of(wanted)
    assert back["income"].tolist() == wanted["income"].tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet", "dta", "arrow"])
def test_written_files_hold_the_same_and_keep_what_was_promised(tmp_path, ending):
    source, out = tmp_path / "in.csv", tmp_path / f"out.{ending}"
    frame = made_up()
    frame["job"] = frame["job"].str.replace("ö", "o") if ending == "dta" else frame["job"]
    frame.to_csv(source, index=False)
    bytes_before = source.read_bytes()
    options = {"keys": KEYS, "min_k": 3, "frontier": False, "population": 9000}
    found = discreet.protect(source, write=out, **options)
    assert source.read_bytes() == bytes_before
    again = tmp_path / f"again.{ending}"
    discreet.protect(source, write=again, **options)
    if ending != "dta":  # which holds the time
        assert again.read_bytes() == out.read_bytes()
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "dta": pd.read_stata,
            "arrow": pd.read_feather}[ending]  # fmt: skip
    shown = read(out)
    assert list(map(int, shown["id"])) == frame["id"].tolist()  # a CSV file has texts
    told = discreet.assess(out, keys=found.assessment.settings.options.key_names, min_k=3,
                           population=9000, missing="category")  # fmt: skip
    assert told.sample_uniques == found.assessment.sample_uniques
    assert told.verdict.ruling == found.verdict.ruling
    promised = found.assessment.recommended.expected_population_uniques
    assert told.recommended.expected_population_uniques == promised


def test_a_recipe_is_read_as_it_was_written_and_gives_the_same_file(tmp_path):
    source = tmp_path / "in.csv"
    made_up().to_csv(source, index=False)
    first = discreet.protect(
        source, keys=KEYS, min_k=3, write=tmp_path / "a.csv", frontier=False, seed=5,
        recode=["age=quantiles(4)", "job=rare(20,into=few)", "sex=rare(1)"],
        steps=["shuffle()", "remove_columns(columns=id)"],
    )  # fmt: skip
    first.recipe.write(tmp_path / "r.toml")
    assert read_recipe(tmp_path / "r.toml").to_data() == first.recipe.to_data()
    second = discreet.protect(
        source, keys=KEYS, recipe=tmp_path / "r.toml", write=tmp_path / "b.csv"
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert second.verdict is None
    assert "seed" not in first.recipe.to_data(secret=False)


def test_a_recipe_for_next_year_and_without_its_last_step(tmp_path):
    first = discreet.protect(made_up(), keys=KEYS, min_k=3, recode=["age=bands(10)"], search=False)
    later = made_up(seed=9)
    later.loc[0, ["age", "job"]] = ["97", "new job"]
    second = discreet.protect(later, keys=KEYS, recipe=first.recipe, min_k=3)
    assert second.reached
    shown = rows_of(second.data)
    assert {row[0] for row in shown} <= {f"{n}-{n + 9}" for n in range(10, 100, 10)} | {None}
    undone = discreet.protect(made_up(), keys=KEYS, recipe=first.recipe.without_last())
    assert rows_of(undone.data) == slowly(rows_of(made_up()), first.recipe)
    assert Recipe(keys=KEYS).without_last() == Recipe(keys=KEYS)


STEPS = ["pram(key=job,retention=.8)", "swap(key=job,share=.2,keeping=sex)", "subsample(share=.5)",
         "shuffle()", "round_weights(base=5)", "remove_weights()"]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_steps_by_chance_come_again_with_their_seed(step):
    frame = made_up(300).assign(w=np.linspace(20, 40, 300))
    needed = {"weight": "w"} if "weights" in step else {}
    options = {"keys": KEYS, "min_k": 2, "steps": [step], "closest": True, "frontier": False,
               "search": False, **needed}  # fmt: skip
    first, second = (discreet.protect(frame, seed=3, **options) for _ in range(2))
    pd.testing.assert_frame_equal(first.data, second.data)
    by_recipe = discreet.protect(frame, keys=KEYS, recipe=first.recipe, **needed)
    pd.testing.assert_frame_equal(first.data, by_recipe.data)
    assert first.recipe.seed == 3
    if step.startswith("subsample"):
        assert len(first.data) == 150
    else:
        assert sorted(first.data["id"]) == list(range(300))


def test_json_has_the_names_that_stay():
    from discreet.report.protect.json import protect_json

    told = protect_json(discreet.protect(made_up(), keys=KEYS, min_k=3))
    data = json.loads(json.dumps(told))
    assert {"verdict", "loss", "recipe", "frontier", "assessment"} <= set(data)
    taken = data["loss"]["suppressed_values"]
    assert set(taken) >= {"value", "how", "by_key"}
    assert taken["how"] == "exact"
    assert "changed_values" in data["loss"]
