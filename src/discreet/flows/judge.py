"""A policy applied to a result that is there already: the same verdict as if it had been given."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import FileError, InputError, must_be
from discreet.policy.findings import Findings
from discreet.policy.policy import check_about
from discreet.policy.policy import judge as judged
from discreet.policy.reading import policies_of
from discreet.policy.rule import Subject
from discreet.policy.verdict import Verdict

RESULTS = {  # by the name of the result's class
    "Assessment": Subject.RECORDS,
    "Audit": Subject.TABLES,
    "CategoriesAssessment": Subject.COUNTS,
    "CountAssessment": Subject.COUNTS,
}
SUBJECTS = {  # by the kind that its JSON says
    "assess": Subject.RECORDS,
    "audit": Subject.TABLES,
    "counts": Subject.COUNTS,
    "counts_by_category": Subject.COUNTS,
}


def judge(result: Any, policy: Any) -> Verdict | None:
    """What policies say of a result of `assess`, `audit` or `counts`, or of its JSON.

    `result` is the result itself, what `read_result` gave, a file of JSON, or JSON as text or as a
    mapping; `policy` is a name, a file, a Policy, or several of them. A rule whose figure was not
    measured is undecided: give the policy to the command itself, which then measures it. None where
    no rule is about it (a policy that only reports).

    Raises InputError for a result without findings and for a policy that is not about it.
    """
    policies = policies_of(policy)
    if not policies:
        raise InputError(must_be("policy", "given", "none"))
    subject, findings = _findings_of(result)
    check_about(policies, subject)
    return judged(policies, subject, findings)


def _findings_of(result: Any) -> tuple[Subject, Findings]:
    """What the result is about, and what was found."""
    kind = RESULTS.get(type(result).__name__)
    if kind is not None:
        if result.findings is None:
            rule = "one of the holder, who knows what is true"
            raise InputError(must_be("result", rule, "one of an intruder"))
        return kind, result.findings
    data = _read(result) if isinstance(result, str | Path) else result
    data = data if isinstance(data, Mapping) else getattr(data, "data", None)
    if not isinstance(data, Mapping):
        rule = "a result of assess, audit or counts, or its JSON"
        raise InputError(must_be("result", rule, f"a {type(result).__name__}"))
    subject = _subject(data)
    try:
        return subject, Findings.of_json(data["findings"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        remedy = "make it anew with this version"
        got = "one without them"
        raise InputError(must_be("result", "one with its findings", got, remedy=remedy)) from error


def _read(source: str | Path) -> Any:
    """The JSON in a file or in a text."""
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    try:
        return json.loads(str(source) if is_text else Path(source).read_text(encoding="utf-8"))
    except OSError as error:
        name = repr(Path(source).name)
        raise FileError(must_be(f"result {name}", "readable", error.strerror)) from error
    except (ValueError, RecursionError) as error:
        raise FileError(must_be("result", "JSON", "something else")) from error


def _subject(data: Mapping[str, Any]) -> Subject:
    kind = str(data.get("kind", ""))
    if kind not in SUBJECTS:
        rule = f"a result of {', '.join(SUBJECTS)}"
        raise InputError(must_be("result", rule, f"one of {kind!r}" if kind else "another"))
    return SUBJECTS[kind]
