"""Formulas as MathML, made when the pages are built: browsers draw them without any script.

The converter is docutils' own; a formula that it does not know is a warning, so the build fails.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

SAME = {r"\dots": r"\ldots"}  # commands that mean one thing and that the converter lacks


def _mathml(node: nodes.math | nodes.math_block, as_block: bool) -> str:
    text = node.astext().strip()
    for given, known in SAME.items():
        text = text.replace(given, known)
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        getLogger(__name__).warning("formula %r: %s", text, error, location=node)
        return ""


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
