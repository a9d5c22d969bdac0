# Stands on Python >= 3.11, git and make alone. Every step leaves a stamp in what it made (.venv/*/, .make/), so
# that nothing is done again while its inputs are unchanged, and whatever was deleted is made anew.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help demo test dev lint lint-rules lint-format lint-types lint-tests format bench clean FORCE

PACKAGES := dialects gate conformance

# --- the interpreter -------------------------------------------------------------------------------------------

# Debian ships pythons without venv and ensurepip, pyenv leaves shims of versions that are not active.
suits := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c '$(suits)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
endif

.make/python: FORCE
	@mkdir -p .make
	@test -n '$(PYTHON)' && $(PYTHON) -c '$(suits)' >/dev/null 2>&1 || { \
		echo "tooldialect needs Python 3.11 or newer with venv and ensurepip (Debian: python3-venv);" \
			"$(or $(PYTHON),no python on the PATH) does not suit. Name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; print(sys.version, sys.base_prefix)' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# --- environments: .made (exists), .deps (dependencies installed), .wheel (this tree's wheel installed) ---------

PIP := .venv/build/bin/python -m pip --disable-pip-version-check --no-input -qq
wheel = $$(ls .make/wheel/*.whl)

# One pip serves all environments: unpacking it into each would take longer than all else.
.venv/%/.made: .make/python
	@rm -rf $(@D)
	@$(PYTHON) -m venv --without-pip $(@D)
	@touch $@

.venv/build/.made .venv/dev/.made: .make/python
	@rm -rf $(@D)
	@$(PYTHON) -m venv $(@D)
	@touch $@

.venv/build/.deps: .venv/build/.made pyproject.toml
	@$(PIP) install $$($(PYTHON) -c 'import tomllib; \
		print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

.venv/test/.deps: extras := [test,lint]
# Of trl the chat templates alone are used, as data: what it depends on is gigabytes.
.venv/test/.deps: bare := 'trl==1.16.*'
.venv/demo/.deps: extras := [demo]
.venv/bench/.deps: extras := [bench]
.venv/%/.deps: .venv/%/.made pyproject.toml | .make/wheel/.built
	@echo "installing the dependencies of tooldialect$(extras) into $(@D)"
	@$(PIP) --python $(@D)/bin/python install "$(wheel)$(extras)"
	@test -z "$(bare)" || $(PIP) --python $(@D)/bin/python install --no-deps $(bare)
	@touch $@

.venv/%/.wheel: .venv/%/.deps .make/wheel/.built
	@$(PIP) --python $(@D)/bin/python install --no-deps --force-reinstall "$(wheel)"
	@touch $@

# --- the wheel -------------------------------------------------------------------------------------------------

files := $(sort $(shell find $(PACKAGES) -type f ! -name '*.pyc'))

# The list itself, so that a file that was deleted also leaves the wheel.
.make/files: FORCE
	@mkdir -p .make
	@printf '%s\n' $(files) >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# setuptools never removes a stale file from build/.
.make/wheel/.built: .venv/build/.deps .make/files pyproject.toml README.md LICENSE $(files)
	@echo "building the wheel"
	@rm -rf build $(@D)
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(@D) .
	@rm -rf build
	@touch $@

# --- what people type ------------------------------------------------------------------------------------------

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: demo/__main__.py .venv/demo/.wheel ## two real MCP servers behind the gate, in three dialects
	@.venv/demo/bin/python -m demo $(ARGS)

demo/__main__.py:
	@echo "this checkout has no demo/" >&2; exit 1

# COVERAGE=95 also measures the branch coverage of dialects and gate, and fails below it.
measured := --cov=tooldialect.dialects --cov=tooldialect.gate --cov-report=term
test: .venv/test/.wheel .venv/bare/.wheel ## run the tests on the built wheel (T=tests/test_x.py for some of them)
	@PYTHONSAFEPATH=1 TOOLDIALECT_WHEEL="$(wheel)" TOOLDIALECT_BARE_PYTHON=.venv/bare/bin/python \
		.venv/test/bin/python -m pytest $(if $(COVERAGE),$(measured) --cov-fail-under=$(COVERAGE)) $(T)

dev: .venv/dev/.deps .dev ## an editable install with every extra in .venv/dev, and the links for type checkers
	@echo "ready: . .venv/dev/bin/activate"

.venv/dev/.deps: .venv/dev/.made .venv/build/.deps pyproject.toml README.md
	@echo "installing tooldialect and all its extras into $(@D)"
	@$(PIP) --python $(@D)/bin/python install --editable '.[test,lint,bench]'
	@touch $@

# Type checkers do not see through an editable install; they do through links.
.dev: $(addprefix .dev/tooldialect/,$(PACKAGES))
.dev/tooldialect/%:
	@mkdir -p $(@D)
	@ln -sfn ../../$* $@

# The packages by path: by name mypy would find the installed wheel before the links.
programs := $(wildcard demo benchmarks)
# Tests hand over wrong values on purpose and look where they know what is there.
loosely := --cache-dir .mypy_cache/tests --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls \
	--allow-any-generics --allow-untyped-decorators --allow-subclassing-any --no-warn-return-any \
	--no-warn-unused-ignores $(addprefix --disable-error-code ,arg-type assignment attr-defined call-arg \
	comparison-overlap dict-item func-returns-value import-untyped index list-item misc operator redundant-expr \
	union-attr var-annotated)
lint: lint-rules lint-format lint-types lint-tests ## ruff and mypy (strict for the packages)

lint-rules: .venv/test/.deps
	@.venv/test/bin/ruff check .

lint-format: .venv/test/.deps
	@.venv/test/bin/ruff format --check .

lint-types: .venv/test/.deps .dev
	@.venv/test/bin/mypy .dev/tooldialect

lint-tests: .venv/test/.wheel .dev
	@.venv/test/bin/mypy $(loosely) tests $(programs)

format: .venv/test/.deps ## let ruff fix and format
	@.venv/test/bin/ruff check --fix .
	@.venv/test/bin/ruff format .

bench: .venv/bench/.wheel ## what it costs, as ratios (ARGS='--quick', '--compare OLD.json', '--transcript FILE', '--help')
	@.venv/bench/bin/python -m benchmarks $(ARGS)

clean: ## remove everything that was made
	@rm -rf .venv .make .dev build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.*
