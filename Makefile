# The two commands a newcomer needs: make demo, make test. `make help` lists the rest.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test portable soak mutants lint format docs bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# One stamp per set of extras: pip runs again only when pyproject.toml changes.
$(VENV)/installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(if $(filter-out run,$*),[$*])'
	@touch $@

demo: $(VENV)/installed-run ## install, then assess a survey drawn from a known population
	$(BIN)/discreet demo

test: $(VENV)/installed-test ## install what the tests need and run them, some of them as other processors would compute
	$(BIN)/python -m pytest -n auto
	$(BIN)/python tests/portable.py --short

portable: $(VENV)/installed-test ## all numerical tests as other processors would compute; half an hour
	$(BIN)/python tests/portable.py

soak: $(VENV)/installed-test ## the long tests, and properties with many more examples
	$(BIN)/python -m pytest -n auto -m soak
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n auto tests/agreement tests/properties

mutants: $(VENV)/installed-test ## faults put into a copy of the source, which the tests must notice
	$(BIN)/python tests/mutants.py

lint: $(VENV)/installed-lint ## ruff, ruff format, mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-lint ## format the code with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/installed-docs ## build the documentation site into build/docs; a warning is an error
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs
	@echo 'open build/docs/index.html'

# pycanon and suda need older packages than we do, so they live in an environment of their own.
$(VENV)-rivals/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-rivals
	$(VENV)-rivals/bin/python -m pip install --quiet --disable-pip-version-check 'pycanon>=1.3.6,<2' 'suda>=0.2.2,<1' 'pyarrow>=21,<28'
	@touch $@

bench: $(VENV)/installed-bench $(VENV)-rivals/installed ## compare side by side, under half an hour; NAMES='assess league' for some, ROWS=10e6 for sizes
	$(BIN)/python -m benchmarks $(NAMES) $(if $(ROWS),--rows $(ROWS))

clean: ## remove what the other targets made
	rm -rf $(VENV) $(VENV)-rivals build demo bench-data .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src -name '*.nb[ic]' -delete
