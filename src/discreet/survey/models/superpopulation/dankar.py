"""The decision rule of Dankar, El Emam, Neisa and Roffey (2012).

At a sampling fraction of at most 0.1 Pitman's model; above it the slide negative binomial or
Zayatz' estimate, whichever is lower. Where the model that the rule names cannot be fitted, Zayatz
stands in for it. The rule came from trials on six clinical data sets.
"""

from dataclasses import dataclass, replace

from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import FittedSuperpopulation, Totals
from discreet.survey.models.superpopulation.model import SuperpopulationModel
from discreet.survey.models.superpopulation.negative_binomial import NegativeBinomial
from discreet.survey.models.superpopulation.pitman import Pitman
from discreet.survey.models.superpopulation.zayatz import Zayatz

SMALL_FRACTION = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Dankar(SuperpopulationModel):
    """Pitman, slide negative binomial or Zayatz, as the rule says."""

    name: str = "dankar"
    assumption: str = (
        "The model that the rule names for this sampling fraction holds: Pitman's up to 0.1, above "
        "it the lower of the slide negative binomial and Zayatz' estimate."
    )

    def fit_totals(self, totals: Totals) -> FittedSuperpopulation:
        """The fitted model of the rule's choice; its parameter `chosen` names it."""
        small = totals.sampling_fraction <= SMALL_FRACTION
        named = Pitman(confidence=self.confidence) if small else None
        chosen = self._first(named or NegativeBinomial(confidence=self.confidence), totals)
        if not small and chosen.name != "zayatz":
            chosen = min(self._zayatz(totals), chosen, key=lambda fit: fit.population_uniques)
        note = f"{chosen.note}; the rule chose {chosen.name}"
        return replace(chosen, name=self.name, note=note, details={"chosen": chosen.name})

    def _first(self, model: Pitman | NegativeBinomial, totals: Totals) -> FittedSuperpopulation:
        """The fit of the model, or Zayatz' where it has none."""
        try:
            return model.fit_totals(totals)
        except ModelUnavailable:
            return self._zayatz(totals)

    def _zayatz(self, totals: Totals) -> FittedSuperpopulation:
        return Zayatz(confidence=self.confidence).fit_totals(totals)
