"""What was found of a release, as far as rules are about it: plain data, the same from a result and
from its JSON, so that a policy says the same of both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from discreet.figures import Outcome, Unavailable, outcome_of

NOT_MEASURED = "it was not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One figure that rules may limit.

    `beyond` says of some limits how many records, cells or values are beyond them. `found` is what
    was found in words, a clause that no limit is needed for; `doubt` why it may not settle a rule.
    `concerns` name the tables, values or records it is about, `remedy` what would help. `nothing`
    says that there is nothing a rule on it could be about, as `found` tells: it is kept.
    """

    value: Outcome
    beyond: Mapping[float, int] = field(default_factory=lambda: MappingProxyType({}))
    found: str = ""
    doubt: str = ""
    concerns: tuple[str, ...] = ()
    remedy: str = ""
    nothing: bool = False

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON; what there is not is left out."""
        more = {
            "beyond": {repr(float(limit)): number for limit, number in self.beyond.items()},
            "found": self.found,
            "doubt": self.doubt,
            "concerns": list(self.concerns),
            "remedy": self.remedy,
            "nothing": self.nothing,
        }
        return {"value": self.value.to_json()} | {name: one for name, one in more.items() if one}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> "Finding":
        """The finding that JSON says; raises KeyError, TypeError or ValueError where it is none."""
        return cls(
            value=outcome_of(data["value"]),
            beyond={float(limit): int(n) for limit, n in data.get("beyond", {}).items()},
            found=str(data.get("found", "")),
            doubt=str(data.get("doubt", "")),
            concerns=tuple(str(one) for one in data.get("concerns", ())),
            remedy=str(data.get("remedy", "")),
            nothing=bool(data.get("nothing", False)),
        )


class Findings(Mapping[str, Finding]):
    """Findings by their names; a name may have a part after a colon, as in 'l:diagnosis'."""

    __slots__ = ("_found",)

    def __init__(self, found: Mapping[str, Finding]) -> None:
        self._found = dict(found)

    def __getitem__(self, name: str) -> Finding:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def the(self, name: str) -> Finding:
        """The finding of that name, or one that says that there is none."""
        return self._found.get(name, Finding(value=Unavailable(NOT_MEASURED)))

    def of(self, stem: str) -> Sequence[tuple[str, Finding]]:
        """All findings whose names begin with the stem and a colon, by what follows it."""
        found = ((name.partition(":"), one) for name, one in self._found.items())
        return [(parts[2], one) for parts, one in found if parts[0] == stem and parts[1]]

    def to_json(self) -> dict[str, Any]:
        """All of them by their names."""
        return {name: one.to_json() for name, one in self._found.items()}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> "Findings":
        """The findings that JSON says."""
        return cls({name: Finding.of_json(one) for name, one in data.items()})
