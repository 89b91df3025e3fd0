"""Plans of sample sizes: thousands marked, and how strong the multinomial prior is."""

from tests.unit.report.showing import page_words, terminal_words

from discreet.report.plan import plan_document, plan_json
from discreet.survey.models.sample_size import plan_sample_size

PLANS = [plan_sample_size(1108, 46228, "0.05", prior) for prior in ("uniform", "multinomial")]
STRONG = "The multinomial prior is strong: every person falls in any cell with the same chance"


def test_the_strong_prior_is_told_everywhere():
    document = plan_document(PLANS)
    text = terminal_words(document)
    assert text.count(STRONG) == 1
    assert "about 41.7 people each" in text
    assert "uniform: at most 9,477 of 46,228 records may be taken." in text
    assert STRONG in page_words(document)
    told = plan_json(PLANS)["priors"]
    assert "caution" not in told["uniform"]
    assert told["multinomial"]["caution"].startswith(STRONG)


def test_no_caution_without_that_prior():
    assert "strong" not in terminal_words(plan_document(PLANS[:1]))
