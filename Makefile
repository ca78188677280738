# make demo, make test, make lint, make package, make docs: Python 3.11 or newer and make are all that is needed.

# The first Python that is new enough; `make PYTHON=/path/to/python test` picks another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then command -v $$p; break; fi; done)
VENV ?= .venv
BIN := $(VENV)/bin
# Libraries that do not have a wheel for every system; the tests that need them are skipped where they are missing.
NEIGHBOURS := pymoo,pygmo,optuna

.PHONY: help demo test test-slow test-versions lint package docs clean

help:
	@echo "make demo       run a small study, with live progress, and write its report"
	@echo "make test       run the tests"
	@echo "make test-slow  run the tests that take longer"
	@echo "make test-versions  run a part of the tests with Python 3.11 to 3.14, oldest and newest NumPy, SciPy and JAX"
	@echo "make lint       check format, style and types"
	@echo "make package    build the package, and install it in clean environments"
	@echo "make docs       build the site, docs/_build/html/index.html"
	@echo "make clean      remove what make and the tools made"

demo: $(VENV)/.stamp-demo
	@$(BIN)/python examples/demo.py

test: $(VENV)/.stamp-test
	@$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: $(VENV)/.stamp-test
	@$(BIN)/python -m pytest -n auto --dist worksteal -m slow

test-versions:
	@"$(PYTHON)" tests/versions/environments.py

lint: $(VENV)/.stamp-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

package: $(VENV)/.stamp-test
	@PYTHON=$(BIN)/python .ci/package

# Every warning is an error, all of them are shown, and internal links must lead somewhere. All pages are written, since
# the search forgets the words of the index of pages that are not; the programs of the gallery run only if they changed.
docs: $(VENV)/.stamp-docs
	$(BIN)/python -m sphinx --fresh-env --write-all --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html
	$(BIN)/python docs/_site/check_links.py docs/_build/html
	@echo "The site: open docs/_build/html/index.html in a browser."

# Installed again only when pyproject.toml changes: the package itself is used from where it lies.
$(VENV)/.stamp-demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,report]'
	@touch $@

$(VENV)/.stamp-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(VENV)/.stamp-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev,jax,cli,report,pool,dask,parquet]'
	@$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[$(NEIGHBOURS)]' \
		|| for library in $$(echo $(NEIGHBOURS) | tr , ' '); do \
			$(BIN)/python -m pip install --quiet --prefer-binary --editable ".[$$library]" \
				|| echo "$$library cannot be installed here: its tests are skipped"; done
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it with make PYTHON=..." >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)

clean:
	rm -rf $(VENV) .versions build dist demo docs/_build docs/gallery docs/api/generated docs/jupyter_execute docs/notebook.ipynb .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
