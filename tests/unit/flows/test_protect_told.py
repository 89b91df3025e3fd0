"""What a protection says of itself, and what steps beside the recodings leave known."""

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.report.protect.document import protect_document
from discreet.report.render_terminal import WIDTH, print_blocks

KEYS = ["age", "sex", "town"]


def _frame(n=400):
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": rng.integers(0, 40, n),
            "sex": rng.integers(0, 2, n),
            "town": rng.choice(["a", "b", "c, d"], n, p=[0.6, 0.39, 0.01]),
            "weight": np.full(n, 10.0),
        }
    )


def _protected(**options):
    asked = {"min_k": 3, "frontier": False, "weight": "weight"} | options
    return discreet.protect(_frame(), KEYS, **asked)


def _text(found):
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    console = Console(file=text, width=WIDTH, color_system=None)
    print_blocks(console, protect_document(found).blocks, has_page=True)
    return " ".join(text.getvalue().split())


def test_python_prints_what_was_changed():
    assert "Changed: put age into bands" in repr(_protected())


def test_the_size_of_the_population_is_known_without_the_weights():
    found = _protected(steps=["remove_weights()"], max_risk=0.9)
    assert found.assessment.summary.population_size == 4000
    assert found.verdict.ruling is discreet.Ruling.KEPT


@pytest.mark.parametrize(
    ("step", "by_chance"),
    [("remove_weights()", False), ("remove_columns(columns=weight)", False), ("shuffle()", True)],
)
def test_only_chance_needs_a_seed(step, by_chance):
    assert (_protected(steps=[step]).recipe.seed is not None) == by_chance


def test_no_rare_level_is_no_step():
    found = _protected(recode=["sex=rare(2)"])
    assert "same" not in [step.name for step in found.steps]
    again = discreet.read_recipe(found.recipe.to_data())
    assert again.steps == found.steps


def test_rare_levels_may_be_told_by_persons_where_there_are_weights():
    found = _protected(recode=["town=rare(population=500)"], search=False)
    assert found.steps[0].levels == ("c, d",)
    assert "merge 'c, d' of town into 'other'" in found.steps[0].in_words


def test_a_goal_that_a_later_step_breaks_says_which():
    found = _protected(steps=[discreet.Subsample(share=0.3)], seed=1)
    assert not found.reached
    assert found.closest[0].startswith("A sample of the records comes last")
    assert "no suppression can do with fewer" not in _text(found)


def test_a_weak_guarantee_is_called_weak():
    weak, strong = _protected(guarantee="wildcard", search=False), _protected(search=False)
    assert "Do not rest on this alone" in _text(weak)
    assert "Do not rest on this alone" in " ".join(repr(weak).split())
    assert "Do not rest on this alone" not in _text(strong)


def test_nothing_done_is_told_as_what_it_is():
    failed = _protected(search=False, suppress="none")
    assert not failed.reached
    assert "Nothing that may be done helps." in _text(failed)
    assert "Nothing had to be changed." in _text(_protected(min_k=None, max_risk=1.0))


def test_the_loss_told_holds_the_recodings_that_were_asked_for():
    found = _protected(recode=["age=bands(20)"])
    whole = found.loss.arx.overall.value
    assert found.searched.loss < whole
    assert f"Loss {whole:.4f} (arx)" in _text(found)
