"""The public functions stay what they are, whatever was imported before."""

import subprocess
import sys

SCRIPT = """
import importlib, pkgutil, discreet
for found in pkgutil.walk_packages(discreet.__path__, "discreet."):
    importlib.import_module(found.name)
for name in discreet.__all__:
    one = getattr(discreet, name)
    assert callable(one), f"{name} is {one}"
print(len(discreet.__all__))
"""


def test_no_module_takes_the_name_of_a_public_function():
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 30
