# Needs Python 3.11+ with pip, make and git; everything else is installed into .venv.
PYTHON ?= python3
ARGS ?=
# One more than there are cores: much of a test is waiting for processes and disks.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

BIN := .venv/bin
SOURCES := src $(wildcard tests bench scripts)

# All installers (npm below) trust the certificates of this machine, and pip does not advertise itself.
export UV_SYSTEM_CERTS ?= true
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

# uv is many times faster; pip also works where only pip knows the way to the package index.
install = UV_BUILD_CONSTRAINT=requirements.lock $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) \
	|| { echo "uv could not install, trying pip" >&2; $(BIN)/python -m pip install --quiet $(1); }

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  ARGS is handed on, as in: make test ARGS='tests/store -x'"

.PHONY: demo
demo: .venv/.runtime ## Watch scripted agents work together
	@$(BIN)/moot demo $(ARGS)

# Compiled tests are kept, whatever the environment says: every worker would take many seconds to compile them again.
.PHONY: test
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/.dev ## Run the tests, on SQLite and on PostgreSQL
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --maxprocesses 8 --dist worksteal $(ARGS)

.PHONY: check
check: .venv/.dev ## Check style, types, layers and docs
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/lint-imports --no-logo
	$(BIN)/basedpyright $(SOURCES)
	$(BIN)/python scripts/check_docs.py

.PHONY: reference
reference: .venv/.dev ## Write docs/reference anew, from the code
	$(BIN)/python scripts/reference.py

.PHONY: bench
bench: .venv/.dev ## Measure, printing ratios
	$(BIN)/python -m bench $(ARGS)

.PHONY: chaos
chaos: .venv/.dev ## Run the long kill and fuzz loops
	MOOT_CHAOS=1 $(BIN)/python -m pytest -m chaos --timeout 3600 $(ARGS)

CLIS := .clis

.PHONY: test-clis
test-clis: .venv/.dev ## Run the tests with the real agent programs, installed from npm into .clis
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory run-test-clis; \
		else echo "There is no npm here: the tests with the real agent programs are skipped."; fi

.PHONY: run-test-clis
run-test-clis: $(CLIS)/.installed
	MOOT_CLIS=$(CURDIR)/$(CLIS) $(BIN)/python -m pytest -m clis --numprocesses $(WORKERS) --maxprocesses 4 \
		--dist worksteal tests/clis $(ARGS)

$(CLIS)/.installed: tests/clis/package.json
	@echo "Installing the agent programs into $(CLIS)"
	@mkdir -p $(CLIS) && cp $< $(CLIS)/package.json
	@NODE_EXTRA_CA_CERTS=$${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt} \
		npm install --prefix $(CLIS) --no-audit --no-fund --no-package-lock --loglevel error
	@touch $@

.PHONY: test-browser
test-browser: .venv/.dev ## Run the tests of the live page in Chromium, which it installs on Debian
	@sh scripts/chromium.sh
	$(BIN)/python -m pytest -m browser --numprocesses $(WORKERS) --maxprocesses 4 --dist worksteal tests/browser $(ARGS)

.PHONY: screenshots
screenshots: .venv/.dev ## Take the pictures of the live page anew (ARGS=FOLDER for every view, to look at)
	@sh scripts/chromium.sh
	$(BIN)/python -m scripts.screenshots $(ARGS)

.PHONY: lock
lock: $(BIN)/uv ## Write requirements.lock anew (ARGS=--upgrade for newer versions)
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --all-extras \
		--custom-compile-command "make lock" --output-file requirements.lock $(ARGS)

.PHONY: clean
clean: ## Remove caches and build output; the next target installs again
	rm -rf build dist .hypothesis .import_linter_cache .pytest_cache .ruff_cache .venv/.runtime .venv/.dev
	find $(SOURCES) -type d -name __pycache__ -prune -exec rm -rf {} +

.venv/.runtime: pyproject.toml requirements.lock | $(BIN)/uv
	@echo "Installing moot into .venv"
	@$(call install,-c requirements.lock -e .)
	@touch $@

.venv/.dev: pyproject.toml requirements.lock | $(BIN)/uv
	@echo "Installing moot and its development tools into .venv"
	@$(call install,-c requirements.lock -e '.[dev]')
	@touch .venv/.runtime $@

$(BIN)/uv: | $(BIN)/python
	@$(BIN)/python -m pip install --quiet -c requirements.lock uv

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "moot needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1)." >&2; \
		echo "Name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Creating .venv"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu install python3-venv." >&2; exit 1; }
