"""The models by name, each loaded when it is first asked for."""

from collections.abc import Iterator, MutableMapping, Sequence
from importlib import import_module

from discreet.data.columns import near_match
from discreet.errors import InputError, must_be
from discreet.survey.models.contract import Model

PLACES = {  # name: module and class
    "sample_frequency": ("sample_frequency", "SampleFrequency"),
    "cohen_sackrowitz_uniform": ("cohen_sackrowitz", "CohenSackrowitzUniform"),
    "cohen_sackrowitz_multinomial": ("cohen_sackrowitz", "CohenSackrowitzMultinomial"),
    "benedetti_franconi": ("benedetti_franconi", "BenedettiFranconi"),
    "lancaster": ("lancaster", "Lancaster"),
    "loglinear": ("loglinear.model", "LogLinear"),
    "ewens": ("superpopulation.ewens", "Ewens"),
    "pitman": ("superpopulation.pitman", "Pitman"),
    "poisson_gamma": ("superpopulation.poisson_gamma", "PoissonGamma"),
    "poisson_inverse_gaussian": (
        "superpopulation.poisson_inverse_gaussian",
        "PoissonInverseGaussian",
    ),
    "negative_binomial": ("superpopulation.negative_binomial", "NegativeBinomial"),
    "zayatz": ("superpopulation.zayatz", "Zayatz"),
    "dankar": ("superpopulation.dankar", "Dankar"),
    "dis": ("dis", "DataIntrusionSimulation"),
}


class _Models(MutableMapping[str, Model]):
    """The models in the order in which they are shown; a run that needs none loads none."""

    def __init__(self) -> None:
        self._held: dict[str, Model | None] = dict.fromkeys(PLACES)

    def __getitem__(self, name: str) -> Model:
        model = self._held[name]
        if model is None:
            module, kind = PLACES[name]
            model = getattr(import_module(f"discreet.survey.models.{module}"), kind)()
            self._held[name] = model
        return model

    def __setitem__(self, name: str, model: Model) -> None:
        self._held[name] = model

    def __delitem__(self, name: str) -> None:
        del self._held[name]

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


MODELS = _Models()


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
