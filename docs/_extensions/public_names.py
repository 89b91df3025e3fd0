"""Types in signatures link to the name under which they are imported from `discreet`."""

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import discreet


def _public(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> Any:
    """The documented name of a type that is written by the module it lives in."""
    target = node.get("reftarget", "")
    name = target.rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in discreet.__all__:
        return None
    if not target.startswith("discreet.") and "." in target:
        return None
    python = env.get_domain("py")
    where = node.get("refdoc", env.docname)
    return python.resolve_xref(env, where, app.builder, "obj", f"discreet.{name}", node, shown)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("missing-reference", _public)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
