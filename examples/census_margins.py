"""A census table published margin by margin until the rules say no.

The rules: no count from 1 to 2 is printed, no group of persons is shown to share a level, and no
intruder guesses more than a quarter of the small counts right, being surer than one half of each.
He holds all margins that are out.

Run: .venv/bin/python examples/census_margins.py
"""

from pathlib import Path

from discreet.engines.table_reading import read_table
from discreet.flows.audit import audit
from discreet.policy.verdict import Ruling

HERE = Path(__file__).parent
REQUESTS = [("income", "gender"), ("race", "income"), ("race",)]  # in order of arrival
MOST_IDENTIFIED = 0.25  # of the small cells


def main() -> None:
    """Grant each request if the rules allow it together with all that is out already."""
    table = read_table(HERE / "census.csv", count="count")
    out: list[tuple[str, ...]] = []
    print(f"{'request':18}{'consistent tables':>18}  decision")
    for request in REQUESTS:
        found = audit(table, [*out, request], max_risk=MOST_IDENTIFIED, seconds=30)
        assert found.verdict is not None
        against = [judged.rule for judged in found.verdict.rules if judged.ruling != Ruling.KEPT]
        if found.verdict.allows:
            out.append(request)
        decision = f"refused: {', '.join(against)}" if against else "released"
        number = "not counted" if found.n_tables.value is None else f"{found.n_tables.value:,}"
        print(f"{' × '.join(request):18}{number:>18}  {decision}")
    print("out:", ", ".join(" × ".join(names) for names in out) or "nothing")


if __name__ == "__main__":
    main()
