"""The command as typed, its files, and what a reader outside may see of it."""

import hashlib

import click
import pytest

from discreet.cli import cli
from discreet.cli.typed import INPUTS, PUBLIC

TABLE = "a,b,n\nx,u,10\nx,v,20\ny,u,30\ny,v,1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "the table.csv"
    path.write_text(TABLE)
    return path


def command(name):
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def asked(table, *more):
    return (
        "audit",
        table,
        "--count",
        "n",
        "--release",
        "a",
        "--max-risk",
        0.37,
        "--seed",
        4242,
        *more,
    )


def test_a_report_has_the_command_as_typed_and_the_hash(discreet, table, tmp_path):
    page, outside = tmp_path / "r.html", tmp_path / "e.html"
    run = discreet(*asked(table, "--report", page, "--external-report", outside))
    assert run.err == f"written: {page}\nwritten: {outside}\n"
    inside = page.read_text(encoding="utf-8")
    assert f"discreet audit &#39;{table}&#39; --count n --release a" in inside
    assert hashlib.sha256(TABLE.encode()).hexdigest() in inside
    assert "the table.csv" in inside
    shown = outside.read_text(encoding="utf-8")
    assert "discreet audit --release a" in shown
    assert "the table.csv" in shown
    secrets = ("0.37", "4242", "--seed", "--max-risk", str(tmp_path))
    assert not [
        one for one in (*secrets, hashlib.sha256(TABLE.encode()).hexdigest()[:6]) if one in shown
    ]


def test_levels_in_an_option_stay_inside(discreet, table, tmp_path):
    outside = tmp_path / "e.html"
    discreet(*asked(table, "--knows", "a=x,b=u: 10", "--external-report", outside))
    assert "--knows" not in outside.read_text(encoding="utf-8")


def test_the_external_report_may_not_replace_an_input(discreet, table):
    named = table.with_suffix(".html")
    named.write_text(TABLE)
    said = discreet(
        "audit",
        table,
        "--count",
        "n",
        "--release",
        "a",
        "--report",
        named,
        "--external-report",
        named,
    )
    assert "in use already" in said.complaint()


@pytest.mark.parametrize("name", ["assess", "audit", "choose", "counts", "plan", "backtest"])
def test_every_command_has_both_reports_and_names_its_files(name):
    params = {one.name: one for one in command(name).params}
    assert {"report", "external_report", "full", "as_json"} <= set(params)
    files = {one for one in params if one in {"file", "counts", "sets"} or "file" in str(one)}
    files |= {one for one in ("impossible", "trees") if one in params}
    assert files <= set(INPUTS)


def test_nothing_that_may_hold_a_level_or_a_limit_is_public():
    secret = {
        "max_risk",
        "seed",
        "confidence",
        "small",
        "knows",
        "withhold",
        "decimals",
        "target_risk",
    }
    assert not secret & set(PUBLIC)
