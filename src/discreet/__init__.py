"""Discreet: disclosure risk for discrete data.

`assess` takes records to risk figures, `audit` released margins of a table, `attack` and
`audit_published` tables as they were published, `counts` the statistics of counts; `choose` says
what to release, `plan` how large a sample may be, `backtest` which model to trust; `policies` are
named rules of what is safe. They have the names of the commands, and their keywords those of the
options. `judge` applies a policy to a result that is there.

Each returns a result that shows itself in a few lines, and in a notebook as its report; it has
`write_report`, `tables`, `to_frame`, `to_json` and `compare`, and `read_result` reads its JSON.

Names are loaded when first used, so that a plain `import discreet` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.belief.models.model_search import ModelSearch
    from discreet.choice.actors import Scientist
    from discreet.choice.best_set.best_margins import BestMargins, best_margins
    from discreet.choice.best_set.frontier import Frontier
    from discreet.choice.best_set.result import DecomposableBest
    from discreet.choice.choice import Candidate, Choice, Doubt
    from discreet.choice.measures import Measure
    from discreet.choice.options import ChooseOptions
    from discreet.choice.risk_utility import RiskUtility
    from discreet.count_tables.advice import CountAdvice
    from discreet.count_tables.assessment import CountAssessment
    from discreet.count_tables.categories import Margin
    from discreet.count_tables.category_assessment import CategoriesAssessment, CategoryRisk
    from discreet.count_tables.category_inputs import Categories
    from discreet.count_tables.com_poisson.comparison_estimates import ComparisonEstimate
    from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
    from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum, PoissonTest
    from discreet.count_tables.com_poisson.goodness import Goodness
    from discreet.count_tables.com_poisson.regression import SetsRegression
    from discreet.count_tables.decimals import TruncatedReconstruction
    from discreet.count_tables.knowledge import Knowledge
    from discreet.count_tables.likely_tables import LikelyTables
    from discreet.count_tables.measures import CellRisk, CountRisk, IntervalPolicy
    from discreet.count_tables.options import CategoryOptions, CountOptions
    from discreet.count_tables.rebuilding import Reconstruction
    from discreet.count_tables.release import CountRelease
    from discreet.count_tables.statistics import CountStatistics, DecimalLog
    from discreet.data.csv_dialect import CsvOptions
    from discreet.data.hierarchy import Hierarchy
    from discreet.data.published.reading import read_published
    from discreet.data.summary import SizeIndices, Summary
    from discreet.data.table import Table
    from discreet.engines.contract import HouseholdTotals
    from discreet.engines.duckdb import DuckDBEngine
    from discreet.engines.key_space import KeyLevels
    from discreet.engines.spark.engine import SparkEngine
    from discreet.engines.table_reading import read_table
    from discreet.errors import (
        ColumnError,
        DiscreetError,
        FileError,
        InputError,
        Interrupted,
        MissingError,
        OutputError,
        WeightError,
    )
    from discreet.fiber.reconstruction.areas import AreaRebuilt
    from discreet.fiber.reconstruction.rebuilt import RebuiltTable
    from discreet.fiber.sums.counting import Count
    from discreet.figures import Figure, How, Unavailable
    from discreet.flows.assess import assess, compare_policies
    from discreet.flows.attack import attack
    from discreet.flows.audit import AuditSequence, audit, audit_sequence
    from discreet.flows.audit_published import audit_published
    from discreet.flows.backtest import backtest
    from discreet.flows.choose import choose, recommend
    from discreet.flows.counts import assess_categories, assess_counts, assess_statistics, counts
    from discreet.flows.judge import judge
    from discreet.flows.plan import Plans, plan
    from discreet.flows.policies import policies, read_policy
    from discreet.flows.protect import protect
    from discreet.masks.contract import Masked, PublishedTable
    from discreet.masks.records.order import RemoveColumns, Shuffle
    from discreet.masks.records.pram import Pram
    from discreet.masks.records.recoding import (
        Bands,
        Bottom,
        Breaks,
        Dates,
        Drop,
        Leading,
        Merge,
        Quantiles,
        Rare,
        Top,
        Tree,
    )
    from discreet.masks.records.sampling import Subsample
    from discreet.masks.records.suppress import Suppress
    from discreet.masks.records.swapping import Swap
    from discreet.masks.records.weights import RemoveWeights, RoundWeights
    from discreet.notebooks import Result
    from discreet.policy.policy import Policy
    from discreet.policy.verdict import Judged, Ruling, Verdict
    from discreet.progress import Progress
    from discreet.protection.estimates_kept import AnalysisKept, EstimateKept
    from discreet.protection.loss import Cost, Loss, TableCost
    from discreet.protection.options import ProtectOptions
    from discreet.protection.propensity import Propensity
    from discreet.protection.protected import FrontierPoint, LeftByChance, Protected, Searched
    from discreet.protection.recipe import Recipe, read_recipe
    from discreet.report.comparing import Comparison, Difference
    from discreet.report.notebook import Plot
    from discreet.report.reading import ReadResult, read_result
    from discreet.report.writing import write_report
    from discreet.survey.anonymity import Anonymity
    from discreet.survey.assessment import Assessment, Settings
    from discreet.survey.attributes.sensitive import SensitiveFigures
    from discreet.survey.backtest.league import Backtest, Estimates, Score, Trial
    from discreet.survey.backtest.options import BacktestOptions
    from discreet.survey.contributions import Contribution, Contributions
    from discreet.survey.headline.recommendation import Recommended
    from discreet.survey.known_population import KnownPopulation
    from discreet.survey.leading import RiskOverview
    from discreet.survey.missing_policies import PolicyComparison
    from discreet.survey.models.lancaster import ShrinkageRow
    from discreet.survey.models.sample_size import Plan
    from discreet.survey.options import AssessOptions
    from discreet.survey.riskiest import RiskyCell
    from discreet.survey.scenarios import Scenarios
    from discreet.survey.scoring import ModelResult
    from discreet.survey.suda.special import SpecialFigures
    from discreet.survey.suda.subsets import SubsetSize
    from discreet.survey.suggestions import Suggestion
    from discreet.tables.audit import Audit
    from discreet.tables.audit_cells import CellAudit
    from discreet.tables.audit_options import AuditOptions
    from discreet.tables.cross_risks import CrossRisk
    from discreet.tables.groups import Learned
    from discreet.tables.linked.attack import Attack, Bounded, Followed, Linked
    from discreet.tables.linked.audit import PublishedAudit, PublishedAuditOptions, TrueCell
    from discreet.tables.linked.options import AttackOptions
    from discreet.tables.measures import TableMeasures
    from discreet.tables.population_cells import PopulationCell
    from discreet.tables.posteriors import View
    from discreet.tables.printed import Printed
    from discreet.tables.refused_margin import RefusalView
    from discreet.tables.release import Release
    from discreet.tables.shown_groups import ShownGroups

_HOME = {
    "AnalysisKept": "discreet.protection.estimates_kept",
    "Anonymity": "discreet.survey.anonymity",
    "AreaRebuilt": "discreet.fiber.reconstruction.areas",
    "AssessOptions": "discreet.survey.options",
    "Assessment": "discreet.survey.assessment",
    "Attack": "discreet.tables.linked.attack",
    "AttackOptions": "discreet.tables.linked.options",
    "Audit": "discreet.tables.audit",
    "AuditOptions": "discreet.tables.audit_options",
    "AuditSequence": "discreet.flows.audit",
    "Backtest": "discreet.survey.backtest.league",
    "BacktestOptions": "discreet.survey.backtest.options",
    "Bands": "discreet.masks.records.recoding",
    "BayesianAnalysis": "discreet.count_tables.com_poisson.conjugate",
    "BestMargins": "discreet.choice.best_set.best_margins",
    "Bottom": "discreet.masks.records.recoding",
    "Bounded": "discreet.tables.linked.attack",
    "Breaks": "discreet.masks.records.recoding",
    "Candidate": "discreet.choice.choice",
    "Categories": "discreet.count_tables.category_inputs",
    "CategoriesAssessment": "discreet.count_tables.category_assessment",
    "CategoryOptions": "discreet.count_tables.options",
    "CategoryRisk": "discreet.count_tables.category_assessment",
    "CellAudit": "discreet.tables.audit_cells",
    "CellRisk": "discreet.count_tables.measures",
    "Choice": "discreet.choice.choice",
    "ChooseOptions": "discreet.choice.options",
    "ColumnError": "discreet.errors",
    "Comparison": "discreet.report.comparing",
    "ComparisonEstimate": "discreet.count_tables.com_poisson.comparison_estimates",
    "Contribution": "discreet.survey.contributions",
    "Contributions": "discreet.survey.contributions",
    "Cost": "discreet.protection.loss",
    "Count": "discreet.fiber.sums.counting",
    "CountAdvice": "discreet.count_tables.advice",
    "CountAssessment": "discreet.count_tables.assessment",
    "CountOptions": "discreet.count_tables.options",
    "CountRelease": "discreet.count_tables.release",
    "CountRisk": "discreet.count_tables.measures",
    "CountStatistics": "discreet.count_tables.statistics",
    "CrossRisk": "discreet.tables.cross_risks",
    "CsvOptions": "discreet.data.csv_dialect",
    "Dates": "discreet.masks.records.recoding",
    "DecimalLog": "discreet.count_tables.statistics",
    "DecomposableBest": "discreet.choice.best_set.result",
    "Difference": "discreet.report.comparing",
    "DiscreetError": "discreet.errors",
    "Doubt": "discreet.choice.choice",
    "Drop": "discreet.masks.records.recoding",
    "DuckDBEngine": "discreet.engines.duckdb",
    "EstimateKept": "discreet.protection.estimates_kept",
    "Estimates": "discreet.survey.backtest.league",
    "Figure": "discreet.figures",
    "FileError": "discreet.errors",
    "Fit": "discreet.count_tables.com_poisson.estimation",
    "Followed": "discreet.tables.linked.attack",
    "Frontier": "discreet.choice.best_set.frontier",
    "FrontierPoint": "discreet.protection.protected",
    "Goodness": "discreet.count_tables.com_poisson.goodness",
    "Hierarchy": "discreet.data.hierarchy",
    "HouseholdTotals": "discreet.engines.contract",
    "How": "discreet.figures",
    "InputError": "discreet.errors",
    "Interrupted": "discreet.errors",
    "IntervalPolicy": "discreet.count_tables.measures",
    "Judged": "discreet.policy.verdict",
    "KeyLevels": "discreet.engines.key_space",
    "Knowledge": "discreet.count_tables.knowledge",
    "KnownPopulation": "discreet.survey.known_population",
    "Leading": "discreet.masks.records.recoding",
    "Learned": "discreet.tables.groups",
    "LeftByChance": "discreet.protection.protected",
    "LikelyTables": "discreet.count_tables.likely_tables",
    "Linked": "discreet.tables.linked.attack",
    "Loss": "discreet.protection.loss",
    "Margin": "discreet.count_tables.categories",
    "Masked": "discreet.masks.contract",
    "Measure": "discreet.choice.measures",
    "Merge": "discreet.masks.records.recoding",
    "MissingError": "discreet.errors",
    "ModelResult": "discreet.survey.scoring",
    "ModelSearch": "discreet.belief.models.model_search",
    "NoMaximum": "discreet.count_tables.com_poisson.estimation",
    "OutputError": "discreet.errors",
    "Plan": "discreet.survey.models.sample_size",
    "Plans": "discreet.flows.plan",
    "Plot": "discreet.report.notebook",
    "PoissonTest": "discreet.count_tables.com_poisson.estimation",
    "Policy": "discreet.policy.policy",
    "PolicyComparison": "discreet.survey.missing_policies",
    "PopulationCell": "discreet.tables.population_cells",
    "Pram": "discreet.masks.records.pram",
    "Printed": "discreet.tables.printed",
    "Progress": "discreet.progress",
    "Propensity": "discreet.protection.propensity",
    "ProtectOptions": "discreet.protection.options",
    "Protected": "discreet.protection.protected",
    "PublishedAudit": "discreet.tables.linked.audit",
    "PublishedAuditOptions": "discreet.tables.linked.audit",
    "PublishedTable": "discreet.masks.contract",
    "Quantiles": "discreet.masks.records.recoding",
    "Rare": "discreet.masks.records.recoding",
    "ReadResult": "discreet.report.reading",
    "RebuiltTable": "discreet.fiber.reconstruction.rebuilt",
    "Recipe": "discreet.protection.recipe",
    "Recommended": "discreet.survey.headline.recommendation",
    "Reconstruction": "discreet.count_tables.rebuilding",
    "RefusalView": "discreet.tables.refused_margin",
    "Release": "discreet.tables.release",
    "RemoveColumns": "discreet.masks.records.order",
    "RemoveWeights": "discreet.masks.records.weights",
    "Result": "discreet.notebooks",
    "RiskOverview": "discreet.survey.leading",
    "RiskUtility": "discreet.choice.risk_utility",
    "RiskyCell": "discreet.survey.riskiest",
    "RoundWeights": "discreet.masks.records.weights",
    "Ruling": "discreet.policy.verdict",
    "Scenarios": "discreet.survey.scenarios",
    "Scientist": "discreet.choice.actors",
    "Score": "discreet.survey.backtest.league",
    "Searched": "discreet.protection.protected",
    "SensitiveFigures": "discreet.survey.attributes.sensitive",
    "SetsRegression": "discreet.count_tables.com_poisson.regression",
    "Settings": "discreet.survey.assessment",
    "ShownGroups": "discreet.tables.shown_groups",
    "ShrinkageRow": "discreet.survey.models.lancaster",
    "Shuffle": "discreet.masks.records.order",
    "SizeIndices": "discreet.data.summary",
    "SparkEngine": "discreet.engines.spark.engine",
    "SpecialFigures": "discreet.survey.suda.special",
    "Subsample": "discreet.masks.records.sampling",
    "SubsetSize": "discreet.survey.suda.subsets",
    "Suggestion": "discreet.survey.suggestions",
    "Summary": "discreet.data.summary",
    "Suppress": "discreet.masks.records.suppress",
    "Swap": "discreet.masks.records.swapping",
    "Table": "discreet.data.table",
    "TableCost": "discreet.protection.loss",
    "TableMeasures": "discreet.tables.measures",
    "Top": "discreet.masks.records.recoding",
    "Tree": "discreet.masks.records.recoding",
    "Trial": "discreet.survey.backtest.league",
    "TrueCell": "discreet.tables.linked.audit",
    "TruncatedReconstruction": "discreet.count_tables.decimals",
    "Unavailable": "discreet.figures",
    "Verdict": "discreet.policy.verdict",
    "View": "discreet.tables.posteriors",
    "WeightError": "discreet.errors",
    "assess": "discreet.flows.assess",
    "assess_categories": "discreet.flows.counts",
    "assess_counts": "discreet.flows.counts",
    "assess_statistics": "discreet.flows.counts",
    "attack": "discreet.flows.attack",
    "audit": "discreet.flows.audit",
    "audit_published": "discreet.flows.audit_published",
    "audit_sequence": "discreet.flows.audit",
    "backtest": "discreet.flows.backtest",
    "best_margins": "discreet.choice.best_set.best_margins",
    "choose": "discreet.flows.choose",
    "compare_policies": "discreet.flows.assess",
    "counts": "discreet.flows.counts",
    "judge": "discreet.flows.judge",
    "plan": "discreet.flows.plan",
    "policies": "discreet.flows.policies",
    "protect": "discreet.flows.protect",
    "read_policy": "discreet.flows.policies",
    "read_published": "discreet.data.published.reading",
    "read_recipe": "discreet.protection.recipe",
    "read_result": "discreet.report.reading",
    "read_table": "discreet.engines.table_reading",
    "recommend": "discreet.flows.choose",
    "write_report": "discreet.report.writing",
}

__all__ = [
    "AnalysisKept",
    "Anonymity",
    "AreaRebuilt",
    "AssessOptions",
    "Assessment",
    "Attack",
    "AttackOptions",
    "Audit",
    "AuditOptions",
    "AuditSequence",
    "Backtest",
    "BacktestOptions",
    "Bands",
    "BayesianAnalysis",
    "BestMargins",
    "Bottom",
    "Bounded",
    "Breaks",
    "Candidate",
    "Categories",
    "CategoriesAssessment",
    "CategoryOptions",
    "CategoryRisk",
    "CellAudit",
    "CellRisk",
    "Choice",
    "ChooseOptions",
    "ColumnError",
    "Comparison",
    "ComparisonEstimate",
    "Contribution",
    "Contributions",
    "Cost",
    "Count",
    "CountAdvice",
    "CountAssessment",
    "CountOptions",
    "CountRelease",
    "CountRisk",
    "CountStatistics",
    "CrossRisk",
    "CsvOptions",
    "Dates",
    "DecimalLog",
    "DecomposableBest",
    "Difference",
    "DiscreetError",
    "Doubt",
    "Drop",
    "DuckDBEngine",
    "EstimateKept",
    "Estimates",
    "Figure",
    "FileError",
    "Fit",
    "Followed",
    "Frontier",
    "FrontierPoint",
    "Goodness",
    "Hierarchy",
    "HouseholdTotals",
    "How",
    "InputError",
    "Interrupted",
    "IntervalPolicy",
    "Judged",
    "KeyLevels",
    "Knowledge",
    "KnownPopulation",
    "Leading",
    "Learned",
    "LeftByChance",
    "LikelyTables",
    "Linked",
    "Loss",
    "Margin",
    "Masked",
    "Measure",
    "Merge",
    "MissingError",
    "ModelResult",
    "ModelSearch",
    "NoMaximum",
    "OutputError",
    "Plan",
    "Plans",
    "Plot",
    "PoissonTest",
    "Policy",
    "PolicyComparison",
    "PopulationCell",
    "Pram",
    "Printed",
    "Progress",
    "Propensity",
    "ProtectOptions",
    "Protected",
    "PublishedAudit",
    "PublishedAuditOptions",
    "PublishedTable",
    "Quantiles",
    "Rare",
    "ReadResult",
    "RebuiltTable",
    "Recipe",
    "Recommended",
    "Reconstruction",
    "RefusalView",
    "Release",
    "RemoveColumns",
    "RemoveWeights",
    "Result",
    "RiskOverview",
    "RiskUtility",
    "RiskyCell",
    "RoundWeights",
    "Ruling",
    "Scenarios",
    "Scientist",
    "Score",
    "Searched",
    "SensitiveFigures",
    "SetsRegression",
    "Settings",
    "ShownGroups",
    "ShrinkageRow",
    "Shuffle",
    "SizeIndices",
    "SparkEngine",
    "SpecialFigures",
    "Subsample",
    "SubsetSize",
    "Suggestion",
    "Summary",
    "Suppress",
    "Swap",
    "Table",
    "TableCost",
    "TableMeasures",
    "Top",
    "Tree",
    "Trial",
    "TrueCell",
    "TruncatedReconstruction",
    "Unavailable",
    "Verdict",
    "View",
    "WeightError",
    "assess",
    "assess_categories",
    "assess_counts",
    "assess_statistics",
    "attack",
    "audit",
    "audit_published",
    "audit_sequence",
    "backtest",
    "best_margins",
    "choose",
    "compare_policies",
    "counts",
    "judge",
    "plan",
    "policies",
    "protect",
    "read_policy",
    "read_published",
    "read_recipe",
    "read_result",
    "read_table",
    "recommend",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
