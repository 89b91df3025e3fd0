"""Models by name."""

import pytest

from discreet.errors import InputError
from discreet.survey.models.registry import MODELS, choose_models


def test_each_model_answers_to_its_name_and_says_what_it_assumes():
    assert "sample_frequency" in MODELS
    for name, model in MODELS.items():
        assert model.name == name
        assert name.isidentifier()
        assert model.assumption.endswith(".")


def test_auto_is_a_choice_of_models():
    chosen = choose_models("auto")
    assert chosen
    assert len({model.name for model in chosen}) == len(chosen)


def test_names_in_the_order_given_each_once():
    names = list(MODELS)[::-1]
    assert [model.name for model in choose_models([*names, names[0]])] == names
    assert choose_models("sample_frequency") == (MODELS["sample_frequency"],)


@pytest.mark.parametrize("names", ["", "nobody", ["sample_frequency", "nobody"], ["auto"], [""]])
def test_an_unknown_name_is_refused_with_the_list(names):
    with pytest.raises(InputError, match=r"models must be 'auto' or among .*sample_frequency"):
        choose_models(names)
