"""What results can do for whoever has them in Python: show themselves, become frames and JSON.

Results lie below the reports in the layers, so the reports are looked up by name when someone asks
for them, and only then.
"""

import copyreg
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
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


class Result(ShownInNotebooks):
    """What every function returns: it shows itself in a few lines, or in full as a report; it
    becomes frames and JSON, and can be compared with another of its kind, pickled and read back.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        text: str = import_module("discreet.report.brief").brief(self)
        return text

    def to_json(self) -> dict[str, Any]:
        """All figures as `--json` prints them, in plain types; `read_result` reads them back."""
        found: dict[str, Any] = import_module("discreet.report.results").json_of(self)
        return found

    def tables(self) -> tuple[str, ...]:
        """The names of its tables, for `to_frame`; `figures`, the first, holds the main figures."""
        names: tuple[str, ...] = import_module("discreet.report.result_tables").names_of(self)
        return names

    def to_frame(self, name: str = "figures", kind: str | None = None) -> Any:
        """One of its tables as a frame, numbers as numbers and levels in their own types.

        `kind` is 'pandas', 'polars' or 'arrow'; by default pandas where it is installed, else an
        Arrow table.
        """
        return import_module("discreet.report.result_tables").frame_of_result(self, name, kind)

    def compare(self, other: Any) -> Any:
        """How the main figures and the verdict differ from this result to another of its kind, as a
        Comparison."""
        return import_module("discreet.report.comparing").compared(self, other)

    def write_report(self, path: str | Path, *, external: bool = False) -> None:
        """Write its report as one file, as `discreet.write_report` does."""
        import_module("discreet.report.writing").write_report(self, path, external=external)


def read_only_mapping(values: Mapping[Any, Any]) -> MappingProxyType[Any, Any]:
    """A mapping that cannot be changed; how such a one is made again from its pickle."""
    return MappingProxyType(dict(values))


def _pickled(mapping: Mapping[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    return read_only_mapping, (dict(mapping),)


# Frozen results hold read-only mappings, of which Python itself makes no pickles.
copyreg.pickle(MappingProxyType, _pickled)
