"""A census table published margin by margin until the policy says no.

The policy: no intruder may guess more than a quarter of the small counts right, being surer than
one half of each. He holds all margins that are out; the worse of two models counts.

Run: .venv/bin/python examples/census_margins.py
"""

from pathlib import Path

from discreet.engines.table_reading import read_table
from discreet.figures import Unavailable
from discreet.flows.audit import audit
from discreet.tables.audit_options import AuditOptions

HERE = Path(__file__).parent
REQUESTS = [("race", "gender"), ("race", "income"), ("income", "gender")]  # in order of arrival
MOST_IDENTIFIED = 0.25  # of the small cells
MODELS = ("released", "saturated")  # what he may believe; the worst counts


def main() -> None:
    """Grant each request if the policy allows it together with all that is out already."""
    table = read_table(HERE / "census.csv", count="count")
    out: list[tuple[str, ...]] = []
    print(f"{'request':20}{'consistent tables':>24}{'small cells found':>20}  decision")
    for request in REQUESTS:
        found = audit(table, [*out, request], AuditOptions(models=MODELS, seconds=30))
        shares = [m.small_cells_identified for m in found.measures.values()]
        missing = [share.reason for share in shares if isinstance(share, Unavailable)]
        if missing or len(shares) < len(MODELS):
            raise SystemExit(f"{' × '.join(request)}: not judged: {missing or 'a model failed'}")
        worst = max(share.value for share in shares)
        granted = worst <= MOST_IDENTIFIED
        decision = "released" if granted else "refused"
        if granted:
            out.append(request)
        tables = (
            "more than counted" if found.n_tables.value is None else f"{found.n_tables.value:,}"
        )
        print(f"{' × '.join(request):20}{tables:>24}{worst:>20.0%}  {decision}")
    print("out:", ", ".join(" × ".join(names) for names in out) or "nothing")


if __name__ == "__main__":
    main()
