"""The models by name."""

from collections.abc import Sequence

from discreet.data.columns import near_match
from discreet.errors import InputError, must_be
from discreet.survey.models.benedetti_franconi import BenedettiFranconi
from discreet.survey.models.cohen_sackrowitz import (
    CohenSackrowitzMultinomial,
    CohenSackrowitzUniform,
)
from discreet.survey.models.contract import Model
from discreet.survey.models.dis import DataIntrusionSimulation
from discreet.survey.models.lancaster import Lancaster
from discreet.survey.models.loglinear.model import LogLinear
from discreet.survey.models.sample_frequency import SampleFrequency
from discreet.survey.models.superpopulation.dankar import Dankar
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.negative_binomial import NegativeBinomial
from discreet.survey.models.superpopulation.pitman import Pitman
from discreet.survey.models.superpopulation.poisson_gamma import PoissonGamma
from discreet.survey.models.superpopulation.poisson_inverse_gaussian import PoissonInverseGaussian
from discreet.survey.models.superpopulation.zayatz import Zayatz

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        SampleFrequency(),
        CohenSackrowitzUniform(),
        CohenSackrowitzMultinomial(),
        BenedettiFranconi(),
        Lancaster(),
        LogLinear(),
        Ewens(),
        Pitman(),
        PoissonGamma(),
        PoissonInverseGaussian(),
        NegativeBinomial(),
        Zayatz(),
        Dankar(),
        DataIntrusionSimulation(),
    )
}


def choose_models(names: str | Sequence[str] = "auto") -> tuple[Model, ...]:
    """The named models in the order given, or all of them for 'auto'."""
    if names == "auto":
        return tuple(MODELS.values())
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if not wanted:
        raise InputError(must_be("models", "'auto' or at least one name", "none"))
    for name in wanted:
        if name not in MODELS:
            rule = "'auto' or among " + ", ".join(MODELS)
            near = near_match(str(name), list(MODELS))
            remedy = None if near is None else f"did you mean {near!r}?"
            raise InputError(must_be("models", rule, repr(name), remedy=remedy))
    return tuple(MODELS[name] for name in wanted)
