"""Plans of sample sizes: thousands marked, and how strong the multinomial prior is."""

from discreet.report.plan import plan_document, plan_json
from discreet.survey.models.sample_size import plan_sample_size

PLANS = [plan_sample_size(1108, 46228, "0.05", prior) for prior in ("uniform", "multinomial")]
STRONG = "The multinomial prior is strong: every person falls in any cell with the same chance"


def test_the_strong_prior_is_told_everywhere(on_terminal, on_page):
    document = plan_document(PLANS)
    text = on_terminal(document)
    assert text.count(STRONG) == 1
    assert "about 41.7 people each" in text
    assert "uniform: at most 9,477 of 46,228 records may be taken." in text
    assert STRONG in on_page(document)
    told = plan_json(PLANS)["priors"]
    assert "caution" not in told["uniform"]
    assert told["multinomial"]["caution"].startswith(STRONG)


def test_no_caution_without_that_prior(on_terminal):
    assert "strong" not in on_terminal(plan_document(PLANS[:1]))
