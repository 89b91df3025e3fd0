"""What the library says is for users of Python too: no text below the reports names an option of
the command line."""

import ast
import re
from pathlib import Path

import pytest

import discreet

ROOT = Path(discreet.__file__).parent
EDGES = {"cli", "report"}
OPTION = re.compile(r"(?<![\w-])--[a-z]")
MODULES = sorted(
    path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] not in EDGES
)


def texts(path):
    """Every text of a module that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_names_an_option(path):
    assert [text for text in texts(path) if OPTION.search(text)] == []
