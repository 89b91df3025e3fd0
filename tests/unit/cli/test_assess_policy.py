"""assess by policies: presets on made-up files, roles, exit codes, and what may not leave."""

import json

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(4)
N = 1200


def write(folder, frame, name="file.csv"):
    path = folder / name
    frame.to_csv(path, index=False)
    return path


def large(groups, **more):
    """A file of everybody in random order, `groups` of 300 records each."""
    frame = pd.DataFrame({"key": np.repeat(list("abcdefgh")[:groups], 300), **more})
    return frame.sample(frac=1, random_state=1)


def kept_and_broken(name):
    """Two files with the options to assess them: one that keeps a preset, and one that breaks it in
    one way."""
    good = large(4)
    everybody = ("--whole-population",)
    if name in ("clinical-0.09", "cihi-puf"):
        bad = pd.concat([good, pd.DataFrame({"key": ["z"] * 11})])
        return (good, everybody), (bad, everybody)
    if name == "hdx":
        return (good, everybody), (good.assign(key=np.arange(N) % 300), everybody)
    if name == "cbs-suf":
        regions = good.assign(region=RNG.choice(["n", "s"], N), b="x")
        asked = ("--keys", "key,region,b", "--population", "1200000")
        rare = regions.copy()
        rare.loc[rare.index[:1], ["key", "b"]] = ["a", "y"]
        small = ("--keys", "key,region,b", "--population", "1203")
        return (regions, asked), (pd.concat([regions, rare.head(1)]), small)
    if name == "cbs-puf":
        asked = ("--population", "1200000", "--role", "household=")
        return (good, asked), (good.sort_values("key"), asked)
    if name == "hipaa-geography":
        people = good.assign(zip="123", age="34")
        asked = ("--population", "1200000", "--keys", "key")
        return (people, asked), (people.assign(age=["95"] + ["34"] * (N - 1)), asked)
    raise AssertionError(name)


RECORDS = ["clinical-0.09", "cihi-puf", "hdx", "cbs-suf", "cbs-puf", "hipaa-geography"]


def run(discreet, path, policy, options, *more):
    keys = () if "--keys" in options else ("--keys", "key")
    return discreet("assess", path, *keys, "--policy", policy, *options, "--json", *more)


@pytest.mark.parametrize("name", RECORDS)
def test_each_preset_on_a_file_that_keeps_it_and_one_that_breaks_it(discreet, tmp_path, name):
    (good, asked), (bad, also) = kept_and_broken(name)
    kept = run(discreet, write(tmp_path, good), name, asked)
    verdict = json.loads(kept.out)["verdict"]
    assert (kept.code, verdict["verdict"]) == (0, "kept"), verdict["rules"]
    broken = run(discreet, write(tmp_path, bad, "bad.csv"), name, also)
    verdict = json.loads(broken.out)["verdict"]
    assert (broken.code, verdict["verdict"]) == (3, "broken"), verdict["rules"]
    ways = [one["rule"] for one in verdict["rules"] if one["verdict"] != "kept"]
    assert len(ways) == 1 or name == "cbs-suf", verdict["rules"]
    assert verdict["policies"][0]["name"] == name


def test_a_policy_that_only_reports_gives_no_verdict(discreet, tmp_path):
    path = write(tmp_path, large(4))
    shown = discreet("assess", path, "--keys", "key", "--policy", "ihsn")
    assert shown.code == 0
    assert "Reported, and not judged" in shown.out
    assert "Verdict" not in shown.out
    data = json.loads(discreet("assess", path, "--keys", "key", "--policy", "ihsn", "--json").out)
    assert "verdict" not in data
    assert {"2", "3", "5"} <= set(data["anonymity"])


def test_a_role_is_asked_for_and_never_guessed(discreet, tmp_path):
    frame = large(4, province="n")
    path = write(tmp_path, frame)
    asked = ("--population", "1200000")
    open_ = run(discreet, path, "cbs-suf", asked)
    assert open_.code == 4
    rule = json.loads(open_.out)["verdict"]["rules"][1]
    assert "no column is named region" in rule["words"]
    assert "role region=COLUMN" in rule["remedy"]
    assert run(discreet, path, "cbs-suf", asked, "--role", "region=province").code == 0
    assert run(discreet, path, "cbs-suf", asked, "--role", "region=").code == 0
    named = write(tmp_path, frame.rename(columns={"province": "Region"}), "named.csv")
    told = run(discreet, named, "cbs-suf", asked)
    assert told.code == 0
    notes = json.loads(told.out)["verdict"]["notes"]
    assert "by its name, the column Region was taken for the region" in notes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--policy", "hdxx"), "did you mean 'hdx'"),
        (("--policy", "cms"), "--policy must be about records, got 'cms', which is about tables"),
        (("--policy", "hdx", "--policy", "hdx"), "'hdx' twice"),
        (("--policy", "hdx", "--role", "region=key"), "--role must be left out, got 'region'"),
        (
            ("--policy", "cbs-suf", "--role", "regoin=key"),
            "--role must be one that a policy asks for: region, got 'regoin'",
        ),
        (("--policy", "cbs-suf", "--role", "region=kay"), "did you mean 'key'?"),
        (("--policy", "cbs-suf", "--role", "region"), "must be a role, '=' and a column"),
        (("--role", "region=key"), "no policy that was given asks for it"),
        (("--policy", "missing.toml"), "must be readable"),
        (("--policy", "hdx", "--missing", "all"), "--policy must be left out with --missing all"),
    ],
)
def test_wrong_policies_and_roles_are_told_in_one_line(discreet, tmp_path, options, words):
    path = write(tmp_path, large(2))
    got = discreet("assess", path, "--keys", "key", *options)
    assert got.code == 2
    assert words in got.err
    assert got.err.count("\n") == 1


SECRET = """
format = 1
name = "house-rules"
version = "3"

[[rules]]
rule = "max_risk"
most = 0.0731
secret = true

[[rules]]
rule = "min_k"
least = 8191
secret = true

[[rules]]
rule = "correct_matches"
share = true
below = 0.6173
"""


def test_secret_numbers_stay_inside(discreet, tmp_path):
    policy = tmp_path / "house.toml"
    policy.write_text(SECRET)
    path = write(tmp_path, large(4))
    page, inside = tmp_path / "out.html", tmp_path / "in.html"
    got = discreet(
        "assess", path, "--keys", "key", "--population", "5000", "--policy", policy,
        "--external-report", page, "--report", inside,
    )  # fmt: skip
    assert got.code == 3
    told = page.read_text()
    for number in ("0.0731", "7.31", "8191", "8,191", ".0731"):
        assert number not in told
    assert "There is a limit on the risk of a record; its number is not public." in told
    assert "less than 61.73 % of the records" in told  # this one is public
    assert "8,191" in inside.read_text() or "8191" in inside.read_text()
