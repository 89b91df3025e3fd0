"""Plans of sample sizes: thousands marked, and how strong the multinomial prior is."""

import io

from rich.console import Console

from discreet.report.plan import plans_json, print_plans, write_plans
from discreet.survey.models.sample_size import plan_sample_size

PLANS = [plan_sample_size(1108, 46228, "0.05", prior) for prior in ("uniform", "multinomial")]


def test_the_strong_prior_is_told_everywhere(tmp_path):
    stream = io.StringIO()
    print_plans(Console(file=stream, width=80, highlight=False, markup=False), PLANS)
    text = " ".join(stream.getvalue().split())
    caution = "The multinomial prior is strong: it takes every person to fall in any cell"
    assert text.count(caution) == 1
    assert "about 41.7 people each" in text
    assert "uniform: at most 9,477 of 46,228 records may be taken." in text
    told = plans_json(PLANS)["priors"]
    assert told["uniform"]["caution"] is None
    assert told["multinomial"]["caution"].startswith(caution)
    write_plans(PLANS, tmp_path / "p.html")
    assert caution in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_no_caution_without_that_prior():
    stream = io.StringIO()
    print_plans(Console(file=stream, width=80, highlight=False, markup=False), PLANS[:1])
    assert "strong" not in stream.getvalue()
