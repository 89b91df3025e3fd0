"""What the pages show is what the commands print."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "pages.py")
assert SPEC is not None
assert SPEC.loader is not None
pages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pages)


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_a_page_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    assert "\n\n".join(pages.differences(page, tmp_path)) == ""


def test_a_false_example_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ discreet --version\ndiscreet of another version\n```\n")
    assert list(pages.differences(page, tmp_path))
    page.write_text("```python\n>>> 1 + 1\n3\n```\n")
    assert list(pages.differences(page, tmp_path))


def test_dots_stand_for_any_lines() -> None:
    assert pages.fits(("a", "…", "d"), ["a", "b", "c", "d"])
    assert pages.fits(("a", "…"), ["a", "b"])
    assert not pages.fits(("a", "…", "e"), ["a", "b", "c", "d"])
    assert not pages.fits(("a",), ["a", "b"])
