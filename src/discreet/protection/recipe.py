"""A recipe: everything that was done to a file, in order, so that it can be read, changed, run
again on next year's file, and undone step by step.

It is a TOML file. Steps hold parameters only, no value of a record; but a list of merged levels or
a break point says something of the data, and the seed of a randomised step undoes part of what it
does: a recipe is as confidential as the file.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from discreet.data.columns import near_match
from discreet.data.toml_text import toml_name, toml_value
from discreet.data.writing import written_whole
from discreet.errors import FileError, InputError, must_be, one_line
from discreet.masks.records.contract import RecordMethod
from discreet.masks.records.notation import called
from discreet.masks.records.order import RemoveColumns, Shuffle
from discreet.masks.records.pram import Pram
from discreet.masks.records.recoding import RECODINGS, number_of
from discreet.masks.records.sampling import Subsample
from discreet.masks.records.suppress import Suppress
from discreet.masks.records.swapping import Swap
from discreet.masks.records.weights import RemoveWeights, RoundWeights

FORMAT = 1
LARGEST = 1 << 24  # bytes of a recipe, which may hold the leaves of large trees
HUGE = 1 << 53  # from which on a whole number is none that anybody means
UNSAID = ("tree",)  # fields that are not written
BY_RECORD = (Pram, Swap, Subsample, RoundWeights, RemoveWeights, RemoveColumns, Shuffle)
BY_CHANCE = (Pram, Swap, Subsample, RoundWeights, Shuffle)  # of these, what needs a seed
METHODS: dict[str, type[Any]] = {
    **RECODINGS,
    Suppress.name: Suppress,
    **{kind.name: kind for kind in BY_RECORD},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Steps in the order in which they are taken, for a file with these keys.

    `seed` is that of randomised steps, and secret. `made` says with what the recipe was made.
    """

    keys: tuple[str, ...]
    steps: tuple[RecordMethod, ...] = ()
    seed: int | None = None
    made: Mapping[str, str] = field(default_factory=dict)

    def with_step(self, step: RecordMethod) -> "Recipe":
        """The recipe with one more step at its end."""
        return replace(self, steps=(*self.steps, step))

    def without_last(self) -> "Recipe":
        """The recipe without its last step."""
        return replace(self, steps=self.steps[:-1])

    def to_data(self, *, secret: bool = True) -> dict[str, Any]:
        """All of it, as a file has it; the seed only where secrets may be seen."""
        told: dict[str, Any] = {"format": FORMAT, "keys": list(self.keys)}
        if self.made:
            told["made"] = dict(self.made)
        if secret and self.seed is not None:
            told["seed"] = self.seed
        return told | {"step": [_step_data(step) for step in self.steps]}

    def to_toml(self) -> str:
        """The recipe as it stands in a file, each step with what it does in a comment."""
        return "\n".join(_lines(self)) + "\n"

    def write(self, path: str | Path) -> None:
        """Write the recipe; readable by its owner alone."""
        with written_whole(Path(path)) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8")
        Path(path).chmod(0o600)


def read_recipe(source: "str | Path | Mapping[str, Any] | Recipe") -> Recipe:
    """The recipe in a file, or in data that a file would hold."""
    if isinstance(source, Recipe):
        return source
    if isinstance(source, Mapping):
        return _recipe(source, "the recipe")
    path = Path(source)
    try:
        with path.open("rb") as file:
            held = file.read(LARGEST + 1)
        if len(held) > LARGEST:
            raise FileError(must_be(path.name, f"a recipe of at most {LARGEST:,} bytes", "more"))
        data = tomllib.loads(held.decode("utf-8"))
    except FileError:
        raise
    except OSError as error:
        raise FileError(must_be("recipe", "a file", repr(str(source)))) from error
    except (ValueError, RecursionError) as error:
        got = f"{error}" if isinstance(error, tomllib.TOMLDecodeError) else "something else"
        raise FileError(must_be(path.name, "a recipe in TOML", got)) from error
    return _recipe(data, path.name)


def step_of(given: "str | RecordMethod") -> RecordMethod:
    """A step of its own: an object, or a text such as pram(key=job, retention=.8)."""
    if not isinstance(given, str):
        return given
    name, listed, named = called(given, given)
    if name not in METHODS or name in RECODINGS or name == Suppress.name:
        own = [kind.name for kind in BY_RECORD]
        near = near_match(name, own)
        remedy = f"did you mean {near!r}?" if near else None
        raise InputError(must_be("step", f"one of {', '.join(own)}", repr(name), remedy=remedy))
    hints = get_type_hints(METHODS[name])
    parameters = [one.name for one in fields(METHODS[name])]
    values: dict[str, Any] = dict(zip(parameters, listed, strict=False)) | named
    if len(listed) > len(parameters) or set(values) - set(parameters):
        rule = f"given {', '.join(parameters) or 'nothing'}"
        raise InputError(must_be(f"step {given!r}", rule, "something else"))
    typed = {one: _typed(value, str(hints.get(one, "str"))) for one, value in values.items()}
    return _step({"method": name} | typed, f"step {given!r}", None)


def _typed(value: str, hint: str) -> Any:
    """A word of the command line in the type of a parameter; several are parted by a plus."""
    if "tuple" in hint:
        return [part.strip() for part in value.split("+") if part.strip()]
    if "bool" in hint:
        return value.lower() in ("true", "yes", "1")
    number = number_of(value)
    if number is None or not ("int" in hint or "float" in hint):
        return value
    return int(number) if "int" in hint and number.is_integer() else number


def _recipe(data: Mapping[str, Any], name: str) -> Recipe:
    if data.get("format") != FORMAT:
        rule, got = f"of format {FORMAT}", repr(data.get("format"))
        raise InputError(must_be(name, rule, got, remedy="begin it with format = 1"))
    strange = set(data) - {"format", "keys", "made", "seed", "step"}
    if strange:
        rule = "of format, keys, made, seed and steps ([[step]])"
        raise InputError(must_be(name, rule, repr(min(strange))))
    keys, steps, seed = data.get("keys"), data.get("step", []), data.get("seed")
    listed = isinstance(keys, list | tuple) and keys and all(isinstance(key, str) for key in keys)
    if not listed:
        raise InputError(must_be(f"keys of {name}", "a list of names", repr(keys)))
    if not isinstance(steps, list | tuple):
        raise InputError(must_be(f"steps of {name}", "[[step]] tables", repr(steps)))
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool) or seed < 0):
        raise InputError(must_be(f"seed of {name}", "a whole number of 0 or more", repr(seed)))
    found = tuple(_step(one, f"step {i}", keys) for i, one in enumerate(steps, start=1))
    if not isinstance(data.get("made", {}), Mapping):
        raise InputError(must_be(f"made of {name}", "a table", repr(data["made"])))
    made = {str(k): str(v) for k, v in dict(data.get("made", {})).items()}
    return Recipe(keys=tuple(keys or ()), steps=found, seed=seed, made=made)


def _step(data: Any, where: str, keys: Any) -> RecordMethod:
    if not isinstance(data, Mapping) or data.get("method") not in METHODS:
        got = repr(data.get("method") if isinstance(data, Mapping) else data)
        rule = f"one of {', '.join(METHODS)}"
        raise InputError(must_be("method", rule, got, where=where))
    kind = METHODS[data["method"]]
    known = {one.name: one for one in fields(kind) if one.name not in UNSAID}
    given = {name: value for name, value in data.items() if name != "method"}
    for name in given:
        if name not in known:
            rule = f"one of {', '.join(known)}"
            raise InputError(must_be(f"parameter of {data['method']}", rule, repr(name),
                                     where=where))  # fmt: skip
    for name, one in known.items():
        needed = one.default is MISSING and one.default_factory is MISSING
        if needed and name not in given:
            rule = f"given to {data['method']}"
            raise InputError(must_be(repr(name), rule, "nothing", where=where))
    if keys is not None and "key" in given and given["key"] not in keys:
        raise InputError(must_be("key", "one of the recipe's keys", repr(given["key"]),
                                 where=where))  # fmt: skip
    _check_keys_of(given, keys, where)
    hints = get_type_hints(kind)
    values = {n: _value(n, v, hints[n], where) for n, v in given.items()}
    try:
        found: RecordMethod = kind(**values)
    except InputError as error:
        raise InputError(f"{error} (in {where})") from error
    return found


def _check_keys_of(given: Mapping[str, Any], keys: Any, where: str) -> None:
    """Names of keys that a step of suppression is told are those of the recipe."""
    for name in ("never", "importance", "most") if keys is not None else ():
        listed = given.get(name, ())
        strange = [one for one in listed if one not in keys] if hasattr(listed, "__iter__") else []
        if strange:
            rule = "about keys of the recipe"
            raise InputError(must_be(name, rule, repr(strange[0]), where=where))


def _value(name: str, value: Any, hint: Any, where: str) -> Any:
    """A value of a file in the type that a method has for it."""
    text = str(hint)
    if "tuple" in text:
        if not isinstance(value, list | tuple):
            raise InputError(must_be(name, "a list", repr(value), where=where))
        if "str" in text and not all(isinstance(one, str) for one in value):
            raise InputError(must_be(name, "a list of texts", repr(value), where=where))
        if "float" in text and not all(map(_is_number, value)):
            raise InputError(must_be(name, "a list of numbers", repr(value), where=where))
        return tuple(float(one) if "float" in text else one for one in value)
    if "Mapping" in text:
        if not isinstance(value, Mapping):
            raise InputError(must_be(name, "a table of names and values", repr(value), where=where))
        kind = int if "int" in text else float if "float" in text else None
        if kind is not None and not all(_is_number(one, kind) for one in value.values()):
            rule = "a table of whole numbers" if kind is int else "a table of numbers"
            raise InputError(must_be(name, rule, repr(dict(value)), where=where))
        return dict(value)
    if isinstance(value, int) and abs(value) >= HUGE:
        raise InputError(must_be(name, f"below {HUGE:,}", "a larger number", where=where))
    kinds: dict[str, Any] = {"bool": bool, "int": int, "float": (int, float), "str": str}
    wanted: Any = next((kind for word, kind in kinds.items() if word in text), object)
    if not isinstance(value, wanted) or (isinstance(value, bool) and "bool" not in text):
        word = next(word for word in kinds if word in text)
        plain = {"bool": "true or false", "int": "a whole number", "float": "a number"}
        rule = plain.get(word, "text")
        raise InputError(must_be(name, rule, repr(value), where=where))
    return value


def _is_number(value: Any, kind: type = float) -> bool:
    wanted = int if kind is int else (int, float)
    return isinstance(value, wanted) and not isinstance(value, bool)


def _step_data(step: Any) -> dict[str, Any]:
    """A step as a file has it: what is as usual is left out."""
    told: dict[str, Any] = {"method": step.name}
    for one in fields(step):
        value = getattr(step, one.name)
        usual = one.default if one.default_factory is MISSING else one.default_factory()
        if one.name not in UNSAID and value is not None and value != usual:
            told[one.name] = _plain(value)
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _lines(recipe: Recipe) -> Iterator[str]:
    data = recipe.to_data()
    steps = data.pop("step")
    yield "# What was done to a file, in order. As confidential as the file itself."
    if "seed" in data:
        yield "# The seed is secret: whoever has it can undo part of what chance did."
    yield from (f"{name} = {toml_value(value)}" for name, value in data.items())
    for step, told in zip(recipe.steps, steps, strict=True):
        said = one_line(step.in_words)
        yield f"\n# {said[:1].upper()}{said[1:]}.\n[[step]]"
        yield from (f"{toml_name(name)} = {toml_value(value)}" for name, value in told.items())
