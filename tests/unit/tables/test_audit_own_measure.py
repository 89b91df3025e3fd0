"""The page on hidden tables shows how to define a measure: its lines of Python are run."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "methods" / "hidden-tables.md"
BLOCKS = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_measure_of_the_page_comes_out_as_it_says(capsys):
    names: dict[str, Any] = {}
    blocks = BLOCKS.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    said = re.search(r"# (\d\.\d+)", blocks[1])
    assert said is not None
    assert capsys.readouterr().out.strip() == said[1]
    assert names["risk"] == pytest.approx(1 - names["belief"].cell(8)[0])


def test_the_measure_takes_about_a_dozen_lines():
    measure = BLOCKS.findall(PAGE.read_text(encoding="utf-8"))[1]
    assert len([line for line in measure.splitlines() if line.strip()]) <= 12
