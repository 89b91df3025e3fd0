"""`discreet counts` on the count tables of kadane, cold and warm, and their number beside LattE."""

from collections.abc import Sequence
from functools import partial

from benchmarks.comparing import Comparison
from benchmarks.contestants import as_process, of_json, our_command
from benchmarks.fiber_counts import LIMIT, latte, no_latte
from benchmarks.systems import write_for_latte
from discreet.papers.kadane_data import DISASTERS, INJURIES

EXAMPLES = {"injuries": INJURIES, "disasters": DISASTERS}


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """The number of tables alone, which is all that LattE gives, and then the whole command."""
    found = []
    for name, example in EXAMPLES.items():
        title = f"{len(example.counts)} values ({name})"
        table = ",".join(f"{value}:{count}" for value, count in example.table.items())
        answer = of_json("n_solutions", "value")
        found += [
            Comparison(
                title=f"number of count tables, {title}",
                contestants=[
                    as_process("discreet, warm", "count_count_tables", name, limit=LIMIT),
                    *latte(name),
                    as_process(
                        "discreet, cold", "count_count_tables", name, cold=True, limit=LIMIT
                    ),
                ],
                not_run=no_latte(),
                prepare=partial(write_for_latte, name),
            ),
            Comparison(
                title=f"discreet counts, {title}",
                contestants=[
                    our_command(
                        "warm",
                        "counts",
                        table,
                        "--json",
                        answer=answer,
                        note="also bounds, probabilities of every count, entropy and the fit",
                    ),
                    *latte(name),
                    our_command("cold", "counts", table, "--json", answer=answer, cold=True),
                ],
                not_run=no_latte(),
                prepare=partial(write_for_latte, name),
            ),
        ]
    return found
