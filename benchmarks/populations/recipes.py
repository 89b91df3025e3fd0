"""The recipes of the populations: what each one is made of. To add one, add a line at the end.

A third is held out: methods are chosen by what they do on the recipes that are `seen`, and what is
said of them is checked on the others. Which ones are held out goes by their place in the list
alone: every third. The kinds of dependence are turned by one place in each round of six, so that
the held-out third has all of them.
"""

from dataclasses import dataclass, replace

EVERY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Areas:
    """Areas of about 75 to 1,700 persons whose composition drifts.

    `drift` is the standard deviation of an area's effect on the log share of each level; `sizes`
    are `lognormal` or fall by `zipf`. With `regions` each area lies in one of so many regions,
    which share half of the drift and are a key; `is_key` makes the areas themselves a key.
    """

    drift: float
    sizes: str = "lognormal"
    regions: int = 0
    is_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """Strata whose composition differs by effects of standard deviation `drift`; a key or not."""

    number: int
    drift: float
    is_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What a population has beside its keys. `shared` are the first so many keys, which members of
    a household have in common; 0 where there are no households. With households their size is a
    key."""

    areas: Areas | None = None
    shared: int = 0
    strata: Strata | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A made-up population: how its keys of so many `levels` depend on each other (one of
    DEPENDENCES), how many persons it has, and its features. `seen` is False if it is held out."""

    name: str
    dependence: str
    levels: tuple[int, ...]
    persons: int
    seed: int
    features: Features = Features()
    seen: bool = True

    @property
    def n_keys(self) -> int:
        """Keys, with those that features add."""
        areas, strata = self.features.areas, self.features.strata
        added = (
            self.features.shared > 0,
            areas is not None and areas.regions > 0,
            areas is not None and areas.is_key,
            strata is not None and strata.is_key,
        )
        return len(self.levels) + sum(added)


def _held_out(listed: tuple[Recipe, ...]) -> tuple[Recipe, ...]:
    """The same list, every third recipe held out."""
    return tuple(replace(r, seen=place % EVERY != EVERY - 1) for place, r in enumerate(listed))


RECIPES = _held_out((
    Recipe(
        name="independent", dependence="independent", levels=(4, 8, 5, 6, 20, 3),
        persons=40_000, seed=101,
    ),
    Recipe(
        name="classes in areas", dependence="latent classes", levels=(3, 8, 5, 6, 20, 4, 2),
        persons=60_000, seed=102, features=Features(areas=Areas(drift=0.3)),
    ),
    Recipe(
        name="tree in regions", dependence="tree", levels=(6, 10, 4, 15, 5),
        persons=50_000, seed=103, features=Features(areas=Areas(drift=0.5, regions=8)),
    ),
    Recipe(
        name="log-linear with households", dependence="log-linear", levels=(4, 3, 14, 9, 5),
        persons=50_000, seed=104,
        features=Features(areas=Areas(drift=0.3, regions=6), shared=2),
    ),
    Recipe(
        name="zeros with households", dependence="structural zeros", levels=(4, 3, 30, 5),
        persons=80_000, seed=105,
        features=Features(areas=Areas(drift=0.2, regions=10), shared=2),
    ),
    Recipe(
        name="normal in small areas", dependence="cut normal", levels=(12, 4, 6),
        persons=50_000, seed=106, features=Features(areas=Areas(drift=0.4, is_key=True)),
    ),
    Recipe(
        name="classes with households", dependence="latent classes",
        levels=(4, 3, 5, 4, 6, 3, 2), persons=30_000, seed=107,
        features=Features(areas=Areas(drift=0.5), shared=2),
    ),
    Recipe(
        name="tree in small areas", dependence="tree", levels=(12, 6, 4, 2, 2),
        persons=100_000, seed=108,
        features=Features(areas=Areas(drift=0.4, sizes="zipf", is_key=True)),
    ),
    Recipe(
        name="log-linear with strata", dependence="log-linear", levels=(5, 12, 6, 8, 4, 7),
        persons=40_000, seed=109,
        features=Features(
            areas=Areas(drift=0.6), strata=Strata(number=6, drift=0.6, is_key=False)
        ),
    ),
    Recipe(
        name="zeros with strata", dependence="structural zeros", levels=(40, 6, 8, 10),
        persons=60_000, seed=110,
        features=Features(
            areas=Areas(drift=0.4), strata=Strata(number=9, drift=0.5, is_key=True)
        ),
    ),
    Recipe(
        name="t in regions", dependence="cut t", levels=(9, 4, 6, 3, 8, 2),
        persons=60_000, seed=111, features=Features(areas=Areas(drift=0.6, regions=12)),
    ),
    Recipe(
        name="independent with households", dependence="independent", levels=(4, 3, 10, 8, 18),
        persons=60_000, seed=112, features=Features(areas=Areas(drift=0.3), shared=2),
    ),
    Recipe(
        name="tree with households", dependence="tree", levels=(5, 3, 8, 4, 6),
        persons=40_000, seed=113,
        features=Features(areas=Areas(drift=0.2, regions=5), shared=2),
    ),
    Recipe(
        name="log-linear, large", dependence="log-linear", levels=(75, 12, 20),
        persons=150_000, seed=114, features=Features(areas=Areas(drift=0.5, regions=15)),
    ),
    Recipe(
        name="zeros with households, far apart", dependence="structural zeros",
        levels=(4, 5, 20, 6, 5), persons=50_000, seed=115,
        features=Features(areas=Areas(drift=0.7, regions=7), shared=2),
    ),
    Recipe(
        name="normal in small areas, few persons", dependence="cut normal", levels=(10, 4, 6),
        persons=20_000, seed=116, features=Features(areas=Areas(drift=0.2, is_key=True)),
    ),
    Recipe(
        name="independent in small areas", dependence="independent", levels=(6, 8, 5, 2),
        persons=30_000, seed=117,
        features=Features(areas=Areas(drift=0.6, sizes="zipf", is_key=True)),
    ),
    Recipe(
        name="classes with strata", dependence="latent classes",
        levels=(3, 4, 2, 5, 3, 6, 2, 4, 3, 5), persons=60_000, seed=118,
        features=Features(
            areas=Areas(drift=0.3), strata=Strata(number=5, drift=0.8, is_key=False)
        ),
    ),
    Recipe(
        name="log-linear, strata a key", dependence="log-linear", levels=(5, 9, 6, 4, 12),
        persons=60_000, seed=119,
        features=Features(strata=Strata(number=8, drift=0.7, is_key=True)),
    ),
    Recipe(
        name="zeros in regions with households", dependence="structural zeros",
        levels=(3, 4, 15, 5, 6), persons=40_000, seed=120,
        features=Features(areas=Areas(drift=0.5, regions=4), shared=2),
    ),
    Recipe(
        name="t with households", dependence="cut t", levels=(4, 3, 5, 4, 7, 3, 6, 2, 4),
        persons=120_000, seed=121, features=Features(areas=Areas(drift=0.3), shared=2),
    ),
    Recipe(
        name="independent in regions", dependence="independent",
        levels=(3, 5, 8, 4, 6, 10, 2), persons=100_000, seed=122,
        features=Features(
            areas=Areas(drift=0.5, regions=9), strata=Strata(number=4, drift=0.5, is_key=False)
        ),
    ),
    Recipe(
        name="classes with households, far apart", dependence="latent classes",
        levels=(4, 3, 16, 9), persons=150_000, seed=123,
        features=Features(areas=Areas(drift=0.8, regions=10), shared=2),
    ),
    Recipe(
        name="tree with all", dependence="tree", levels=(4, 3, 8, 12), persons=25_000, seed=124,
        features=Features(
            areas=Areas(drift=0.4), shared=2, strata=Strata(number=6, drift=0.4, is_key=True)
        ),
    ),
))  # fmt: skip
