"""Faults put into a copy of the source, one by one: the tests must notice each of them.

A test that cannot fail says nothing. Each mutant here is a small change of a line that makes up a
headline figure or an uncertainty: an interval too narrow or too wide, a standard error too small or
too large, a part of it left out. The tests named with it must fail; those that do are why this
repository may claim its errors. `make mutants` runs all of them, `python tests/mutants.py smc` those
whose file or fault has the word. Ends with 1 if one survives, if its old text is no longer found, or
if it keeps the tests from running at all, which would prove nothing."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("src", "tests", "pyproject.toml", "examples")
FAILED = 1  # pytest's code where tests ran and some failed
KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Mutant:
    """In `file` (below src/discreet) the text `old`, which is there once, becomes `new`."""

    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The file in a tree."""
        return Path("src/discreet") / self.file

    def applied(self, text: str) -> str | None:
        """The text with the fault, None where `old` is not there exactly once."""
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None


STATISTICAL = "tests/statistical"
ANALYSIS = ("tests/unit/protection/test_analysis.py",)
PROPENSITY = ("tests/unit/protection/test_propensity.py",)
LOSS = ("tests/unit/protection/test_loss.py",)
SEARCH_LOSS = ("tests/unit/protection/test_search_loss.py",)
HEADLINE = (f"{STATISTICAL}/test_headline_errors.py",)
RECORDS = (f"{STATISTICAL}/test_record_risk_calibration.py",)
CLUSTERS = ("tests/unit/survey/headline/test_by_cluster.py",)
BY_DESIGN = (f"{STATISTICAL}/test_limits_by_design.py",)
MARGINS = ("tests/unit/survey/test_known_margins.py",)
DESIGN = ("tests/unit/survey/test_design.py",)
NESTED = ("tests/unit/survey/headline/test_nested_in_clusters.py",)
RECOMMENDATION = ("tests/unit/survey/headline/test_recommendation.py",)
PATTERNS = ("tests/unit/survey/headline/test_by_pattern.py",)
SUPERPOPULATION = (f"{STATISTICAL}/test_superpopulation_errors.py",)
LIMITS = (f"{STATISTICAL}/test_survey_model_limits.py",)
BELIEF = f"{STATISTICAL}/test_belief_errors.py"
CHAINS = (f"{STATISTICAL}/test_chain_errors.py",)
FIBER = (f"{STATISTICAL}/test_fiber_errors.py",)
COUNTS = f"{STATISTICAL}/test_count_table_errors.py"
TABLES = f"{STATISTICAL}/test_table_errors.py"
CROSSES = ("tests/agreement/test_crosses_brute_force.py",)
RULES = ("tests/unit/policy/test_record_rules.py",)
POPULATIONS = ("tests/unit/survey/test_population_counts.py",)
ORDER = ("tests/unit/engines/test_duckdb_order.py",)
SPECIAL = ("tests/agreement/test_suda_where_cells_lie.py",)
SUBSETS = ("tests/unit/survey/suda/test_subsets.py",)
BY_CHANCE = "tests/unit/masks/records"
SUPPRESSION = ("tests/unit/masks/test_suppression_moves.py",)
VALUES = ("tests/agreement/test_records_suppression.py",)
RECODING_SEARCH = ("tests/agreement/test_recoding_search.py",)
RECODING = ("tests/unit/masks/records/test_recoding.py",)
LINKED = "tests/unit/tables/linked"
ATTACKS = ("tests/agreement/test_attack_every_kind.py",)
CERTIFICATES = ("tests/unit/fiber/bounds/test_certificates.py",)
PATTERN_FILE = "masks/suppression_pattern.py"

MUTANTS = (
    Mutant(
        "masks/records/candidate_suppression.py",
        "enough: BoolArray = counted >= problem.k",
        "enough: BoolArray = counted >= problem.k - 1",
        "one record too few is enough for candidates",
        VALUES,
    ),
    Mutant(
        "masks/records/candidate_suppression.py",
        "        least += known * float",
        "        least += 1.01 * known * float",
        "the proved least of suppression is too high",
        VALUES,
    ),
    Mutant(
        "masks/records/strict_suppression.py",
        "self.spare = problem.records[self.donors] - problem.k",
        "self.spare = problem.records[self.donors] - problem.k + 1",
        "donors fall below k",
        VALUES,
    ),
    Mutant(
        "masks/records/strict_suppression.py",
        "    search.join_what_is_there()\n",
        "",
        "who is left joins no pattern",
        VALUES,
    ),
    Mutant(
        "masks/records/widening.py",
        "& (self.n[places] + n >= problem.k)",
        "",
        "a pattern that is joined may stay below k",
        VALUES,
    ),
    Mutant(
        "masks/records/widening.py",
        "(used + taken <= problem.most)",
        "(taken <= problem.most)",
        "the limit of a key is exceeded",
        VALUES,
    ),
    Mutant(
        "masks/records/wildcard_suppression.py",
        "if after[row] >= problem.k and",
        "if",
        "values are given back although too few match",
        VALUES,
    ),
    Mutant(
        "masks/records/fitting.py",
        "return np.where(at == NOT_THERE, 0, counts[at])",
        "return counts[at]",
        "a value that no original has fits some",
        VALUES,
    ),
    Mutant(
        "protection/lattice.py",
        "small = np.repeat(sizes < k,",
        "small = np.repeat(sizes <= k,",
        "cells of k records stand out",
        RECODING_SEARCH,
    ),
    Mutant(
        "protection/lattice.py",
        "least = self._cheapest[np",
        "least = 1.5 * self._cheapest[np",
        "the bound of a node is no bound",
        RECODING_SEARCH,
    ),
    Mutant(
        "protection/search.py",
        "            open_ = np.flatnonzero((bounds < self._to_beat()) & ~given)",
        "            open_ = np.flatnonzero((bounds < 0.7 * self._to_beat()) & ~given)",
        "the search ends too early and says proved",
        RECODING_SEARCH,
    ),
    Mutant(
        "masks/records/recoding.py",
        "        place = bisect_right(self.at, _number(value) + TINY)",
        "        place = bisect_right(self.at, _number(value) - TINY)",
        "a break point is in the band below",
        RECODING,
    ),
    Mutant(
        "protection/model_fit.py",
        "        errors=np.sqrt(variance * np.diag(inverse)),",
        "        errors=np.sqrt(variance * np.diag(inverse)) / 2,",
        "analysis kept: errors of a linear regression are halved",
        ANALYSIS,
    ),
    Mutant(
        "protection/model_fit.py",
        "    variance = squares / free",
        "    variance = 4 * squares / free",
        "analysis kept: errors of a linear regression are doubled",
        ANALYSIS,
    ),
    Mutant(
        "protection/model_fit.py",
        "errors, quantile = np.sqrt(np.diag(inverse))",
        "errors, quantile = 2 * np.sqrt(np.diag(inverse))",
        "analysis kept: errors of a logistic regression are doubled",
        ANALYSIS,
    ),
    Mutant(
        "protection/model_fit.py",
        "    squares = float(cells.within.sum() + cells.weight @ rest**2)",
        "    squares = float(cells.weight @ rest**2)",
        "analysis kept: what varies within cells of equal predictors is left out",
        ANALYSIS,
    ),
    Mutant(
        "protection/estimates_kept.py",
        "moved = exact(gone / before.standard_error)",
        "moved = exact(gone / (after.standard_error or 1))",
        "analysis kept: the difference is in errors after, not before",
        ANALYSIS,
    ),
    Mutant(
        "protection/table_kept.py",
        "4 * n**2",
        "2 * n**2",
        "analysis kept: the interval of a share is too wide",
        ANALYSIS,
    ),
    Mutant(
        "protection/model_columns.py",
        "effective=float(w.sum() ** 2 / (w @ w))",
        "effective=float(len(w))",
        "analysis kept: a weighted share counts as many records as an unweighted one",
        ANALYSIS,
    ),
    Mutant(
        "protection/propensity.py",
        "    unit = (1.0 - share) ** 2 * share / n",
        "    unit = (1.0 - share) * share / n",
        "propensity: expected as of two independent files",
        PROPENSITY,
    ),
    Mutant(
        "protection/propensity.py",
        "value=(2 * n_free) ** 0.5 * unit",
        "value=n_free**0.5 * unit",
        "propensity: the deviation of what is expected is too small",
        PROPENSITY,
    ),
    Mutant(
        "protection/propensity.py",
        "fitted_scores(model)\n",
        "fitted_scores(model)\n    scores = None if scores is None else (scores + 0.5) / 2\n",
        "propensity: scores are half as far from even",
        PROPENSITY,
    ),
    Mutant(
        "protection/key_tables.py",
        "known = one.known_after & other.known_after",
        "known = one.known_after",
        "loss: values taken out together count as information",
        LOSS,
    ),
    Mutant(
        "protection/key_tables.py",
        "        to[known & (to == len(new.values) - 1)] = len(new.values)",
        "        pass",
        "loss: a value recoded into the missing level counts as placed",
        LOSS,
    ),
    Mutant(
        "protection/key_tables.py",
        "np.abs(before - after).sum() / 2.0)",
        "np.abs(before - after).sum())",
        "loss: the distance of tables counts each person twice",
        LOSS,
    ),
    Mutant(
        "protection/key_change.py",
        "return self.known_before & ~self.known_after",
        "return ~self.known_after",
        "loss: a value that was missing before counts as taken out",
        LOSS,
    ),
    Mutant(
        "protection/key_change.py",
        "shared = entropy + after - entropy_of(self.records)",
        "shared = after",
        "loss: entropy kept takes chance changes for information",
        LOSS,
    ),
    Mutant(
        "protection/search_loss.py",
        "np.clip((shares - 1.0 / leaves) / (1.0 - 1.0 / leaves), 0.0, 1.0)",
        "np.clip(shares, 0.0, 1.0)",
        "search loss: a value as it was costs its own leaf",
        SEARCH_LOSS,
    ),
    Mutant(
        "protection/search_loss.py",
        "np.expm1(np.log1p(by_key) @ weights)",
        "by_key @ weights",
        "search loss: the mean over keys of ARX is arithmetic",
        SEARCH_LOSS,
    ),
    Mutant(
        "protection/search_loss.py",
        "bits = shares * -np.log2(_or_1(shares))\n",
        "bits = np.ones(len(shares)) * shares\n",
        "search loss: taking out a rare value costs as little as a common one",
        SEARCH_LOSS,
    ),
    Mutant(
        "survey/suda/alone.py",
        "alone[single] = records[single] == 1",
        "alone[single] = True",
        "special uniques: a cell of two records counts as one that is alone",
        SPECIAL,
    ),
    Mutant(
        "survey/suda/alone.py",
        "        for part in combinations(keys, len(keys) - 1):\n            if part in alone:",
        "        for part in combinations(keys, 1):\n            if part in alone:",
        "special uniques: only single keys make a set that holds them no minimal one",
        SPECIAL,
    ),
    Mutant(
        "survey/suda/alone.py",
        "key=lambda one: (-one.score, one.word))",
        "key=lambda one: -one.score)",
        "special uniques: the example hangs on the order of the cells",
        SPECIAL,
    ),
    Mutant(
        "survey/suda/key_sets.py",
        "        yield (key,), [keys for keys in left if key in keys]",
        "        yield (key,), left",
        "sets of keys: cells are brought together by a key that a set does not hold",
        SPECIAL,
    ),
    Mutant(
        "engines/local/cells.py",
        "        if self.together is None or not self.together <= by:\n            self.exchange(by)",
        "        if self.together is None:\n            self.exchange(by)",
        "sets of keys: cells that agree are left in different parts",
        SUBSETS,
    ),
    Mutant(
        PATTERN_FILE,
        "return self._n_shown[number] == 0",
        "return self._n_shown[number] <= 1",
        "suppression: a table counts as a witness though a figure that it changes is shown",
        SUPPRESSION,
    ),
    Mutant(
        PATTERN_FILE,
        "(problem.figures.counts[figures] - problem.rule.least, change),",
        "(problem.figures.counts[figures], change),",
        "suppression: hidden figures fall below what the rule tells of them",
        SUPPRESSION,
    ),
    Mutant(
        PATTERN_FILE,
        "whole=guarantee is Guarantee.WHOLE",
        "whole=False",
        "suppression: tables with fractions prove a guarantee in whole numbers",
        SUPPRESSION,
    ),
    Mutant(
        "masks/suppression_moves.py",
        "np.where(self._room >= abs(steps), price, np.inf)",
        "price",
        "suppression: a box is taken though it cannot be made so often",
        SUPPRESSION,
    ),
    Mutant(
        "masks/records/pram_chances.py",
        "np.maximum((retention - alike) / room, 0.0)",
        "np.maximum(retention - alike, 0.0)",
        "post-randomisation: fewer values stay than were asked for",
        (f"{BY_CHANCE}/test_pram.py",),
    ),
    Mutant(
        "masks/records/pram_chances.py",
        "rng.integers(0, self.counts.totals[stratum])",
        "rng.integers(0, np.maximum(self.counts.totals[stratum] - 1, 1))",
        "post-randomisation: one record of a stratum is never drawn",
        (f"{BY_CHANCE}/test_pram.py",),
    ),
    Mutant(
        "masks/records/after_pram.py",
        "records * (open_chance / (1 - open_chance))",
        "records * open_chance",
        "post-randomisation: that a record is alone tells nothing",
        (f"{BY_CHANCE}/test_after_pram.py",),
    ),
    Mutant(
        "masks/records/after_pram.py",
        "np.where(level == missing_level(one.key), level, 0)",
        "np.zeros_like(level)",
        "post-randomisation: a missing value could have become another",
        (f"{BY_CHANCE}/test_after_pram.py",),
    ),
    Mutant(
        "masks/records/after_pram.py",
        "others = self.log_absent - np.log1p(-np.where(sure, 0.0, own))",
        "others = self.log_absent",
        "post-randomisation: a person has to be absent beside himself",
        (f"{BY_CHANCE}/test_after_pram.py",),
    ),
    Mutant(
        "masks/records/swap_partners.py",
        "ROUNDS = 20 ",
        "ROUNDS = 0 ",
        "swapping: partners follow from the order of the areas",
        (f"{BY_CHANCE}/test_swap_partners.py",),
    ),
    Mutant(
        "masks/records/swap_partners.py",
        "np.lexsort((rank, ~first, may_be, unit_class))",
        "np.lexsort((rank, may_be, unit_class))",
        "swapping: a risky unit is left without a partner that it could have",
        (f"{BY_CHANCE}/test_swap_partners.py",),
    ),
    Mutant(
        "masks/records/swapping.py",
        "np.lexsort((rng.permutation(len(risky)), ~risky))[:n]",
        "rng.permutation(len(risky))[:n]",
        "swapping: risky pairs do not come first",
        (f"{BY_CHANCE}/test_swapping.py",),
    ),
    Mutant(
        "masks/records/after_swapping.py",
        "/ (repeats * (repeats - 1))",
        "/ (repeats - 1)",
        "swapping: the error of the expected chance is that of one draw",
        (f"{BY_CHANCE}/test_after_swapping.py",),
    ),
    Mutant(
        "masks/records/households.py",
        "np.where(alone, 0, symbol[right] + 1)",
        "np.where(alone, 0, symbol[right])",
        "swapping: a household of one is like one with another member",
        (f"{BY_CHANCE}/test_households.py",),
    ),
    Mutant(
        "masks/records/sampling.py",
        "kept.weight * n_units / n_drawn",
        "kept.weight * len(records) / len(kept)",
        "sampling: households are weighted by the persons drawn",
        (f"{BY_CHANCE}/test_sampling.py",),
    ),
    Mutant(
        "masks/records/weights.py",
        "order = rng.permutation(len(units))",
        "order = np.arange(len(units))",
        "rounded weights: neighbours in the file are rounded apart",
        (f"{BY_CHANCE}/test_weights.py",),
    ),
    Mutant(
        "masks/records/weights.py",
        "+ rng.random())",
        "+ 0.5)",
        "rounded weights: always rounded the same way",
        (f"{BY_CHANCE}/test_weights.py",),
    ),
    Mutant(
        "masks/records/order.py",
        "place[number[order]]",
        "number[order]",
        "random order: households keep the order of their numbers",
        (f"{BY_CHANCE}/test_order.py",),
    ),
    Mutant(
        "policy/verdict.py",
        "    return not above(other, one) if strict else above(one, other)",
        "    return above(one, other)",
        "policy: a strict limit lets the limit itself pass",
        RULES,
    ),
    Mutant(
        "policy/rule.py",
        'hold = at_most if self.side == "most" else at_least',
        "hold = at_most",
        "policy: a least number is taken for a most",
        RULES,
    ),
    Mutant(
        "survey/population_counts.py",
        "TAIL = 0.05",
        "TAIL = 0.1",
        "policy: limits of a population count too narrow",
        POPULATIONS,
    ),
    Mutant(
        "survey/population_counts.py",
        "TAIL = 0.05",
        "TAIL = 0.02",
        "policy: limits of a population count too wide",
        POPULATIONS,
    ),
    Mutant(
        "engines/duckdb_order.py",
        "- 2 * n * cubes - n**3",
        "- n * cubes - n**3",
        "policy: the variance of equal neighbours is wrong",
        ORDER,
    ),
    Mutant(
        "engines/duckdb_households.py",
        'several=_pattern_sizes(session, "members > 1")',
        'several=_pattern_sizes(session, "true")',
        "policy: households of one member count among those of several",
        RULES,
    ),
    Mutant(
        "survey/headline/limits.py",
        "reach = NORMAL_QUANTILE * chance",
        "reach = 0.0",
        "headline: the chance of the draw left out of both intervals",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/recommendation.py",
        "chance=math.sqrt(varying + 0.25) / (n_unique * share * (1 - share) + 0.5),",
        "chance=0.0,",
        "headline: the chance of the draw left out of the interval of uniques",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/recommendation.py",
        "chance=TOO_WIDE_MATCHES * math.sqrt",
        "chance=3 * TOO_WIDE_MATCHES * math.sqrt",
        "headline: three times the chance in the interval of matches",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/limits.py",
        "reach = NORMAL_QUANTILE * counts * math.hypot(spread, misfit)",
        "reach = NORMAL_QUANTILE * counts * spread",
        "headline: the misfit of the models left out",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/limits.py",
        "NORMAL_QUANTILE = 1.6448536269514722",
        "NORMAL_QUANTILE = 0.8224268134757361",
        "headline: limits half as far out",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/recommendation.py",
        "    return math.hypot(MATCHES_FAR * math.log(1 / fraction), further)",
        "    return 1.0",
        "headline: limits of matches far too wide",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/extrapolation.py",
        "tempering = min(1.0, TEMPERED_CELLS / in_bin.sum())",
        "tempering = 1.0",
        "headline: the likelihood counts every cell in full",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/extrapolation.py",
        "TEMPERED_CELLS = 2000.0",
        "TEMPERED_CELLS = 100.0",
        "headline: the likelihood counts next to nothing",
        HEADLINE,
    ),
    Mutant(
        "survey/headline/extrapolation.py",
        "matches=histogram.seen_fraction + unseen",
        "matches=unseen",
        "headline: cells that the sample shows left out of the matches",
        ("tests/unit/survey/headline/test_extrapolation.py",),
    ),
    Mutant(
        "survey/headline/likeness.py",
        "np.maximum(margin[column] - records, LEAST_OTHERS)",
        "np.maximum(margin[column], LEAST_OTHERS)",
        "headline: a cell's own records count towards its likeness",
        ("tests/unit/survey/headline/test_likeness.py",),
    ),
    Mutant(
        "survey/headline/likeness.py",
        "weight[weight >= whole[:, None]] = 0.0",
        "whole[:] = 0.0",
        "headline: references of the cell itself count towards its likeness",
        ("tests/unit/survey/headline/test_likeness.py",),
    ),
    Mutant(
        "survey/headline/rate_index.py",
        "count = shared[rows[:, j], rows[:, k]] - own",
        "count = shared[rows[:, j], rows[:, k]]",
        "headline: a cell's own records count among its pairs",
        ("tests/unit/survey/headline/test_rate_index.py",),
    ),
    Mutant(
        "survey/headline/likeness.py",
        "weight[group[:, None] == self.group] = 0.0",
        "pass",
        "clusters: references of the own cluster count towards the likeness",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "bincount(level, minlength=size)[level] - own[place]",
        "bincount(level, minlength=size)[level]",
        "clusters: units of the own cluster count among the others",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "unique = np.where(records == 1, alone * between.unique, 0.0)",
        "unique = np.where(records == 1, alone, 0.0)",
        "clusters: nobody asks whether other clusters have the keys",
        BY_DESIGN,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "moved * left / (1 - share))",
        "0.0)",
        "clusters: what the steps leave open is left out of the limits",
        BY_DESIGN,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "self.n_clusters >= MANY_APART or self.n_clusters**2 > TOLD_APART * n_clusters",
        "True",
        "clusters: a few that differ in a key tell that all do",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "if self.n_clusters < FEWEST_CLUSTERS:",
        "if True:",
        "clusters: members of a household that share a level make it a frequent one",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "self._summed(own), self._summed(own**2)",
        "self._summed(own), None",
        "clusters: the weights of all that share the keys count as equal",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "modelled if told is None else self._joined(modelled, told, alone_within)",
        "modelled",
        "clusters: keys that nearly tell the cluster are like any other",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/by_cluster.py",
        "OF_A_MEETING, OF_A_MEETING_MATCHES = 1.5, 0.4",
        "OF_A_MEETING, OF_A_MEETING_MATCHES = 0.0, 0.0",
        "clusters: a few taken whole tell how many share a region",
        CLUSTERS,
    ),
    Mutant(
        "survey/headline/nested_in_clusters.py",
        "others = max(n_clusters - 1, drawn - 1) / (drawn - 1)",
        "others = 1.0",
        "clusters: a level meets no more often than in the clusters that were drawn",
        NESTED,
    ),
    Mutant(
        "survey/headline/nested_in_clusters.py",
        "stray = np.where(seen_away, 1.0, np.where(single, chance, 0.0))",
        "stray = np.zeros(len(units))",
        "clusters: whoever has the level of another cluster is taken to be of it",
        NESTED,
    ),
    Mutant(
        "survey/headline/rate_index.py",
        "return min(2 * (twice + 0.5) * together / (max(once, 1) * LEAST_OTHERS), 1.0)",
        "return 1.0",
        "headline: half a record for each date of birth that nobody else has",
        RECOMMENDATION,
    ),
    Mutant(
        "survey/known_margins.py",
        "for keys, table in self.certain.items():",
        "for keys, table in self.tables.items():",
        "known margins: tables that contradict each other make records certain",
        MARGINS,
    ),
    Mutant(
        "survey/design.py",
        "repeated=nesting_of(cells).repeated,",
        "repeated=(),",
        "strata: a code and its label count as two keys",
        DESIGN,
    ),
    Mutant(
        "survey/headline/recommendation.py",
        "TOO_WIDE, TOO_WIDE_MATCHES = 0.8, 0.7",
        "TOO_WIDE, TOO_WIDE_MATCHES = 1.2, 1.1",
        "headline: limits half as wide again",
        BY_DESIGN,
    ),
    Mutant(
        "survey/known_margins.py",
        "(table - sample[keys].reshape(table.shape))[at]",
        "table[at] - 1",
        "known margins: records with other keys count among those who could share them",
        MARGINS,
    ),
    Mutant(
        "survey/headline/within_margins.py",
        "certain = most <= 1",
        "certain = most <= 2",
        "known margins: one who is left counts as nobody",
        MARGINS,
    ),
    Mutant(
        "survey/design.py",
        "own = mean[stratum]",
        "own = held.weight_total / held.n_records",
        "strata: weights count one by one",
        DESIGN,
    ),
    Mutant(
        "survey/headline/rate_index.py",
        "pull = np.concatenate([[1.0], np.full(len(prior), RIDGE)])",
        "pull = np.concatenate([[1.0], np.full(len(prior), 0.1 * RIDGE)])",
        "headline: the weights of other populations hardly count",
        ("tests/unit/survey/headline/test_rate_index.py",),
    ),
    Mutant(
        "survey/headline/extrapolation.py",
        "log_weight -= _distance(",
        "log_weight -= 0 * _distance(",
        "headline: models are not held against what was seen elsewhere",
        ("tests/unit/survey/headline/test_extrapolation.py",),
    ),
    Mutant(
        "survey/headline/record_risk.py",
        "matches[one] = self.single[bins[one], label]\n"
        "        unique[one] = self.alone[bins[one], label]",
        "matches[one] = self.single[0, label]\n        unique[one] = self.alone[0, label]",
        "record risks: all sample uniques have that of records without neighbours",
        RECORDS,
    ),
    Mutant(
        "survey/headline/record_risk.py",
        "found: FloatArray = np.log(inside / (1 - inside))",
        "found: FloatArray = 1.5 * np.log(inside / (1 - inside))",
        "record risks: sharpened",
        RECORDS,
    ),
    Mutant(
        "survey/headline/by_pattern.py",
        "risk, unique = (whole.read(name)[own] for name in",
        "risk, unique = (whole.read(name)[np.zeros_like(own)] for name in",
        "record risks: records of a pattern take the risk of another cell",
        PATTERNS,
    ),
    Mutant(
        "survey/models/superpopulation/fitted.py",
        "variance = tally.matches_variance + of_fit**2",
        "variance = tally.matches_variance",
        "superpopulations: the fit's error left out of the matches",
        SUPERPOPULATION,
    ),
    Mutant(
        "survey/models/superpopulation/fitted.py",
        "return self.log_error * matches",
        "return 2 * self.log_error * matches",
        "Zayatz: the error of the matches doubled",
        SUPERPOPULATION,
    ),
    Mutant(
        "survey/models/superpopulation/size_index_fit.py",
        "math.sqrt(half**2 + variance))",
        "math.sqrt(variance))",
        "superpopulations: the fit's error left out of the uniques",
        (*SUPERPOPULATION, *LIMITS),
    ),
    Mutant(
        "survey/models/loglinear/fitted.py",
        "self.estimation + self.choice + criterion.bias**2 + criterion.standard_error**2",
        "self.choice",
        "log-linear: only the choice among models is in the error",
        (f"{STATISTICAL}/test_loglinear_simulation.py",),
    ),
    Mutant(
        "survey/models/loglinear/fitted.py",
        "reach = NORMAL_QUANTILE * error",
        "reach = 2 * NORMAL_QUANTILE * error",
        "log-linear: limits twice as far out as the error says",
        (f"{STATISTICAL}/test_loglinear_simulation.py",),
    ),
    Mutant(
        "survey/models/loglinear/minimum_error.py",
        "float(np.sqrt(max(variance, 0.0)))",
        "float(np.sqrt(max(variance, 0.0))) / 2",
        "log-linear: the error of the minimum-error criterion halved",
        (f"{STATISTICAL}/test_loglinear_simulation.py",),
    ),
    Mutant(
        "survey/models/benedetti_franconi.py",
        "shape, scale = mean * mean / variance, variance / mean",
        "shape, scale = 4 * mean * mean / variance, variance / mean / 4",
        "Benedetti–Franconi and others: limits of matches half as wide",
        LIMITS,
    ),
    Mutant(
        "survey/models/benedetti_franconi.py",
        "shift = whole_below(mean - variance, scale=mean)",
        "shift = 0.0",
        "Benedetti–Franconi: limits of uniques as if they were a Poisson number",
        LIMITS,
    ),
    Mutant(
        "survey/models/exchangeable_prior.py",
        "tail = (1 - confidence) / 2 * (1 + ALIKE)",
        "tail = (1 - confidence) / 8 * (1 + ALIKE)",
        "Cohen–Sackrowitz: limits too wide",
        LIMITS,
    ),
    Mutant(
        "survey/models/dis.py",
        "math.sqrt(x * (2 * pairs + 4 * x * pairs + 6 * x * triples))",
        "math.sqrt(x * 2 * pairs)",
        "DIS: most of the error left out",
        (*LIMITS, "tests/unit/survey/models/test_dis.py"),
    ),
    Mutant(
        "survey/models/lancaster.py",
        "self._figure(tally.matches, math.sqrt(tally.matches), self.n_cells)",
        "self._figure(tally.matches, 2 * math.sqrt(tally.matches), self.n_cells)",
        "Lancaster: the error of the matches doubled",
        LIMITS,
    ),
    Mutant(
        "survey/backtest/league.py",
        "gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))",
        "gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))",
        "backtest: a model preferred by one standard error of the difference",
        ("tests/unit/survey/backtest/test_league_errors.py",),
    ),
    Mutant(
        "belief/draws/chain_frequencies.py",
        "wider = (p * n + 1) / (n + 2)",
        "wider = p",
        "walks: no rule of succession for values seldom seen",
        CHAINS,
    ),
    Mutant(
        "belief/draws/chain_frequencies.py",
        "1.0 / (counts.size / 10 + 2) if room else 0.0",
        "0.0",
        "walks: a value that all draws have is certain",
        CHAINS,
    ),
    Mutant(
        "belief/draws/chain_frequencies.py",
        "errors = np.sqrt(wider * (1 - wider) / n)",
        "errors = 2 * np.sqrt(wider * (1 - wider) / n)",
        "independent tables: errors of shares doubled",
        CHAINS,
    ),
    Mutant(
        "belief/unreleased_variables.py",
        "None if error is None else error * split",
        "error",
        "a variable put back: the true table's error is not scaled",
        (f"{BELIEF}::test_a_variable_put_back_leaves_relative_errors_alone",),
    ),
    Mutant(
        "belief/draws/weights.py",
        "float(np.sqrt(squares)) / n_tried",
        "float(np.sqrt(squares)) / n_tried / 2",
        "weighted draws: the error of the normaliser halved",
        (f"{BELIEF}::test_weighted_draws",),
    ),
    Mutant(
        "belief/draws/weights.py",
        "error = np.sqrt(np.maximum(here * (1 - 2 * p) + p**2 * every, 0.0))",
        "error = np.sqrt(p * (1 - p) / len(shares))",
        "weighted draws: errors of cells as if weights were even",
        (f"{BELIEF}::test_weighted_draws",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "terms = self.shares * (1 - (self.log_weights - mean)) - 1 / self.n_tried",
        "terms = 2 * self.shares * (1 - (self.log_weights - mean)) - 1 / self.n_tried",
        "weighted draws: the error of the entropy too large",
        (f"{BELIEF}::test_weighted_draws",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "self.shares * (1 - (self.log_weights - mean)) - 1 / self.n_tried",
        "np.hypot(self.shares - 1 / self.n_tried, self.shares * (self.log_weights - mean))",
        "a publication: errors of the entropy's two parts added as if independent",
        (f"{BELIEF}::test_weighted_draws_of_a_publication",),
    ),
    Mutant(
        "belief/draws/smc.py",
        "few * float(spread.std(ddof=1) / np.sqrt(len(spread)))",
        "few * float(spread.std(ddof=1))",
        "populations: the spread of one for the error of their mean",
        (f"{BELIEF}::test_populations_led_up_to_a_model",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "return Figure(value=value, how=How.ESTIMATE, standard_error=value * error)",
        "return Figure(value=value, how=How.ESTIMATE, standard_error=2 * value * error)",
        "weighted draws: the true table's error doubled",
        (f"{BELIEF}::test_a_posterior_by_weighted_draws",),
    ),
    Mutant(
        "belief/posterior.py",
        "standard_error=value * evidence.standard_error)",
        "standard_error=evidence.standard_error)",
        "populations: the true table's error is that of a logarithm",
        (f"{BELIEF}::test_the_true_table_has_the_relative_error_of_the_evidence",),
    ),
    Mutant(
        "belief/draws/augmentation.py",
        "errors[largest[told.varied]] = told.standard_error",
        "errors[largest[told.varied]] = told.standard_error / 2",
        "data augmentation: errors of cells halved",
        (f"{BELIEF}::test_data_augmentation",),
    ),
    Mutant(
        "belief/draws/data_augmentation.py",
        "by_chain.std(ddof=1) / np.sqrt(len(by_chain))",
        "by_chain.std(ddof=1)",
        "data augmentation: the true table's error is that of one chain",
        (f"{BELIEF}::test_the_true_table_by_data_augmentation",),
    ),
    Mutant(
        "belief/models/bridge_sampling.py",
        "return float(np.sqrt(variance))",
        "return float(np.sqrt(variance)) / 2",
        "bridge sampling: the error halved",
        ("tests/unit/belief/models/test_bridge_sampling.py",),
    ),
    Mutant(
        "belief/models/model_averaging.py",
        "errors = weights * np.sqrt(shares)",
        "errors = np.sqrt(shares)",
        "weights of models: errors of logarithms for their own",
        (f"{BELIEF}::test_weights_of_models",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "terms = self.shares * (1 - (self.log_weights - mean)) - 1 / self.n_tried",
        "terms = 2 * (self.shares - 1 / self.n_tried)",
        "counts by draws: another error for the entropy",
        (f"{COUNTS}::test_a_hidden_count_table_by_draws",),
    ),
    Mutant(
        "belief/count_belief.py",
        "errors=np.array(list(belief.cell_error(cell).values())),",
        "errors=2 * np.array(list(belief.cell_error(cell).values())),",
        "counts by draws: errors of cells doubled",
        (f"{COUNTS}::test_a_hidden_count_table_by_draws",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "float(np.sqrt(np.sum(self.shares**2 * (values - mean) ** 2)))",
        "float(np.sqrt(np.sum(self.shares**2 * (values - mean) ** 2))) / 2",
        "counts by draws: the error of a mean halved",
        (f"{COUNTS}::test_a_hidden_count_table_by_draws",),
    ),
    Mutant(
        "belief/draws/weights.py",
        "error = np.array([1.0 / (1.0 / every + 2.0) if room else 0.0])",
        "error = np.zeros(1)",
        "weighted draws: a value that all draws have is certain",
        ("tests/unit/belief/draws/test_weighted_and_moved_draws.py",),
    ),
    Mutant(
        "belief/count_belief.py",
        "middle, square = p + Z**2 / (2 * n), p * (1 - p) / n + Z**2 / (4 * n**2)",
        "middle, square = p, p * (1 - p) / n",
        "counts by draws: the upper limit of a probability too low",
        (f"{COUNTS}::test_the_upper_limit_of_a_share_of_draws",),
    ),
    Mutant(
        "fiber/draws/sequential.py",
        "float(np.sqrt(max(0.0, spread) / n) * self.n_tried / shares.sum())",
        "float(2 * np.sqrt(max(0.0, spread) / n) * self.n_tried / shares.sum())",
        "sequential draws: the error of the number of tables doubled",
        FIBER,
    ),
    Mutant(
        "fiber/draws/sequential.py",
        "np.sqrt(self.shares**2 @ (self.tables - self.mean()) ** 2)",
        "np.sqrt(self.shares**2 @ (self.tables - self.mean()) ** 2) / 2",
        "exact and sequential draws: errors of means halved",
        FIBER,
    ),
    Mutant(
        "fiber/draws/drawing.py",
        "return np.where(same, span / (effective + 2), error)",
        "return error",
        "draws of tables: a cell that never varied is certain",
        FIBER,
    ),
    Mutant(
        "fiber/draws/drawing.py",
        "error[diagnostics.varied] = diagnostics.standard_error",
        "error[diagnostics.varied] = 2 * diagnostics.standard_error",
        "walks over tables: errors of means doubled",
        FIBER,
    ),
    Mutant(
        "fiber/sums/counting.py",
        "return prod(int(u) + 1 for u in block.upper)",
        "return prod(int(u) for u in block.upper)",
        "sums: one value of each free cell is not counted",
        ("tests/unit/fiber/sums/test_counting.py", "tests/agreement/test_fiber_counts.py"),
    ),
    Mutant(
        "fiber/sums/marginals.py",
        "entropy=max(0.0, entropy),",
        "entropy=max(0.0, entropy / 2),",
        "sums: the entropy halved",
        ("tests/unit/fiber/sums/test_entropy.py",),
    ),
    Mutant(
        "fiber/bounds/by_frechet.py",
        "lower = np.maximum(lower, entries[a] + entries[b] - middle)",
        "lower = np.maximum(lower, entries[a] + entries[b] - middle - 1)",
        "bounds: Fréchet's lower bound one too low",
        ("tests/unit/fiber/bounds/test_by_frechet.py",),
    ),
    Mutant(
        "fiber/bounds/by_shuttle.py",
        "upper[-1] - least + lower[:-1]",
        "upper[-1] - least",
        "bounds: the shuttle's upper bound too low",
        ("tests/unit/fiber/bounds/test_cell_bounds.py", "tests/agreement/test_fiber_bounds.py"),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "float(np.sqrt((terms**2).sum() + dead)) / BITS",
        "float(np.sqrt((terms**2).sum() + dead)) / BITS / 2",
        "a rounded S2: the error of the entropy halved",
        (f"{COUNTS}::test_a_rounded_statistic_by_draws",),
    ),
    Mutant(
        "count_tables/decimal_draws.py",
        "n_tried=drawn.tried,",
        "n_tried=4 * drawn.tried,",
        "a rounded S2: four times the draws that were tried",
        (f"{COUNTS}::test_a_rounded_statistic_by_draws",),
    ),
    Mutant(
        "count_tables/measures.py",
        "error = entropy.standard_error * value**2",
        "error = entropy.standard_error * value",
        "counts: the error of the risk 1 / (1 + H)",
        (f"{COUNTS}::test_a_hidden_count_table_by_draws",),
    ),
    Mutant(
        "count_tables/measures.py",
        "error = value**2 / math.log(2) * count.standard_error / count.value",
        "error = value * count.standard_error / count.value",
        "counts: the error of the risk 1 / log2 of the number of tables",
        (f"{COUNTS}::test_the_error_of_the_printed_risk_is_that_of_the_number_of_tables",),
    ),
    Mutant(
        "policy/verdict.py",
        "spread = 0.0 if figure.how is How.EXACT else ERRORS * (figure.standard_error or 0.0)",
        "spread = 0.0",
        "verdicts: without room for the error of a figure",
        ("tests/unit/count_tables/test_verdict_errors.py",),
    ),
    Mutant(
        "count_tables/findings.py",
        "how=How.EXACT if error is None else How.ESTIMATE,",
        "how=How.EXACT,",
        "counts of categories: a verdict without room for the error of a probability",
        ("tests/unit/count_tables/test_verdict_errors.py",),
    ),
    Mutant(
        "count_tables/com_poisson/estimation.py",
        "determinant = n * (v * f - c * c)",
        "determinant = 4 * n * (v * f - c * c)",
        "COM-Poisson: standard errors halved",
        (f"{COUNTS}::test_errors_of_the_fit",),
    ),
    Mutant(
        "count_tables/com_poisson/estimation.py",
        "return profile - self.log_likelihood + drop",
        "return profile - self.log_likelihood + 4 * drop",
        "COM-Poisson: limits of the dispersion twice as wide",
        (f"{COUNTS}::test_limits_of_the_fit",),
    ),
    Mutant(
        "count_tables/com_poisson/regression.py",
        "errors[place] = math.sqrt(variance)",
        "errors[place] = 2 * math.sqrt(variance)",
        "COM-Poisson regression: standard errors doubled",
        (f"{COUNTS}::test_errors_of_a_regression",),
    ),
    Mutant(
        "count_tables/com_poisson/conjugate.py",
        "return math.sqrt(float(weights @ (nodes - mean) ** 2))",
        "return math.sqrt(float(weights @ (nodes - mean) ** 2)) / 2",
        "Bayesian analysis: the deviation of the dispersion halved",
        (f"{COUNTS}::test_bayesian_limits_and_deviations_of_one_large_sample",),
    ),
    Mutant(
        "count_tables/com_poisson/comparison_estimates.py",
        "errors = np.sqrt(np.diag(spread))",
        "errors = 2 * np.sqrt(np.diag(spread))",
        "least squares: standard errors doubled",
        (f"{COUNTS}::test_errors_of_least_squares",),
    ),
    Mutant(
        "count_tables/com_poisson/goodness.py",
        "math.sqrt(p_value * (1 - p_value) / (1 + draws))",
        "math.sqrt(p_value * (1 - p_value)) / (1 + draws)",
        "goodness of fit: the error of the simulated p-value",
        (f"{COUNTS}::test_the_error_of_a_simulated_p_value",),
    ),
    Mutant(
        "numerics/chain_diagnostics.py",
        "for share in (0.05, 0.95):",
        "for share in (0.5, 0.5):",
        "chains: effective draws of the tails taken at the median",
        CHAINS,
    ),
    Mutant(
        "numerics/chain_diagnostics.py",
        "error = deviation / np.sqrt(effective_draws(halves))",
        "error = deviation / np.sqrt(halves.shape[0] * halves.shape[1])",
        "chains: errors as if draws were independent",
        CHAINS,
    ),
    Mutant(
        "numerics/chain_diagnostics.py",
        "tau = -1 + 2 * np.where(",
        "tau = 4 * np.where(",
        "chains: too few effective draws",
        CHAINS,
    ),
    Mutant(
        "tables/measures.py",
        "standard_error=None if exact else spread,",
        "standard_error=None if exact else spread / 2,",
        "audit: the error of the cells expected to be found halved",
        ("tests/unit/tables/test_measures.py",),
    ),
    Mutant(
        "tables/measures.py",
        "value**2 * number.standard_error",
        "value * number.standard_error",
        "audit: the error of 1 / M(T)",
        ("tests/unit/tables/test_measures.py",),
    ),
    Mutant(
        "tables/posteriors.py",
        "+ (w * e * _apart(",
        "+ (e * _apart(",
        "audit: the error of an average over models",
        (f"{TABLES}::test_an_average_over_models_whose_weights_are_estimates",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "np.sqrt((shares**2 * (kept - p) ** 2).sum())",
        "np.sqrt((shares**2 * (kept - p) ** 2).sum()) / 2",
        "a refusal: the error of its probability halved",
        (f"{TABLES}::test_the_probability_of_a_refusal",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "if kept.all() or not kept.any():",
        "if not kept.any():",
        "a refusal that all draws explain is certain",
        (f"{TABLES}::test_a_refusal_that_all_draws_explain_is_not_certain",),
    ),
    Mutant(
        "policy/verdict.py",
        "ERRORS * (figure.standard_error or 0.0)",
        "0.0",
        "audit: a verdict without room for the error of the risk",
        ("tests/unit/tables/test_audit_verdict.py",),
    ),
    Mutant(
        "tables/release.py",
        "own = table if len(axes) == len(table.names) else table.over(axes)",
        "own = table",
        "audit: variables that nothing tells of hide small counts",
        ("tests/properties/test_release_invariances.py",),
    ),
    Mutant(
        "tables/release.py",
        "chosen = maximal(nested.closed(axes) for axes in asked)",
        "chosen = asked",
        "audit: what one variable determines of another is not told with it",
        ("tests/unit/tables/test_ruled_out.py",),
    ),
    Mutant(
        "tables/shown_groups.py",
        "if learned or not out.nested.unconfirmed:",
        "if True:",
        "audit: a secret that follows a group is taken for a classification",
        ("tests/properties/test_release_invariances.py",),
    ),
    Mutant(
        "choice/certain_harm.py",
        "bare = judged_with(masked, out, options, confirmed=True) if judged.nested.unconfirmed "
        "else None",
        "bare = None",
        "choose: a secret that follows a group is taken for a classification",
        ("tests/unit/tables/test_ruled_out.py",),
    ),
    Mutant(
        "tables/groups.py",
        "possible &= (table.margin((*others, target)) > 0)[place]",
        "possible = (table.margin((*others, target)) > 0)[place]",
        "groups: of a large table only the last margin tells of a target",
        ("tests/unit/tables/test_shown_groups.py",),
    ),
    Mutant(
        "data/label_nesting.py",
        "len(first) <= len(second)",
        "len(first) < len(second)",
        "nesting: equal codes are taken for a classification",
        ("tests/unit/data/test_label_nesting.py",),
    ),
    Mutant(
        "data/nesting.py",
        "ACCIDENT = 1e-6",
        "ACCIDENT = 1e-5",
        "nesting: an accident is taken for a classification",
        ("tests/unit/data/test_nesting.py",),
    ),
    Mutant(
        "tables/printed.py",
        "(counts > 0) & (counts <= small)",
        "(counts > 0) & (counts < small)",
        "a printed count that is just small is passed",
        ("tests/unit/tables/test_printed.py",),
    ),
    Mutant(
        "tables/crosses.py",
        "if not any(touched <= one for one in sets):",
        "if False:",
        "smaller crosses: what other variables tell of them is left out",
        CROSSES,
    ),
    Mutant(
        "tables/crosses.py",
        "found = {frozenset(every), frozenset[int]().union(*own)}",
        "found = set[frozenset[int]]()",
        "smaller crosses: a variable that is only named dilutes those that are released",
        CROSSES,
    ),
    Mutant(
        "belief/exact/matched_distribution.py",
        "(1 - ROOM) * confidence * values",
        "2 * confidence * values",
        "smaller crosses: cells that can be found are taken for safe",
        CROSSES,
    ),
    Mutant(
        "choice/certain_harm.py",
        "shared=groups_reason(table, (*shown.learned, *known)),",
        'shared="",',
        "choice: groups that share a level are passed",
        ("tests/unit/cli/test_printed_tables.py",),
    ),
    Mutant(
        "choice/choice.py",
        "room = 0.0 if figure.how is How.EXACT else ERRORS * (figure.standard_error or 0.0)",
        "room = 0.0",
        "choice: a release judged without room for the error of its risk",
        ("tests/unit/choice/test_choice.py",),
    ),
    Mutant(
        "belief/drawn_belief.py",
        "else (min(own - log_z, 0.0), error)",
        "else (min(own - log_z, 0.0), error / 2)",
        "choice: the error of the true table's probability halved",
        (f"{TABLES}::test_the_true_table_after_rounding",),
    ),
    Mutant(
        "tables/measures.py",
        "own, room = distribution.get(truth, 0.0), ERRORS * errors.get(truth, 0.0)",
        "own, room = distribution.get(truth, 0.0), 0.0",
        "choice: a cell near the confidence is told without doubt",
        ("tests/unit/tables/test_share_found.py",),
    ),
    Mutant(
        "tables/worked_out.py",
        "return int(np.count_nonzero(met)), int(np.count_nonzero(met | ~found.exact))\n\n\ndef _of",
        "return int(np.count_nonzero(met)), int(np.count_nonzero(met))\n\n\ndef _of",
        "policy on tables: bounds that are not proved hide a count",
        ("tests/unit/policy/test_table_rules.py",),
    ),
    Mutant(
        "tables/printed.py",
        "int(np.count_nonzero((table == 0) & possible(axes)))",
        "int(np.count_nonzero(table == 0))",
        "policy on tables: what nesting rules out is a zero of persons",
        ("tests/unit/policy/test_table_rules.py",),
    ),
    Mutant(
        "policy/table_rules.py",
        "return Ruling.UNDECIDED if high else Ruling.KEPT",
        "return Ruling.KEPT",
        "policy on tables: a number known within limits is taken for none",
        ("tests/unit/policy/test_table_rules.py",),
    ),
    Mutant(
        "tables/worst_figure.py",
        "if missing and above(most, low):",
        "if False:",
        "policy on tables: crosses that were not looked at keep a rule",
        ("tests/unit/policy/test_table_rules.py",),
    ),
    Mutant(
        "choice/release_findings.py",
        "if one.ruling is Ruling.UNDECIDED",
        "if False",
        "policy on tables: choose takes an open rule for kept",
        ("tests/unit/policy/test_table_presets.py",),
    ),
    Mutant(
        "masks/redaction.py",
        "return 0 if self.zeros == Zeros.REDACTED else 1",
        "return 1",
        "redaction: zeros are shown where they are to be removed",
        ("tests/unit/masks/test_redaction.py",),
    ),
    Mutant(
        "tables/linked/rules.py",
        "        off = self.base - 1\n",
        "        off = self.base - 2\n",
        "published tables: the range of a rounded figure is one too narrow",
        (f"{LINKED}/test_rules.py",),
    ),
    Mutant(
        "tables/linked/implied.py",
        "    if wrong.any():",
        "    if False:",
        "published tables: a figure that its parts imply is not checked",
        (f"{LINKED}/test_implied.py",),
    ),
    Mutant(
        "fiber/bounds/certificates.py",
        "        if np.any(rest < 0):\n            continue\n",
        "",
        "published tables: a certificate need not cover its cells",
        CERTIFICATES,
    ),
    Mutant(
        "fiber/bounds/certificates.py",
        "int(ranges.high[row]) if weight > 0 else int(ranges.low[row])",
        "int(ranges.low[row]) if weight > 0 else int(ranges.high[row])",
        "published tables: a certificate uses the wrong end of a range",
        CERTIFICATES,
    ),
    Mutant(
        "tables/linked/derived.py",
        "value = int(universe.low[row] - universe.low[parts].sum())",
        "value = int(universe.low[row] + universe.low[parts].sum())",
        "published tables: figures are added where they are subtracted",
        (f"{LINKED}/test_derived.py",),
    ),
    Mutant(
        "tables/linked/derived.py",
        "    rows = np.flatnonzero(universe.high == 0)\n",
        "    rows = np.flatnonzero(universe.high >= 0)\n",
        "published tables: every figure is taken for a printed zero",
        (f"{LINKED}/test_derived.py",),
    ),
    Mutant(
        "tables/linked/sources.py",
        "        table = _with_part(table)\n",
        "        table = replace(table, part={})\n",
        "published tables: a table of a part is taken for one of everybody",
        (f"{LINKED}/test_sources.py",),
    ),
    Mutant(
        "tables/linked/domains.py",
        "ends = {one.low for one in bands} | {None if b.high is None else b.high + 1 for b in bands}",
        "ends = {one.low for one in bands} | {b.high for b in bands}",
        "published tables: a band ends before its last number",
        (f"{LINKED}/test_domains.py",),
    ),
    Mutant(
        "tables/linked/shares_and_means.py",
        "return Fraction(1, 2 * int(10 ** _decimals(text)))",
        "return Fraction(1, 20 * int(10 ** _decimals(text)))",
        "published tables: a percentage is taken for more exact than it is printed",
        ATTACKS,
    ),
    Mutant(
        "tables/linked/true_figures.py",
        "(sums < every.low) | (sums > every.high)",
        "sums < every.low",
        "published tables: a figure below the truth is taken for true",
        (f"{LINKED}/test_audit.py",),
    ),
    Mutant(
        "tables/linked/audit.py",
        "ProductForm(own.universe.size_of_atom.astype(np.float64))",
        "ProductForm(np.ones(own.universe.n_atoms))",
        "published tables: a wide cell is taken for as probable as a narrow one",
        ("tests/agreement/test_audit_published_brute_force.py",),
    ),
)


def copied(folder: Path) -> Path:
    """The source and its tests in a folder of their own, with the kernels compiled so far."""
    folder.mkdir()
    for name in COPIED:
        whole = ROOT / name
        copy = shutil.copytree if whole.is_dir() else shutil.copy2
        copy(whole, folder / name)
    return folder


def exit_code(tree: Path, tests: Sequence[str]) -> int:
    """Of pytest in a tree, on its own source."""
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.run(
        command, cwd=tree, env=environment, check=False, capture_output=True
    ).returncode


def told(mutant: Mutant, tree: Path) -> str:
    """What became of a mutant in a tree, which is as before afterwards."""
    path = tree / mutant.path
    text, times = path.read_text(encoding="utf-8"), path.stat()
    changed = mutant.applied(text)
    if changed is None:
        return "NOT FOUND"
    path.write_text(changed, encoding="utf-8")
    try:
        code = exit_code(tree, mutant.tests)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # else kernels compile anew
    return {0: "SURVIVED", FAILED: KILLED}.get(code, f"NO TESTS ({code})")


def run(mutants: Sequence[Mutant], jobs: int) -> list[str]:
    """What became of each; every worker has a tree of its own."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        trees: SimpleQueue[Path] = SimpleQueue()
        for i in range(jobs):
            trees.put(copied(Path(place) / str(i)))

        def one(mutant: Mutant) -> str:
            tree = trees.get()
            found = told(mutant, tree)
            trees.put(tree)
            print(f"{found:12} {mutant.file:48} {mutant.breaks}", flush=True)
            return found

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, mutants))


def without_faults(mutants: Sequence[Mutant]) -> bool:
    """Whether the same tests pass where nothing is changed: else a failure would prove nothing."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        return exit_code(copied(Path(place) / "whole"), tests) == 0


def chosen(words: Sequence[str]) -> list[Mutant]:
    """All mutants, or those whose file or fault has one of the words."""
    return [
        mutant
        for mutant in MUTANTS
        if not words or any(word in f"{mutant.file} {mutant.breaks}" for word in words)
    ]


def main() -> int:
    """Run the mutants; 1 unless each of them was killed by tests that pass without it."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("words", nargs="*", help="only mutants whose file or fault has one of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at the same time")
    asked = parser.parse_args()
    mutants = chosen(asked.words)
    if not mutants:
        parser.error(f"a word must be in a mutant's file or fault, got {' '.join(asked.words)}")
    if not without_faults(mutants):
        print("The tests fail without any fault; mend that first.")
        return 1
    found = run(mutants, asked.jobs)
    print(f"{found.count(KILLED)} of {len(found)} mutants killed")
    return 0 if all(one == KILLED for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
