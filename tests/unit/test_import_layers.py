"""Imports go only downward, and each third-party library has its home."""

import ast
from pathlib import Path

import pytest

import discreet

ROOT = Path(discreet.__file__).parent
LAYERS = [
    "cli",
    "server",
    "papers",
    "report",
    "ledger",
    "release",
    "masks",
    "risk",
    "compoisson",
    "tables",
    "models",
    "fiber",
    "engines",
    "data",
    "numerics",
]
EVERYWHERE = {"errors", "figures", "notebooks", "progress"}
HOMES = {
    "click": {"cli"},
    "rich": {"cli", "report"},
    "duckdb": {"engines"},
    "pyreadstat": {"data"},
    "jinja2": {"report"},
    "matplotlib": {"report"},
    "fastapi": {"server"},
    "starlette": {"server"},
    "sqlalchemy": {"ledger"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def imports(path):
    """Dotted names of all that a module imports, wherever in the module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package(path):
    """The first folder below discreet, or the name of a module at the top."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def test_there_is_something_to_check():
    assert {"cli", "report", "risk", "models", "engines", "data"} <= {package(m) for m in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downward(path):
    here = package(path)
    if here == "__init__":  # the way in names what it offers, loaded when first used
        return
    allowed = EVERYWHERE | {here}
    if here in LAYERS:
        allowed |= set(LAYERS[LAYERS.index(here) :])
    else:
        assert here in EVERYWHERE, f"{here} is no package of the design"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "discreet":
            assert len(parts) > 1
            assert parts[1] in allowed, f"{here} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_third_party_libraries_stay_at_home(path):
    for name in imports(path):
        homes = HOMES.get(name.split(".")[0])
        assert homes is None or package(path) in homes, f"{path} imports {name}"
