"""Contestants side by side: the same job, the same start, the median of an odd number of runs."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median_low

from benchmarks.measuring import Cost, Failed, Start, measured, told

LONG = 30.0  # seconds of wall time beyond which a run is not repeated
NAME, LEFT = 58, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Someone who does the job. `note` says where it is more, or less, than the job of the first.

    A rival's time is compared with ours; without `rival` it is one more row of our own.
    """

    name: str
    start: Start
    command: tuple[str, ...]
    rival: bool = False
    note: str = ""
    answer: Callable[[str], object] = lambda _: ""
    codes: tuple[int, ...] = (0,)
    cold: bool = False
    limit: float = 300.0

    def run_once(self) -> Cost:
        """One run, or the median that the job itself took of several."""
        if self.start is Start.IN_PROCESS:
            return told(self.command, limit=self.limit)
        return measured(
            self.command, answer=self.answer, codes=self.codes, limit=self.limit, cold=self.cold
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRun:
    """A rival that is not run here, why, and its figure where someone else measured one [s]."""

    name: str
    why: str
    seconds: float | None = None

    def __str__(self) -> str:
        if self.seconds is None:
            return f"not run here: {self.why}"
        return f"{self.seconds:g} s cited, not run here: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One job and all who do it; the first contestant is ours, and ratios are to it.

    Checked: all contestants start alike. `prepare` makes the files they need, before any clock.
    """

    title: str
    contestants: Sequence[Contestant]
    not_run: Sequence[NotRun] = ()
    runs: int = 3
    prepare: Callable[[], object] = lambda: None

    def __post_init__(self) -> None:
        starts = {contestant.start for contestant in self.contestants}
        if len(starts) > 1:
            raise ValueError(f"{self.title}: contestants must start alike, got {sorted(starts)}")
        if self.runs % 2 == 0:
            raise ValueError(f"{self.title}: runs must be odd, got {self.runs}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out of a comparison: a cost or a reason for each contestant, in their order."""

    comparison: Comparison
    outcomes: dict[str, Cost | Failed]

    @property
    def ours(self) -> Cost | Failed:
        """That of the first contestant."""
        return self.outcomes[self.comparison.contestants[0].name]


def compare(comparison: Comparison) -> Result:
    """Run all contestants in turn, round by round, so that a noisy machine troubles all alike."""
    print(f"\n{comparison.title} ({comparison.contestants[0].start})", flush=True)
    comparison.prepare()
    _compile(comparison)
    costs: dict[str, list[Cost]] = {each.name: [] for each in comparison.contestants}
    failures: dict[str, Failed] = {}
    for number in range(comparison.runs):
        for each in comparison.contestants:
            if number and _is_done(costs[each.name], each):
                continue
            try:
                costs[each.name].append(each.run_once())
            except Failed as why:
                failures[each.name] = why
    outcomes: dict[str, Cost | Failed] = {
        name: failures.get(name) or _median(runs) for name, runs in costs.items()
    }
    result = Result(comparison=comparison, outcomes=outcomes)
    _print(result)
    return result


def _compile(comparison: Comparison) -> None:
    """One run of ours that does not count, where cold and warm are told apart."""
    if any(each.cold for each in comparison.contestants):
        with contextlib.suppress(Failed):
            comparison.contestants[0].run_once()


def _is_done(runs: list[Cost], contestant: Contestant) -> bool:
    """Whether more runs are of no use: it failed, took long, or repeats within its process."""
    return not runs or contestant.start is Start.IN_PROCESS or runs[0].wall > LONG


def _median(runs: list[Cost]) -> Cost:
    middle = median_low(sorted(cost.cpu for cost in runs))
    cost = next(cost for cost in runs if cost.cpu == middle)
    wall = median_low(sorted(each.wall for each in runs))
    peak = max(each.peak_mib for each in runs)
    return Cost(wall, cost.cpu, peak, cost.answer, max(len(runs), cost.runs))


def _print(result: Result) -> None:
    print(f"  {'':<{NAME}}{'CPU s':>9}{'wall s':>9}{'peak MiB':>10}{'CPU ratio':>11}{'runs':>6}")
    for each in result.comparison.contestants:
        outcome = result.outcomes[each.name]
        if isinstance(outcome, Failed):
            print(f"  {each.name:<{NAME}} no figure: {outcome}")
            continue
        ratio = "" if isinstance(result.ours, Failed) else said(outcome.cpu / result.ours.cpu)
        print(
            f"  {each.name:<{NAME}}{said(outcome.cpu):>9}{said(outcome.wall):>9}"
            f"{outcome.peak_mib:>10.0f}{ratio:>11}{outcome.runs:>6}  {outcome.answer}"
        )
    for absent in result.comparison.not_run:
        print(f"  {absent.name:<{NAME}} {absent}")
    for contestant in result.comparison.contestants:
        if contestant.note:
            print(f"    {contestant.name}: {contestant.note}")
    print(end="", flush=True)


def said(number: float) -> str:
    """Three digits or so."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number >= 0.001 else f"{number:.1e}"


def summarise(results: Sequence[Result]) -> None:
    """One line for each rival: its time over ours, and where ours is the longer one."""
    print("\nSummary: the rival's time over ours (below 1: we lose)")
    lost = 0
    for result in results:
        for each in result.comparison.contestants:
            if not each.rival:
                continue
            theirs = result.outcomes[each.name]
            if isinstance(theirs, Failed) or isinstance(result.ours, Failed):
                why = theirs if isinstance(theirs, Failed) else f"ours: {result.ours}"
                print(f"  no figure       {result.comparison.title}: {each.name}: {why}")
                continue
            cpu, wall = theirs.cpu / result.ours.cpu, theirs.wall / result.ours.wall
            lost += cpu < 1
            mark = "WE LOSE" if cpu < 1 else ""
            print(
                f"  {said(cpu):>6} × CPU {said(wall):>6} × wall {mark:<8}"
                f"{result.comparison.title}: {each.name}"
            )
        for absent in result.comparison.not_run:
            over = ""
            if absent.seconds is not None and isinstance(result.ours, Cost):
                over = f"{said(absent.seconds / result.ours.cpu):>6} × CPU, of another machine: "
            print(f"  {over}{result.comparison.title}: {absent.name}: {absent}")
        for contestant in result.comparison.contestants:
            outcome = result.outcomes[contestant.name]
            if isinstance(outcome, Failed) and not contestant.rival:
                print(f"  no figure       {result.comparison.title}: {contestant.name}: {outcome}")
    print(f"  rows that we lose: {lost}")
