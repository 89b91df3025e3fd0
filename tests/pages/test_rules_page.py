"""The page on rules has a section on each, which names all its parameters and shows it in TOML."""

import re
from pathlib import Path

import pytest

from discreet.policy.reading import RULES, parse_policy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "rules.md"
SECTIONS = dict(
    re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
)


def test_every_rule_has_its_section_and_no_other():
    assert list(SECTIONS) == list(RULES)


@pytest.mark.parametrize("name", RULES)
def test_a_section_names_every_parameter(name):
    kind = RULES[name]
    wanted = [*kind.limits_written(), *(field.name for field in kind.own_fields())]
    told = re.sub(r"```toml.*?```", "", SECTIONS[name], flags=re.DOTALL)
    assert [one for one in wanted if f"`{one}" not in told] == []
    assert "ndecided" in told or name == "rounded"  # which is read from the page


@pytest.mark.parametrize("name", RULES)
def test_the_example_of_a_rule_is_one(name):
    (example,) = re.findall(r"```toml\n(.*?)```", SECTIONS[name], re.DOTALL)
    head = 'format = 1\nname = "page"\nversion = "1"\n'
    (rule,) = parse_policy(head + example).rules
    assert rule.name == name
