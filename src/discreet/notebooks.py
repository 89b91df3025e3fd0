"""How results show themselves in a notebook: the same pages and plots as the reports.

Results lie below the reports in the layers, so the reports are looked up by name when a notebook
asks for them, and only then.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any


class ShownInNotebooks:
    """A result that a notebook shows as its report, and whose plots can be had one by one."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module("discreet.report.notebook").html_of(self)
        return html

    def plots(self) -> Mapping[str, Any]:
        """The plots of its report by name; each shows itself in a notebook and has `save`."""
        found: Mapping[str, Any] = import_module("discreet.report.notebook").plots_of(self)
        return found
