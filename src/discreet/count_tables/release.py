"""What goes out under the count policy, and what an intruder makes of it.

n may be withheld; e^S2 goes out by its prime factors, which is the same as exactly, or S2 as a
decimal, rounded or truncated.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.count_tables.decimals import TruncatedReconstruction, reconstruct_truncated
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.notation import write_factorisation
from discreet.count_tables.rebuilding import Effort, Reconstruction, reconstruct
from discreet.count_tables.statistics import CountStatistics, DecimalLog, decimal_log
from discreet.figures import Unavailable
from discreet.progress import Progress, silent

Attack = Reconstruction | TruncatedReconstruction | Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRelease:
    """n or None, S1, and S2 as an exact factorisation of e^S2 or as a decimal."""

    n: int | None
    total: int
    log_factorial_total: Mapping[int, int] | DecimalLog

    @property
    def is_exact(self) -> bool:
        """Is S2 out to the last digit?"""
        return not isinstance(self.log_factorial_total, DecimalLog)

    @property
    def words(self) -> str:
        """The format in words, without the figures."""
        held = "n withheld" if self.n is None else "n"
        if not isinstance(self.log_factorial_total, DecimalLog):
            return f"{held}, S1 and the exact factorisation of e^S2"
        how = "truncated" if self.log_factorial_total.truncated else "rounded"
        return f"{held}, S1 and S2 {how} to {_decimals(self.log_factorial_total)}"

    def lines(self) -> tuple[str, ...]:
        """The figures to print, one a line."""
        released = self.log_factorial_total
        if isinstance(released, DecimalLog):
            how = "truncated" if released.truncated else "rounded"
            last = f"S2 = {released.value} ({how} to {_decimals(released)})"
        else:
            last = f"e^S2 = {write_factorisation(released)}"
        first = () if self.n is None else (f"n = {self.n}",)
        return (*first, f"S1 = {self.total}", last)


def _decimals(released: DecimalLog) -> str:
    return f"{released.decimals} decimal" + ("" if released.decimals == 1 else "s")


def release_of(
    statistics: CountStatistics,
    *,
    decimals: int | None = None,
    truncate: bool = False,
    withhold_n: bool = False,
) -> CountRelease:
    """The release of a table's statistics; S2 is exact unless a number of decimals is given."""
    exact = decimals is None
    return CountRelease(
        n=None if withhold_n else statistics.n,
        total=statistics.total,
        log_factorial_total=(
            statistics.factorisation
            if exact
            else decimal_log(statistics, int(decimals or 0), truncate=truncate)
        ),
    )


def attack(
    release: CountRelease,
    knowledge: Knowledge | None = None,
    *,
    truth: Mapping[int, int] | None = None,
    effort: Effort | None = None,
    progress: Progress = silent,
) -> Attack:
    """What an intruder finds from the release and what he knows; the truth is scored if given."""
    released = release.log_factorial_total
    if not isinstance(released, DecimalLog):
        sums = ReleasedSums(release.n, release.total, released)
        return reconstruct(sums, knowledge, truth=truth, effort=effort, progress=progress)
    progress("searching all factorisations", None)
    return reconstruct_truncated(
        release.n, release.total, released, knowledge, truth=truth, effort=effort
    )
