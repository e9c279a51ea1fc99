# Bare `make` lists the verbs. Each sets up what it needs; a machine with Python 3.11+ is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 10
N ?= 200
SEEDS ?= 5000

.DEFAULT_GOAL := help
.PHONY: help demo test check bench bench-quick bench-fixed laws soak chaos simulate docs coverage format clean

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## a small shop lakehouse: views, changes, refreshes, proof
	$(BIN)/headwater demo

test: $(VENV)/.prepared ## all tests but the slow ones
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder tests

check: $(VENV)/.installed ## ruff, mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.peers ## all comparisons within an hour, going on where they stopped; writes docs/benchmarks.md
	$(BIN)/python -m benchmarks

bench-quick: $(VENV)/.prepared ## a few comparisons and fixed costs, within eight minutes
	$(BIN)/python -m benchmarks --quick

bench-fixed: $(VENV)/.prepared ## what costs do not depend on data: idleness, small changes, the control plane
	$(BIN)/python -m benchmarks --only idle,control,small

laws: $(VENV)/.prepared ## the laws of upkeep, and 300 random views
	HEADWATER_TEST_WHOLE_CORPUS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile tests/laws

soak: $(VENV)/.prepared ## random views for MINUTES=10 against Spark's own result, then as long on real tables
	$(BIN)/python -m tests.laws.soak --minutes $(MINUTES)
	$(BIN)/python -m tests.laws.whole_way --minutes $(MINUTES)

chaos: $(VENV)/.prepared ## N=200 refreshes killed, then a fleet under every misfortune for MINUTES=10
	$(BIN)/python -m tests.chaos --rounds $(N)
	$(BIN)/python -m tests.chaos --fleet $(MINUTES)

simulate: $(VENV)/.installed ## SEEDS=5000 simulated fleets under injected faults
	$(BIN)/python -m tests.simulation --seeds $(SEEDS)

docs: $(VENV)/.installed ## write the generated pages of docs/ anew
	$(BIN)/python -m docs.generate

coverage: $(VENV)/.prepared ## run every construct by every technique; writes docs/coverage.md
	$(BIN)/python -m docs.coverage

format: $(VENV)/.installed ## format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove the virtual environment and what tools left behind
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist

# --- what the verbs need ------------------------------------------------------------------------

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Headwater needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml requirements.lock | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

# Delta's jars and the class archive: tests start many sessions, and each is then twice as fast.
$(VENV)/.prepared: $(VENV)/.installed
	$(BIN)/python -m headwater.execute.archive
	@touch $@

# What Spark Declarative Pipelines need besides Spark; they are measured beside Headwater.
$(VENV)/.peers: $(VENV)/.prepared
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock 'pyspark[pipelines]'
	@touch $@
