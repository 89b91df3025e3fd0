"""discreet policies: listed, shown, checked, and written by answering questions."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from discreet.cli.policies import command
from discreet.policy.policy import COMMANDS
from discreet.policy.reading import parse_policy, policy_text, preset, preset_names, read_policy

OFFICE = """format = 1
name = "office"
version = "2026"
source = "Rules of the office, section 4"
words = "Nobody is found."
not_judged = ["dominance"]
mask = "rounding:base=5"

[[rules]]
rule = "printed_counts"
least = 10
zeros = "refused"
secret = true

[[rules]]
rule = "count_risk"
small = 3
most = 0.2
"""


@pytest.fixture
def office(tmp_path):
    path = tmp_path / "office.toml"
    path.write_text(OFFICE, encoding="utf-8")
    return path


def test_the_list_names_every_policy_its_rules_and_its_source(discreet):
    run = discreet("policies")
    assert run.code == 0
    assert run.err == ""
    said = " ".join(run.out.split())
    for name in preset_names():
        assert f"\n  {name} " in run.out
        assert preset(name).source in said
    for title in ("Records (assess)", "Tables (audit and choose)", "Counts (counts)"):
        assert f"\n{title}\n" in run.out
    for words in (
        "Counts 1–10 not printed; counts 1–10 not to be worked out.",
        "Every triple of keys ≥ 100 in the population; every region ≥ 10,000 people.",
        "The file has at most 15 keys; every value of keys ≥ 200,000 in the population; every pair",
        "Every zip > 20,000 people; all values of age from 90 on are in one class.",
        "Reports records below k = 2, 3 and 5; no limit.",
    ):
        assert words in said
    assert max(len(line) for line in run.out.splitlines()) <= 80


def test_the_list_as_json(discreet):
    told = json.loads(discreet("policies", "--json").out)
    assert told["kind"] == "policies"
    assert [one["name"] for one in told["policies"]] == list(preset_names())
    cms = next(one for one in told["policies"] if one["name"] == "cms")
    assert cms["about"] == ["tables"]
    assert [(one["rule"], one["least"]) for one in cms["rules"]] == [
        ("printed_counts", 11),
        ("derived_counts", 11),
    ]


@pytest.mark.parametrize("name", preset_names())
def test_all_of_a_policy_is_shown(discreet, name):
    run, policy = discreet("policies", "show", name), preset(name)
    assert run.code == 0
    said = " ".join(run.out.split())
    wanted = [policy.name, f"version {policy.version}", policy.source, policy.words, policy.id.hash]
    wanted += [rule.said()[:-1] for rule in policy.rules]
    wanted += [line[1:] for line in policy.not_judged]
    wanted += [policy.mask, f"--policy {name}"]
    wanted += [
        f"discreet {one}" for about in policy.subjects for one in COMMANDS[about].split(" and ")
    ]
    assert [one for one in wanted if " ".join(one.split()) not in said] == []
    assert max(len(line) for line in run.out.splitlines()) <= 80


def test_what_a_rule_asks_for_is_in_the_example(discreet):
    assert "--role region=COLUMN" in discreet("policies", "show", "cbs-suf").out
    assert "--household COLUMN" in discreet("policies", "show", "cbs-puf").out
    roles = json.loads(discreet("policies", "show", "hipaa-geography", "--json").out)["examples"]
    assert roles == [
        "discreet assess FILE --keys age,sex --role zip=COLUMN --role age=COLUMN "
        "--policy hipaa-geography"
    ]


def test_a_file_is_shown_and_checked(discreet, office):
    shown, checked = discreet("policies", "show", office), discreet("policies", "check", office)
    assert (shown.code, checked.code) == (0, 0)
    assert checked.out.startswith("office.toml is fine: policy office\n")
    for out in (shown.out, checked.out):
        said = " ".join(out.split())
        assert "No count from 0 to 9 is printed (secret: its number stands in no report" in said
        assert "Dominance." in said
        assert f"--policy {office}" in said.replace("- ", "-") or str(office) in out.replace(
            "\n  ", ""
        )
        assert "discreet audit, discreet choose and discreet counts" in said
    told = json.loads(discreet("policies", "check", office, "--json").out)
    assert told["kind"] == "policy"
    assert told["hash"] == read_policy(office).id.hash
    assert told["rules"][0]["secret"] is True
    assert told["rules"][1]["says"].startswith("The true count of each value that at most 3 have")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_file_that_is_none_is_told_with_its_line(discreet, tmp_path, arguments):
    bad = tmp_path / "bad.toml"
    bad.write_text(OFFICE.replace("least = 10", "least = ten"), encoding="utf-8")
    for what in ("check", "show"):
        said = discreet("policies", what, bad, *arguments).complaint()
        assert said.startswith("bad.toml must be TOML")
        assert "at bad.toml, line 11" in said
    bad.write_text(OFFICE.replace("least = 10", "most = 10"), encoding="utf-8")
    said = discreet("policies", "check", bad, *arguments).complaint()
    assert said.startswith("printed_counts must be made of")
    assert "got 'most' at bad.toml, line 11" in said


def test_what_is_no_policy(discreet, tmp_path):
    assert "did you mean 'cms'?" in discreet("policies", "show", "cmss").complaint()
    assert "must be readable" in discreet("policies", "check", "cms").complaint()
    assert "must be readable" in discreet("policies", "check", tmp_path).complaint()
    assert "given after the command" in discreet("policies", "--json", "show", "cms").err
    assert discreet("policies", "nothing").code == 2


def answered(*answers, write=None, expect=0):
    arguments = ["new"] if write is None else ["new", "--write", str(write)]
    run = CliRunner().invoke(command, arguments, input="".join(f"{one}\n" for one in answers))
    assert run.exit_code == expect, run.output
    return run


ABOUT_TABLES = ("tables", "office", "2026", "Rules, section 4", "10", "no", "yes", "5", "no", "no")


def test_questions_about_tables(tmp_path):
    path = tmp_path / "office.toml"
    run = answered(*ABOUT_TABLES, write=path)
    policy = read_policy(path)
    assert (policy.name, policy.version, policy.source) == ("office", "2026", "Rules, section 4")
    assert [(rule.name, rule.limit, rule.secret) for rule in policy.rules] == [
        ("printed_counts", 10, False),
        ("derived_counts", 10, False),
        ("rounded", 5, False),
        ("groups", 0, False),
    ]
    assert {getattr(rule, "zeros", None) for rule in policy.rules[:2]} == {"refused"}
    assert f"written: {path}" in run.stderr
    assert run.stdout == ""


def test_questions_about_records_and_secret_numbers():
    run = answered("records", "office", "", "", "3", "0,09", "3 %", "yes")
    policy = parse_policy(run.stdout)
    assert run.stdout == policy_text(policy)
    assert [(rule.name, rule.limit, rule.secret) for rule in policy.rules] == [
        ("min_k", 3, True),
        ("max_risk", 0.09, True),
        ("correct_matches", 0.03, True),
    ]
    assert set(policy.rules[2].identity) == {"correct_matches", True, "limits"}
    assert policy.version == "1"


def test_questions_about_counts():
    policy = parse_policy(answered("counts", "office", "", "", "0.2", "0.3", "2", "1.5", "").stdout)
    told = [(rule.name, rule.limit, getattr(rule, "small", None)) for rule in policy.rules]
    assert told == [("best_guess", 0.2, None), ("count_risk", 0.3, 2), ("entropy", 1.5, None)]
    every = parse_policy(answered("counts", "office", "", "", "", "0.3", "", "", "").stdout)
    assert [rule.identity for rule in every.rules] == [("count_risk", None)]


def test_enter_takes_what_is_shown_or_skips_a_rule():
    policy = parse_policy(answered("", "", "", "", "10", "", "", "", "", "").stdout)
    assert policy.name == "my-policy"
    assert [rule.name for rule in policy.rules] == ["printed_counts", "derived_counts"]
    assert {getattr(rule, "zeros", None) for rule in policy.rules} == {"allowed"}


def test_a_wrong_answer_is_told_why_and_asked_again():
    run = answered(
        "cells", "tables", "Office!", "cms", "office", "", "", "ten", "0", "2.5", "nan", "1e999", "10",
        "maybe", "no", "yes", "1", "5", "yes", "no",
    )  # fmt: skip
    for words in (
        "the answer must be one of records, tables, counts, got 'cells'",
        "the name must be small letters, digits, dots and dashes, 60 at most, got 'Office!'",
        "the name must be one that no policy of Discreet has, got 'cms'",
        "the answer must be a number, got 'ten'",
        "least must be from 1 to",
        "least must be a whole number, got 2.5",
        "the answer must be a number, got 'nan'",
        "the answer must be a number, got '1e999'",
        "the answer must be yes or no, got 'maybe'",
        "base must be from 2 to 10,000, got 1",
    ):
        assert words in run.stderr
    limits = [(rule.name, rule.limit) for rule in parse_policy(run.stdout).rules]
    assert limits == [("printed_counts", 10), ("derived_counts", 10), ("rounded", 5)]


def test_a_policy_without_a_rule_is_asked_for_one():
    run = answered("records", "office", "", "", "", "", "", "5", "", "", "no")
    assert "A policy must have a rule" in run.stderr
    assert [rule.name for rule in parse_policy(run.stdout).rules] == ["min_k"]


def test_a_file_that_is_there_stays_as_it_is(discreet, tmp_path):
    there = tmp_path / "there.toml"
    there.write_text("mine\n", encoding="utf-8")
    assert "which is there already" in discreet("policies", "new", "--write", there).complaint()
    assert there.read_text(encoding="utf-8") == "mine\n"
    other = discreet("policies", "new", "--write", tmp_path / "x.txt").complaint()
    assert "a new file that ends in .toml, got 'x.txt'" in other
    lost = discreet("policies", "new", "--write", tmp_path / "no" / "x.toml").complaint()
    assert "whose folder does not exist" in lost


def test_a_file_that_appears_meanwhile_stays_as_it_is(tmp_path):
    from discreet.cli.policy_questions import write_new
    from discreet.errors import OutputError

    path = tmp_path / "office.toml"
    path.write_text("mine\n", encoding="utf-8")
    with pytest.raises(OutputError, match="must be writable, got File exists"):
        write_new(path, "other\n")
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_answers_that_end_too_soon_leave_nothing(tmp_path):
    path = tmp_path / "office.toml"
    run = subprocess.run(
        [sys.executable, "-c", "from discreet.cli import main; main()", "policies", "new",
         "--write", str(path)],
        input="\n".join(ABOUT_TABLES[:6]) + "\n", text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert run.returncode == 130
    assert run.stderr.endswith("discreet: stopped; nothing was left half-written\n")
    assert run.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_answers_from_a_pipe(tmp_path):
    path = tmp_path / "office.toml"
    run = subprocess.run(
        [sys.executable, "-c", "from discreet.cli import main; main()", "policies", "new",
         "--write", str(path)],
        input="\n".join(ABOUT_TABLES) + "\n", text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert run.stdout == ""
    assert read_policy(path).name == "office"


def test_questions_are_no_json(discreet):
    said = discreet("policies", "new", "--json").complaint()
    assert said.startswith("--json must be left out with `policies new`")


def test_a_finished_result_is_judged_once_more(discreet, tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("k\n" + "a\n" * 30 + "b\n" * 4)
    result = tmp_path / "found.json"
    at_once = discreet("assess", path, "--keys", "k", "--whole-population", "--json")
    result.write_text(at_once.out)
    broken = discreet("policies", "judge", result, "--policy", "clinical-0.09", "--json")
    own = discreet(
        "assess", path, "--keys", "k", "--whole-population", "--policy", "clinical-0.09", "--json"
    )
    assert broken.code == own.code == 3
    one, other = (json.loads(run.out)["verdict"] for run in (broken, own))
    assert one["verdict"] == other["verdict"] == "broken"
    assert one["rules"][0]["value"] == other["rules"][0]["value"]
    assert discreet("policies", "judge", result, "--policy", "cbs-suf").code == 4
    shown = discreet("policies", "judge", result, "--policy", "ihsn")
    assert (shown.code, "set no limit" in shown.out) == (0, True)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("{}", ("--policy", "hdx"), "without 'kind'"),
        ("[1", ("--policy", "hdx"), "must be JSON"),
        ('{"kind": "assess", "discreet_version": "1"}', ("--policy", "hdx"), "its findings"),
        ("{}", (), "--policy must be given"),
    ],
)
def test_what_cannot_be_judged_once_more_is_told(discreet, tmp_path, text, options, words):
    result = tmp_path / "found.json"
    result.write_text(text)
    got = discreet("policies", "judge", result, *options)
    assert got.code == 2
    assert words in got.err


def test_a_mask_that_does_not_exist_is_told(discreet, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        'format = 1\nname = "own"\nversion = "1"\nmask = "no-such-mask:base=x"\n'
        '[[rules]]\nrule = "rounded"\nbase = 5\n'
    )
    table = tmp_path / "t.csv"
    table.write_text("a,b\nx,1\ny,2\n")
    for run in (("policies", "check", path), ("audit", table, "--release", "a", "--policy", path)):
        got = discreet(*run)
        assert got.code == 2
        assert "mask of own must be one that choose has" in got.err
