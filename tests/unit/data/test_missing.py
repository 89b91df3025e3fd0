"""The policies for missing key values."""

import pytest

from discreet.data.missing import POLICIES, missing_policy
from discreet.errors import InputError


def test_each_policy_answers_to_its_name_and_says_what_it_means():
    assert {"category", "drop", "error"} <= set(POLICIES)
    for name, policy in POLICIES.items():
        assert missing_policy(name) is policy
        assert policy.name == name
        assert policy.meaning


def test_what_the_policies_do():
    assert missing_policy("category").is_a_level
    assert not missing_policy("drop").is_a_level
    assert missing_policy("drop").accepts
    assert not missing_policy("error").accepts


@pytest.mark.parametrize("name", ["", "Drop", "ignore"])
def test_an_unknown_policy_is_refused_with_the_list(name):
    with pytest.raises(InputError, match="missing must be one of .*category.*drop.*, got '"):
        missing_policy(name)
