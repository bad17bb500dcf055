# What CI runs is what you run: .ci/run calls `make check` and `make test`.
# Each target brings what it needs: uv if it is missing, then the locked packages in .venv.

RUN := scripts/uv run --locked
LOWEST := .venv-lowest/bin

.DEFAULT_GOAL := help
.PHONY: help demo web test test-locked test-lowest chaos simulate mutants check image bench docs format lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: ## run a fleet of processes that loses its leader and no tick; it ends by itself
	UV_PROJECT_ENVIRONMENT=.venv-demo $(RUN) --no-dev drumbeat demo

web: ## build the dashboard into the package, with Node.js; only needed after a change in web/
	$(RUN) python scripts/dashboard_types.py
	scripts/web build

TESTERS ?= 4
test: test-locked test-lowest ## run all tests on real servers; missing servers are installed first

test-locked: ## run all tests on the Python of .venv with the locked packages
	$(RUN) python -m servers install || test -z "$$CI"
	$(RUN) pytest -n $(TESTERS) --dist worksteal

# Schemathesis needs a newer rich than our lowest, so its one file runs with the locked packages only.
LOWEST_TESTS ?= $(addprefix tests/,backends engine model rules electors fleet api cli) \
	--ignore=tests/api/test_conformance.py
test-lowest: ## run LOWEST_TESTS on the system's Python with the lowest versions that pyproject.toml allows
	$(RUN) python -m servers install || test -z "$$CI"
	scripts/lowest
	$(LOWEST)/python -m pytest -n $(TESTERS) --dist worksteal $(LOWEST_TESTS)

SEEDS ?= 500
SQLITE_SEEDS ?= 100
PROCESSES ?= $(shell nproc 2>/dev/null || echo 2)
simulate: ## run the fleet in virtual time under faults, one world per seed: SEEDS=500 SQLITE_SEEDS=100
	$(RUN) python -m simulation --seeds $(SEEDS) --processes $(PROCESSES)
	$(RUN) python -m simulation --store sqlite --seeds $(SQLITE_SEEDS) --processes $(PROCESSES)

MINUTES ?= 10
chaos: ## run fleets on real servers under faults, and the slow tests that `make test` leaves out: MINUTES=10
	$(RUN) python -m servers install || test -z "$$CI"
	$(RUN) python -m chaos --minutes $(MINUTES)
	$(RUN) pytest -m chaos tests/chaos

mutants: ## plant known bugs in copies of the source, one at a time, and list those that the tests miss
	$(RUN) python -m servers install || test -z "$$CI"
	$(RUN) python -m mutants --processes $(PROCESSES)

check: ## check formatting, lint, types (mypy and pyright), import contracts and the built dashboard
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) mypy
	$(RUN) pyright
	$(RUN) lint-imports --no-logo --no-cache
	scripts/web check

image: ## build the container image `drumbeat`; the exit codes are in scripts/image
	scripts/image

bench: ## run the benchmarks
	$(RUN) python -m bench

docs: ## check that the links in the docs resolve and that their examples compile
	$(RUN) python scripts/check_docs.py

format: ## format the code and apply the linter's fixes
	$(RUN) ruff format
	$(RUN) ruff check --fix

lock: ## update the lock files after a change of the dependencies in pyproject.toml
	scripts/uv lock
	scripts/uv pip compile --quiet --universal --all-extras --group test \
		--resolution lowest-direct --custom-compile-command 'make lock' \
		--output-file requirements-lowest.txt pyproject.toml

clean: ## remove everything that the other targets made
	rm -rf .venv .venv-demo .venv-lowest .tools .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist chaos-report web/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
