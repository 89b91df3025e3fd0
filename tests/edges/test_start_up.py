"""A plain import and the help stay light: nothing heavy is loaded before it is needed."""

import subprocess
import sys

import pytest

HEAVY = "duckdb pandas polars matplotlib pyspark fastapi numba scipy highspy pyarrow rich jinja2"
SHOW = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize(
    "script",
    [
        "import discreet",
        "import discreet; dir(discreet)",
        "from discreet import DiscreetError, InputError, Figure, How, Unavailable",
        "import sys; from discreet.cli import main\n"
        "sys.argv = ['discreet', '--help']\ntry: main()\nexcept SystemExit: pass",
        "import sys; from discreet.cli import main\n"
        "sys.argv = ['discreet', '--version']\ntry: main()\nexcept SystemExit: pass",
        "import sys; from discreet.cli import main\n"
        "sys.argv = ['discreet', 'assess', '--help']\ntry: main()\nexcept SystemExit: pass",
    ],
    ids=["import", "dir", "names", "help", "version", "assess help"],
)
def test_nothing_heavy_is_loaded(script):
    run = subprocess.run(
        [sys.executable, "-c", f"{script}\n{SHOW}"], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.splitlines()[-1].split())
    assert "discreet" in loaded
    assert not loaded & set(HEAVY.split())


def test_the_names_of_the_package_exist():
    import discreet

    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    assert set(dir(discreet)) >= set(discreet.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        discreet.nothing  # noqa: B018
