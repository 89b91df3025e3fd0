"""What analysis shall stay as it was: `income ~ age + sex`, or `table:age,sex`."""

import re
from dataclasses import dataclass

from discreet.errors import InputError, must_be

TABLE = "table:"
RULE = "a formula such as 'income ~ age + sex + age:sex', or a table such as 'table:age,sex'"
QUOTED = "a name that holds one of these signs stands in backquotes"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRequest:
    """The response of a regression, None for a table, and its terms, each the names of columns."""

    text: str
    response: str | None
    terms: tuple[tuple[str, ...], ...]

    @property
    def predictors(self) -> tuple[str, ...]:
        """Columns of the terms, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are needed."""
        return (*([] if self.response is None else [self.response]), *self.predictors)


def analysis_request(text: str) -> AnalysisRequest:
    """The analysis that a text asks for; raises InputError for what is none.

    `y ~ a + b + a:b`: a regression with an interaction, which brings its main effects with it;
    `y ~ 1`: the mean alone. `table:a,b`: the shares of a table.
    """
    if text.strip().startswith(TABLE) and len(_split(text, "~")) == 1:
        names = tuple(_name(part, text) for part in _split(text.strip()[len(TABLE) :], ","))
        return AnalysisRequest(text=text, response=None, terms=(_distinct(names, text),))
    sides = _split(text, "~")
    if len(sides) != 2:
        raise InputError(must_be("keep", RULE, repr(text)))
    response = _name(sides[0], text)
    terms = _terms(sides[1], text)
    if any(response in term for term in terms):
        rule = "a formula whose response is no predictor"
        raise InputError(must_be("keep", rule, repr(text)))
    return AnalysisRequest(text=text, response=response, terms=terms)


def _terms(text: str, whole: str) -> tuple[tuple[str, ...], ...]:
    """The terms, main effects first."""
    if text.strip() == "1":
        return ()
    given = [
        _distinct(tuple(_name(name, whole) for name in _split(part, ":")), whole)
        for part in _split(text, "+")
    ]
    mains = [(name,) for term in given for name in term]
    products = {frozenset(term): term for term in given if len(term) > 1}
    if any(len(term) > 2 for term in given):
        raise InputError(must_be("keep", "a formula with interactions of two columns", repr(whole)))
    return (*dict.fromkeys(mains), *products.values())


def _distinct(names: tuple[str, ...], text: str) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise InputError(must_be("keep", "without a column twice in a term", repr(text)))
    return names


def _name(part: str, text: str) -> str:
    """One column: bare, or in backquotes."""
    bare = part.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == "`" and "`" not in bare[1:-1]:
        return bare[1:-1]
    if not bare or re.search(r"[~+:,*`()|^]", bare):
        raise InputError(must_be("keep", RULE, repr(text), remedy=QUOTED))
    return bare


def _split(text: str, sign: str) -> list[str]:
    """The parts between the signs that stand outside backquotes."""
    return re.split(rf"{re.escape(sign)}(?=(?:[^`]*`[^`]*`)*[^`]*$)", text)
