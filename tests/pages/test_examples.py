"""The files of examples/ are those that its scripts make; the scripts themselves run with the
pages.
"""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_a_made_up_file_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_data", EXAMPLES / "make_data.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.setattr(made, "HERE", tmp_path)
    made.infections()
    made.allowance()
    files = list(tmp_path.iterdir())
    assert len(files) == 5
    for file in files:
        assert file.read_text() == (EXAMPLES / file.name).read_text()


def test_every_script_is_run_by_a_page() -> None:
    pages = "".join(page.read_text() for page in (EXAMPLES.parent / "docs").rglob("*.md"))
    scripts = {path.name for path in EXAMPLES.glob("*.py")} - {"make_data.py"}
    assert scripts
    assert all(f"$ python examples/{name}" in pages for name in scripts)
