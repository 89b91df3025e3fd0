"""Policies in files: read whole or not at all, and every complaint names the file and the line."""

import re
from importlib import resources
from pathlib import Path
from typing import Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import discreet
from discreet.errors import FileError, InputError
from discreet.policy.policy import Policy, check_about
from discreet.policy.reading import (
    RULES,
    parse_policy,
    policies_of,
    policy_of,
    policy_text,
    preset,
    preset_names,
    read_policy,
)
from discreet.policy.rule import Subject

HEAD = 'format = 1\nname = "office"\nversion = "1"\n'  # three lines
RULE = '[[rules]]\nrule = "max_risk"\nmost = 0.1\n'  # three more


def complaint(text):
    with pytest.raises(InputError) as found:
        parse_policy(text, "office.toml")
    return str(found.value)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        # rules that are not there, or not as they are written
        (HEAD + '[[rules]]\nrule = "max_rsk"\nmost = 0.1\n', 5, "did you mean 'max_risk'?"),
        (HEAD + "[[rules]]\nmost = 0.1\n", 4, "rule must be one of"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmots = 0.1\n', 6, "did you mean 'most'?"),
        (HEAD + '[[rules]]\nrule = "min_k"\nmost = 3\n', 6, "got 'most'"),
        (HEAD + '[[rules]]\nrule = "shuffled"\nmost = 3\n', 6, "got 'most'"),
        (HEAD + RULE + '[[rules]]\nrule = "max_risk"\n', 7, "limited once, by most or below"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = 0.1\nbelow = 0.2\n', 4, "got most and below"),
        (HEAD + '[[rules]]\nrule = "share_below_k"\nmost = 0.1\n', 4, "k must be given for share"),
        # two limits on one figure
        (HEAD + RULE + "\n" + RULE, 8, "keep the stricter"),
        (HEAD + RULE + '[[rules]]\nrule = "min_k"\nleast = 3\n' + RULE, 10, "'max_risk' twice"),
        # numbers that are none, or that no figure can be
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = "0.1"\n', 6, "most must be a number"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = true\n', 6, "got True"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = nan\n', 6, "got nan"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = inf\n', 6, "got inf"),
        (HEAD + '[[rules]]\nrule = "min_k"\nleast = inf\n', 6, "got inf"),
        (HEAD + f'[[rules]]\nrule = "min_k"\nleast = {10**400}\n', 6, "a number of many digits"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = 1.5\n', 6, "from 0 to 1, got 1.5"),
        (HEAD + '[[rules]]\nrule = "max_risk"\nmost = -0.1\n', 6, "above 0 and at most 1, got -0.1"),
        (HEAD + '[[rules]]\nrule = "min_k"\nleast = 2.5\n', 6, "a whole number, got 2.5"),
        (HEAD + '[[rules]]\nrule = "min_k"\nleast = 1\n', 6, "least must be from 2 to"),
        (HEAD + '[[rules]]\nrule = "min_k"\nleast = 3\nof = "all"\n', 7, "one of sample, popul"),
        (HEAD + '[[rules]]\nrule = "min_k"\nleast = 3\nsecret = 1\n', 7, "true or false, got 1"),
        (HEAD + '[[rules]]\nrule = "count_risk"\nmost = 0.1\nsmall = 0\n', 7, "from 1 to"),
        (HEAD + '[[rules]]\nrule = "count_risk"\nmost = 0.1\nsmall = 2.0\n', 7, "a whole number"),
        (HEAD + '[[rules]]\nrule = "correct_matches"\nmost = 1\nshare = 1\n', 7, "true or false"),
        (HEAD + '[[rules]]\nrule = "top_class"\nfrom = 90\nrole = " "\n', 7, "role must be given"),
        (HEAD + '[[rules]]\nrule = "population_of_keys"\nkeys = 4\nleast = 9\n', 6, "of 1, 2, 3"),
        (
            HEAD + '[[rules]]\nrule = "population_of_column"\nrole = "zip"\nleast = 9\nbut = "0"\n',
            8,
            "a list of texts",
        ),
        (
            HEAD + '[[rules]]\nrule = "small_cells_identified"\nmost = 0.1\nconfidence = 1\n',
            7,
            "from 0 to below 1",
        ),
        # the file's own keys
        ('format = 2\nname = "office"\n', 1, "the file was written for a later Discreet"),
        ('name = "office"\nformat = true\n', 2, "format must be a whole number"),
        ("format = 1\nversion = '1'\n" + RULE, None, "name must be given"),
        ("format = 1\nname = 'office'\n" + RULE, None, "version must be given"),
        ("format = 1\nname = 'office'\nversion = 3\n" + RULE, 3, "version must be text"),
        ('format = 1\nname = "Zürich"\nversion = "1"\n' + RULE, 2, "small letters, digits"),
        ('format = 1\nname = ""\nversion = "1"\n' + RULE, 2, "name must be given"),
        ('format = 1\nname = "office"\nversion = " "\n' + RULE, 3, "version must be given"),
        (HEAD + 'word = "x"\n' + RULE, 4, "did you mean 'words'?"),
        (HEAD + RULE + "[extra]\nmost = 3\n", 7, "got 'extra'"),
        (HEAD + "[rules]\nmost = 3\n", 4, "tables that begin with [[rules]]"),
        (HEAD + "rules = 3\n", 4, "tables that begin with [[rules]]"),
        (HEAD + "reports_k = [2, 1]\n", 4, "whole numbers of at least 2"),
        (HEAD + "reports_k = [true]\n", 4, "whole numbers of at least 2"),
        (HEAD + 'not_judged = "p %"\n' + RULE, 4, "a list of texts"),
        (HEAD + "small = 0\n" + RULE, 4, "small must be a whole number of at least 1"),
        (HEAD + "confidence = 1\n" + RULE, 4, "confidence must be from 0 to below 1"),
        (HEAD + "small = 3\n" + RULE, 4, "small must be given where a rule on tables asks for it"),
        # not TOML at all
        (HEAD + "words = 'x\n" + RULE, 4, "office.toml must be TOML"),
        (HEAD + "mask = \n" + RULE, 4, "office.toml must be TOML"),
        (HEAD + 'name = "other"\n' + RULE, 4, "office.toml must be TOML"),
        (HEAD + RULE + "not_judged = [", 7, "office.toml must be TOML"),
        # a text of several lines that looks like rules changes no line
        (HEAD + 'words = """\n[[rules]]\nmost = 3\n"""\n' + RULE + "mst = 1\n", 11, "got 'mst'"),
    ],
)  # fmt: skip
def test_every_complaint_names_the_line(text, line, words):
    said = complaint(text)
    assert words in said
    if line is None:
        assert " at office.toml" not in said or "line" not in said.partition(" at office")[2]
    else:
        assert re.search(rf" at office\.toml, line {line}(;|$)", said), said


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_empty_file_says_what_it_lacks(text):
    assert "format must be a whole number, got none" in complaint(text)


def test_a_policy_without_a_rule_is_none():
    assert complaint(HEAD).startswith("policy must be of one rule at least, got none")
    assert parse_policy(HEAD + "reports_k = [3]\n").subjects == (Subject.RECORDS,)


def test_what_nobody_can_mean_is_no_fault_of_ours():
    deep = HEAD + "not_judged = " + "[" * 50_000
    assert "office.toml must be TOML" in complaint(deep)
    long = HEAD + f"small = {'9' * 5000}\n" + RULE
    assert "office.toml must be TOML" in complaint(long)
    wide = HEAD + f"format2 = 1\n{'x' * 3000} = 1\n" + RULE
    assert len(complaint(wide)) < 500


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "missing.toml"
    with pytest.raises(FileError, match=r"policy 'missing.toml' must be readable, got No such"):
        read_policy(missing)
    with pytest.raises(FileError, match="must be readable, got Is a directory"):
        read_policy(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(HEAD.encode() + 'words = "Zürich"\n'.encode("latin-1"))
    with pytest.raises(FileError, match=r"text in UTF-8, got something else at latin.toml, line 4"):
        read_policy(latin)
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (2 << 20))
    with pytest.raises(FileError, match="at most 1,048,576 bytes long"):
        read_policy(large)
    with pytest.raises(FileError, match="policy must be a file"):
        read_policy("a\0b.toml")


def test_a_file_begins_as_some_editors_write_it(tmp_path):
    marked = tmp_path / "marked.toml"
    marked.write_bytes(b"\xef\xbb\xbf" + (HEAD + RULE).replace("\n", "\r\n").encode())
    assert read_policy(marked) == parse_policy(HEAD + RULE)


def test_policies_are_named_by_name_path_or_as_they_are(tmp_path):
    path = tmp_path / "office.toml"
    path.write_text(HEAD + RULE, encoding="utf-8")
    own = read_policy(path)
    assert policies_of(None) == policies_of([]) == ()
    assert policies_of("cms") == policies_of(["cms"]) == (preset("cms"),)
    assert policies_of([path, str(path)][:1]) == policies_of(own) == (own,)
    with pytest.raises(InputError, match="each named once, got 'cms' twice"):
        policies_of(["cms", "cms"])
    with pytest.raises(InputError, match="did you mean 'opensafely'"):
        policy_of("opensafly")
    with pytest.raises(InputError, match=r"which has an option of its own now \(measure\)"):
        policy_of("bounds")
    with pytest.raises(InputError, match="the name of a policy, a file or a Policy, got a int"):
        policy_of(3)


def test_a_policy_is_refused_where_it_says_nothing():
    with pytest.raises(InputError, match="about counts, got 'cms', which is about tables; name it"):
        check_about([preset("cms")], Subject.COUNTS)
    check_about([preset("cms")], Subject.TABLES)


def test_what_is_said_of_all_rules_on_tables():
    text = HEAD + 'small = 4\n[[rules]]\nrule = "bounds"\nleast = 3\n'
    more = '[[rules]]\nrule = "true_count"\nmost = 0.2\nsmall = 1\n'
    count = '[[rules]]\nrule = "count_risk"\nmost = 0.2\n'
    found = [rule.identity for rule in parse_policy(text + more + count).rules]
    assert found == [("bounds", 4), ("true_count", 1), ("count_risk", None)]


# What each shipped policy asks, as its source has it, and nothing else.
PRESETS: dict[str, list[tuple[str, float, bool, dict[str, object]]]] = {
    "acro": [("printed_counts", 10, False, {"zeros": "refused"})],
    "abs-datalab": [
        ("printed_counts", 10, False, {"zeros": "refused"}),
        ("derived_counts", 10, False, {"zeros": "refused"}),
    ],
    "opensafely": [
        ("printed_counts", 8, False, {"zeros": "refused"}),
        ("rounded", 5, False, {}),
    ],
    "nhs-hes": [("rounded", 5, False, {"small": 7, "shown": 5})],
    "cms": [
        ("printed_counts", 11, False, {"zeros": "allowed"}),
        ("derived_counts", 11, False, {"zeros": "allowed"}),
    ],
    "ukllc": [("printed_counts", 10, False, {"zeros": "refused"})],
    "ons-10-5": [("printed_counts", 10, False, {"zeros": "refused"}), ("rounded", 5, False, {})],
    "statsnz-rr3": [("rounded", 3, False, {})],
    "cbs-suf": [
        ("population_of_keys", 100, False, {"keys": 3}),
        ("population_of_column", 10_000, False, {"role": "region", "digits": None, "but": ()}),
    ],
    "cbs-puf": [
        ("most_keys", 15, False, {}),
        ("population_of_keys", 200_000, False, {"keys": 1}),
        ("population_of_keys", 1_000, False, {"keys": 2}),
        ("household_pattern", 5, False, {}),
        ("shuffled", 5, False, {}),
    ],
    "hdx": [("correct_matches", 0.03, True, {"share": True, "judged_by": "limits"})],
    "clinical-0.09": [("max_risk", 0.09, False, {"judged_by": "limits"})],
    "cihi-puf": [("max_risk", 0.05, False, {"judged_by": "limits"})],
    "hipaa-geography": [
        ("population_of_column", 20_000, True, {"role": "zip", "digits": 3, "but": ("000",)}),
        ("top_class", 90, False, {"role": "age"}),
    ],
    "ihsn": [],
}
MASKS = {
    "acro": "rounding:base=5",
    "opensafely": "redaction:most=7,base=5,zeros=redacted",
    "nhs-hes": "redaction:most=7,base=5,shown=5",
    "cms": "suppression:small=10",
    "ons-10-5": "redaction:most=9,base=5,zeros=redacted",
    "statsnz-rr3": "rounding:base=3,random",
}
SOURCES = {
    "acro": "ACRO",
    "abs-datalab": "DataLab",
    "opensafely": "OpenSAFELY",
    "nhs-hes": "NHS England",
    "cms": "ResDAC",
    "ukllc": "UK Longitudinal",
    "ons-10-5": "cell_key_perturbation",
    "statsnz-rr3": "Stats NZ",
    "cbs-suf": "section 3.7",
    "cbs-puf": "section 3.7",
    "hdx": "Humanitarian Data Exchange",
    "clinical-0.09": "secondary source",
    "cihi-puf": "11:53",
    "hipaa-geography": "45 CFR 164.514(b)(2)",
    "ihsn": "International Household Survey Network",
}


def test_the_presets_are_those_of_the_sources_and_no_others():
    assert set(preset_names()) == set(PRESETS) == {one.name for one in discreet.policies()}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_exactly_the_numbers_of_its_source(name):
    policy = preset(name)
    assert len(policy.rules) == len(PRESETS[name])
    for rule, (kind, limit, strict, more) in zip(policy.rules, PRESETS[name], strict=True):
        assert (rule.name, rule.limit, rule.strict) == (kind, limit, strict)
        own = {field.name: getattr(rule, field.name) for field in rule.own_fields()}
        assert more.items() <= own.items()
        others = [value for key, value in own.items() if key not in more]
        assert not [one for one in others if type(one) in (int, float)]  # no number beside
    assert policy.mask == MASKS.get(name, "")
    assert policy.reports_k == ((2, 3, 5) if name == "ihsn" else ())
    assert SOURCES[name] in policy.source
    assert policy.name == name
    assert policy.version == "1"
    assert policy.words
    assert not any(rule.secret for rule in policy.rules)


def test_a_part_that_is_not_judged_is_said():
    assert any("p %" in line for line in preset("acro").not_judged)
    assert any("degrees of freedom" in line for line in preset("acro").not_judged)
    assert any("dominance" in line for line in preset("abs-datalab").not_judged)
    assert any("sixteen other identifiers" in line for line in preset("hipaa-geography").not_judged)


def test_the_files_are_in_the_package():
    """The wheel takes all of src/discreet, TOML files too: they lie where the package looks."""
    folder = resources.files("discreet.policy") / "presets"
    there = {one.name for one in folder.iterdir() if one.name.endswith(".toml")}
    assert there == {f"{name}.toml" for name in PRESETS}
    project = Path(__file__).parents[3] / "pyproject.toml"
    assert 'packages = ["src/discreet"]' in project.read_text(encoding="utf-8")


def test_read_policy_takes_a_name_or_a_file(tmp_path):
    path = tmp_path / "office.toml"
    path.write_text(HEAD + RULE, encoding="utf-8")
    assert discreet.read_policy("cms") is preset("cms")
    own = discreet.read_policy(path)
    assert isinstance(own, discreet.Policy)
    assert repr(own) == "Policy office, version 1\n  No record has a risk above 0.1."
    assert "What must hold" in own._repr_html_()


LINE = st.text(st.characters(codec="utf-8"), max_size=20).map(lambda text: " ".join(text.split()))
WORD = LINE.filter(bool)


def value_of(hint, name):
    """Values that a parameter of a rule may have, by its type."""
    if name == "keys":
        return st.integers(1, 3)
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if get_origin(hint) is tuple:
        return st.lists(LINE, max_size=3).map(tuple)
    if hint is bool:
        return st.booleans()
    if hint is float:
        return st.floats(0, 0.999)
    if hint is int:
        return st.integers(1, 50)
    if hint is str:
        return WORD
    assert get_origin(hint) is Union or type(None) in get_args(hint)
    return st.none() | st.integers(1, 50)


@st.composite
def rules(draw, kind):
    own = {f.name: draw(value_of(get_type_hints(kind)[f.name], f.name)) for f in kind.own_fields()}
    secret = draw(st.booleans())
    written = kind.limits_written()
    if not written:
        return kind(**own, secret=secret)
    top = min(kind.highest, 1e6)
    least = int(kind.lowest) + (own.get("zeros") == "allowed")
    numbers = st.integers(least, int(top)).map(float)
    limits = numbers if kind.whole else numbers | st.floats(kind.lowest, top)
    strict = draw(st.sampled_from(sorted(set(written.values()))))
    try:
        return kind(limit=draw(limits), strict=strict, secret=secret, **own)
    except InputError:  # what goes together, and what does not, has tests of its own
        reject()


@st.composite
def written_policies(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=5))
    found = {rule.identity: rule for kind in kinds for rule in [draw(rules(RULES[kind]))]}
    return Policy(
        name=draw(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)),
        version=draw(WORD),
        source=draw(LINE),
        words=draw(LINE),
        mask=draw(LINE),
        rules=tuple(found.values()),
        reports_k=tuple(draw(st.lists(st.integers(2, 99), max_size=3))),
        not_judged=tuple(draw(st.lists(LINE, max_size=3))),
    )


@given(written_policies())
def test_a_policy_that_is_written_is_read_as_it_was(policy):
    read = parse_policy(policy_text(policy))
    assert read == policy
    assert read.id == policy.id


@given(written_policies(), st.data())
def test_nothing_is_judged_by_half_a_policy(policy, data):
    """A line that is taken out, or doubled, gives the policy without it or an error, never a rule
    with another limit."""
    lines = policy_text(policy).splitlines()
    place = data.draw(st.integers(0, len(lines) - 1))
    less = "\n".join(lines[:place] + lines[place + 1 :])
    try:
        read = parse_policy(less)
    except InputError:
        return
    limits = {(rule.name, rule.limit, rule.strict) for rule in policy.rules}
    assert {(rule.name, rule.limit, rule.strict) for rule in read.rules} <= limits


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_written_as_they_are_read(name):
    assert parse_policy(policy_text(preset(name))) == preset(name)
