"""No number of a secret rule reaches what leaves the agency."""

import re

import numpy as np
import pytest

from discreet.choice.options import ChooseOptions
from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.flows.choose import choose
from discreet.policy.policy import Policy
from discreet.policy.table_rules import PrintedCounts, Rounded
from discreet.report.audit.external import external_document as outside_of_audit
from discreet.report.choose.external import external_document as outside_of_choice
from discreet.report.render_html import page_of

SECRET = Policy(
    name="secret-one",
    version="1",
    rules=(Rounded(limit=37, secret=True), PrintedCounts(limit=41, secret=True)),
    mask="rounding:base=37",
)
TABLE = Table.of_dense(np.array([[300, 40, 510], [220, 480, 333]]), names=["a", "b"])


def numbers(page):
    """All whole numbers in the text of a page, styles and scripts left out."""
    text = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.S)
    return {int(one) for one in re.findall(r"\d+", text)}


def test_an_audit_tells_no_secret_number():
    found = audit(TABLE, [["a", "b"]], policy=SECRET, nesting=False)
    assert [judged.secret for judged in found.verdict.rules] == [True, True]
    assert not numbers(page_of(outside_of_audit(found, "t.csv"))) & {37, 40, 41}


@pytest.mark.parametrize("masks", [None, "rounding:base=37", "margins"])
def test_a_choice_tells_no_secret_number_not_even_as_a_parameter_of_its_mask(masks):
    options = ChooseOptions(policy=SECRET, seed=1, nesting=False)
    found = choose(TABLE, masks, options)
    page = page_of(outside_of_choice(found, "t.csv"))
    assert not numbers(page) & {37, 40, 41}
    if masks != "margins":
        assert found.chosen.masked.parameters["base"] == 37
        assert "rounded figures" in page.lower()
