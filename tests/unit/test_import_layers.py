"""Imports go only downward, and each third-party library has its home."""

import ast
from pathlib import Path

import pytest

import discreet

ROOT = Path(discreet.__file__).parent
# From the edges down; folders on one line never import each other.
LAYERS = [
    {"cli"},
    {"report"},
    {"flows"},
    {"choice", "protection"},
    {"survey", "tables", "count_tables"},
    {"policy"},
    {"masks"},
    {"belief"},
    {"fiber"},
    {"engines"},
    {"data"},
    {"numerics"},
]
BESIDE = {"papers", "synthetic"}  # a test and a demonstration of the product, which only cli starts
EVERYWHERE = {"clock", "errors", "figures", "notebooks", "option_types", "progress"}
HOMES = {
    "click": {"cli"},
    "rich": {"cli", "report", "synthetic"},
    "duckdb": {"engines"},
    "pyspark": {"engines"},
    "openpyxl": {"data"},
    "pyreadstat": {"data"},
    "jinja2": {"report"},
    "matplotlib": {"report"},
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


def allowed(here):
    """The folders and modules that one of the folders may import."""
    if here in EVERYWHERE:
        return EVERYWHERE
    if here in BESIDE:
        return EVERYWHERE | {here} | set().union(*LAYERS[1:])
    place = next((i for i, names in enumerate(LAYERS) if here in names), None)
    assert place is not None, f"{here} is no package of the design"
    below = set().union(*LAYERS[place + 1 :])
    return EVERYWHERE | below | {here} | (BESIDE if here == "cli" else set())


def test_every_layer_is_there():
    there = {package(module) for module in MODULES} - {"__init__"}
    assert there == EVERYWHERE | BESIDE | set().union(*LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downward(path):
    here = package(path)
    if here == "__init__":  # the way in names what it offers, loaded when first used
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "discreet":
            assert len(parts) > 1
            assert parts[1] in allowed(here), f"{here} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_third_party_libraries_stay_at_home(path):
    for name in imports(path):
        homes = HOMES.get(name.split(".")[0])
        assert homes is None or package(path) in homes, f"{path} imports {name}"
