"""How the documentation site is built: `make docs`, offline, with every warning an error."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Discreet"
copyright = "the authors of Discreet"
release = version_of("discreet")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "mathml",
    "public_names",
]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"Discreet {release}"
html_static_path = ["_static"]
html_css_files = ["discreet.css"]
html_show_sphinx = False
templates_path: list[str] = []
exclude_patterns = ["_extensions", "figures/*.py", "figures/*.csv"]
root_doc = "index"
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
suppress_warnings = ["myst.strikethrough"]
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
nitpicky = False
pygments_style = "sphinx"
pygments_dark_style = "monokai"
