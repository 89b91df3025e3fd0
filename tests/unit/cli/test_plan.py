"""discreet plan: complaints name the option that was typed."""

import pytest


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--cells", 1, "--population", 9, "--target-risk", 0.1), "--cells must be a whole number"),
        (("--cells", 9, "--population", 0, "--target-risk", 0.1), "--population must be a whole"),
        (("--cells", 9, "--population", 9, "--target-risk", 2), "--target-risk must be above 0"),
        (("--cells", 9, "--cells", 8, "--population", 9, "--target-risk", 1), "given once"),
    ],
)
def test_bad_numbers(discreet, options, part):
    assert part in discreet("plan", *options).complaint()
