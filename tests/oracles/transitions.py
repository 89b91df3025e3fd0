"""Transitions for tests: made of plain lists of values before and after."""

import numpy as np
from hypothesis import strategies as st

from discreet.engines.key_space import KeyLevels
from discreet.protection.transition import Transition


def key_levels(name, values):
    """The key of these values, None last."""
    known = sorted({v for v in values if v is not None})
    levels = (*known, None) if None in values else tuple(known)
    labels = tuple("missing" if v is None else v for v in levels)
    return KeyLevels(name=name, values=levels, labels=labels, n_missing=0)


def transition(names, before, after, *, recode=None, records=None, weight=None, shares=None):
    """Rows of values before and after; recode[name][value] is the value by the recoding alone."""
    recode = recode or {}
    olds, news, tos, leaf_shares = [], [], [], []
    for j, name in enumerate(names):
        old = key_levels(name, [row[j] for row in before])
        own = {v: recode.get(name, {}).get(v, v) for v in old.values}
        new = key_levels(name, [*own.values(), *(row[j] for row in after)])
        at = {v: i for i, v in enumerate(new.values)}
        to = np.array([at[own[v]] for v in old.values], dtype=np.int64)
        held = np.array([sum(own[v] == u for v in old.values if v is not None) for u in new.values])
        share = np.maximum(held, 1) / old.n_known
        if shares and name in shares:
            share = np.array([shares[name][u] for u in new.values])
        olds.append(old)
        news.append(new)
        tos.append(to)
        leaf_shares.append(share)
    return Transition(
        keys_before=tuple(olds),
        keys_after=tuple(news),
        before=_levels(olds, before),
        after=_levels(news, after),
        records=np.ones(len(before), np.int64) if records is None else np.array(records),
        recoded=tuple(tos),
        leaf_shares=tuple(leaf_shares),
        weight=None if weight is None else np.array(weight, dtype=np.float64),
    )


def _levels(keys, rows):
    found = [[key.values.index(v) for key, v in zip(keys, row)] for row in rows]
    return np.array(found, dtype=np.int64).reshape(len(rows), len(keys))


@st.composite
def changes(draw, *, min_keys=1):
    """Names, rows before and after, a recoding, and the records and weight of each row."""
    n_keys = draw(st.integers(min_keys, 3))
    names = [f"k{j}" for j in range(n_keys)]
    value = st.sampled_from(["a", "b", "c", None])
    before = draw(st.lists(st.tuples(*[value] * n_keys), min_size=1, max_size=8))
    recode = {}
    for name in names:
        kind = draw(st.sampled_from(["none", "merged", "dropped"]))
        if kind == "merged":
            recode[name] = {"a": "ab", "b": "ab"}
        if kind == "dropped":
            recode[name] = {"a": "", "b": "", "c": "", None: ""}
    after = [
        tuple(draw(_after(recode.get(n, {}), v)) for n, v in zip(names, row)) for row in before
    ]
    records = draw(st.lists(st.integers(1, 5), min_size=len(before), max_size=len(before)))
    return names, before, after, recode, records


def _after(recode, value):
    """Mostly the recoding; sometimes taken out or another value that the recoding may give."""
    to = recode.get(value, value)
    if to == "":
        return st.just(to)
    others = sorted({recode.get(v, v) for v in "abc"})
    return st.one_of(st.just(to), st.just(to), st.none(), st.sampled_from(others))
