# One command does one thing whole: each target first sets up what it needs.
#
#   make demo     set up, then watch knowledge move between agents
#   make test     set up, then run every test
#   make check    format, lint, types, borders between layers, documentation
#   make help     all the others
#
# Needed: make, Python 3.11 or newer, and a package registry for the first run. uv is used where it
# is on the PATH, otherwise python3 -m venv and pip. PYTHON=python3.12 picks an interpreter.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

# The first interpreter that is new enough; Debian and macOS may keep an older one as python3.
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
endif
PYTHON_VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

# The stamp names the interpreter, so another PYTHON makes another environment. It is younger than
# the two files that say what is installed, or the installation runs again in place.
READY := $(VENV)/.ready-$(PYTHON_VERSION)

ifdef UV
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: help setup demo test test-fast check format-check lint types borders docs-check \
	format docs bench evals build lock clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

setup: $(READY) ## create or refresh the virtual environment

$(READY): pyproject.toml constraints.txt
	@if [ -z "$(PYTHON_VERSION)" ] && [ -z "$(UV)" ]; then \
		echo "HyphaeDB needs Python 3.11 or newer; $(if $(PYTHON),$(PYTHON) does not run,none was found)." >&2; \
		echo "Install it (Debian, Ubuntu: apt-get install python3 python3-venv), or install uv," >&2; \
		echo "or name an interpreter: make PYTHON=/path/to/python3.12 test" >&2; \
		exit 1; \
	fi
	@if [ -n "$(PYTHON_VERSION)" ] && ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
		echo "HyphaeDB needs Python 3.11 or newer; $(PYTHON) is $(PYTHON_VERSION)." >&2; \
		echo "Name a newer one: make PYTHON=python3.12 test" >&2; \
		exit 1; \
	fi
	@if [ -z "$(UV)" ] && ! "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$(PYTHON) comes without its venv module, so no environment can be made." >&2; \
		echo "Install it (Debian, Ubuntu: apt-get install $(notdir $(PYTHON))-venv), or install uv." >&2; \
		exit 1; \
	fi
	@# No stamp of this interpreter: what lies there is another's or half made, so start afresh.
	@if [ ! -e "$(READY)" ]; then \
		echo "Setting up $(VENV) (the first time takes a minute or two) ..."; \
		if [ -d "$(VENV)" ] && [ ! -e "$(VENV)/.hyphaedb" ] && [ -n "$$(ls -A "$(VENV)")" ]; then \
			echo "$(VENV) was not made by this Makefile, so it is left alone." >&2; \
			echo "Name a directory that does not exist: make VENV=.venv ..." >&2; \
			exit 1; \
		fi; \
		rm -rf "$(VENV)"; \
		if [ -n "$(UV)" ]; then "$(UV)" venv --quiet --python "$(or $(PYTHON),>=3.11)" "$(VENV)"; \
		else "$(PYTHON)" -m venv "$(VENV)"; fi; \
		touch "$(VENV)/.hyphaedb"; \
	fi
	@# The build backend first, so that the project itself builds without asking a registry again.
	@$(INSTALL) -c constraints.txt hatchling
	@$(INSTALL) -c constraints.txt --no-build-isolation -e '.[dev,fast,llm]'
	@touch "$@"

demo: $(READY) ## the main job on real text: who learns what, by which path, and why
	@$(BIN)/hyphaedb demo $(ARGS)

test: $(READY) ## every test (ARGS="-k wave" narrows)
	@$(BIN)/python -m pytest $(ARGS)

test-fast: $(READY) ## the tests that need no database
	@$(BIN)/python -m pytest tests/protocol tests/providers tests/test_*.py -m "not slow" $(ARGS)

check: format-check lint types borders docs-check ## everything that can be said without running a test

format-check: $(READY)
	@$(BIN)/ruff format --check .

lint: $(READY)
	@$(BIN)/ruff check .

types: $(READY)
	@$(BIN)/mypy src tests docs $(patsubst %/__main__.py,%,$(wildcard evals/__main__.py bench/__main__.py)) \
		$(patsubst %/__init__.py,%,$(wildcard training/__init__.py))

borders: $(READY)
	@$(BIN)/lint-imports --no-logo

docs-check: $(READY)
	@$(BIN)/python docs/generate.py --check

format: $(READY) ## put the code into its one format and apply safe fixes
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(READY) ## write the generated pages again
	@$(BIN)/python docs/generate.py

bench: $(READY) ## measure speed (NAME=wave for one)
	@$(BIN)/python -m bench $(or $(NAME),all) $(ARGS)

evals: $(READY) ## measure quality (NAME=routing ARGS="--learn FILE --push FILE --json")
	@$(BIN)/python -m evals $(NAME) $(ARGS)

build: $(READY) ## wheel and source distribution into dist/
	@$(BIN)/python -m hatchling build

# Resolved from nothing, so that a pin is what pyproject.toml allows and not what happened to be here.
lock: $(READY) ## resolve constraints.txt afresh (needs a registry)
	@set -e; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	"$(PYTHON)" -m venv "$$fresh/venv"; \
	"$$fresh/venv/bin/python" -m pip install --quiet --disable-pip-version-check '.[dev,fast,llm]'; \
	{ sed -n '/^#/p' constraints.txt; \
	  "$$fresh/venv/bin/python" -m pip freeze --exclude hyphaedb; } > "$$fresh/constraints.txt"; \
	cp "$$fresh/constraints.txt" constraints.txt

clean: ## remove what make made, never anybody's data
	rm -rf "$(VENV)" dist .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
