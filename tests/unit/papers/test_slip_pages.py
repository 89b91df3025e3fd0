"""Each page of docs/slips proves what it says: its lines of Python are run."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "slips"
ARGUMENTS = sorted(path for path in PAGES.glob("*.md") if path.name != "index.md")


@pytest.mark.parametrize("page", ARGUMENTS, ids=lambda page: page.stem)
def test_the_computation_of_the_page(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 1
    assert "assert " in blocks[0]
    exec(compile(blocks[0], page.name, "exec"), {"__name__": page.stem})


@pytest.mark.parametrize("page", ARGUMENTS, ids=lambda page: page.stem)
def test_the_page_says_what_is_printed(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "**Printed:**" in text or "not public" in text


def test_the_list_of_pages_is_complete():
    listed = re.findall(r"\]\(([a-z0-9-]+)\.md\)", (PAGES / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [page.stem for page in ARGUMENTS]


def test_links_lead_somewhere():
    for page in PAGES.glob("*.md"):
        for link in re.findall(r"\]\(([^)#]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
