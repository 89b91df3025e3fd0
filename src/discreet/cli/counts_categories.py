"""discreet counts FILE --column x --by ward,year (the holder), or --sets FILE (an intruder)"""

from functools import partial
from pathlib import Path
from typing import Any


def run_categories(counts: str | None, options: dict[str, Any]) -> Any:
    """Answer; the verdict, where a greatest risk was given."""
    from discreet.cli.console import progress_bar
    from discreet.cli.show import outside, show
    from discreet.report.counts.categories import categories_document, categories_view
    from discreet.report.counts.categories_json import categories_json

    asked = _asked(options)
    with progress_bar() as progress:
        view = categories_view(*_assessed(counts, options, asked, progress))
    show(
        partial(categories_document, view),
        partial(categories_json, view),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, view.found, Path(counts).name if counts is not None else ""),
    )
    return view.found.verdict


def _asked(options: dict[str, Any]) -> Any:
    from discreet.count_tables.options import CategoryOptions

    plain = (
        "withhold", "margins", "totals", "total_table", "knows", "max_risk", "policy", "bayes",
        "prior", "seconds", "seed",
    )  # fmt: skip
    return CategoryOptions(
        **{name: options[name] for name in plain},
        by=options["by"] or (),
        regress=options["regress"] or (),
        draw=options["report"] is not None,
    )


def _assessed(counts: str | None, options: dict[str, Any], asked: Any, progress: Any) -> Any:
    """Where the figures come from, and the assessment."""
    from discreet.cli.counts_reading import opened, read
    from discreet.count_tables.reading import read_sets
    from discreet.flows.counts import assess_categories

    if counts is not None:
        source, tables = read(counts, options, progress)
        return source, assess_categories(tables, options=asked, progress=progress)
    records, csv = opened(options["sets"], options)
    by, sets = read_sets(records, by=asked.by, csv=csv, progress=progress)
    found = assess_categories(sets=sets, options=asked, by=by, progress=progress)
    return records.name, found
