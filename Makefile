# Everything is set up on first use: `make serve` needs Python 3.11+, make and PyPI, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.PHONY: setup setup-dev setup-all setup-site serve test test-all acceptance lint bench docs site soak cards differential fuzz week release standalone lock clean

# Tests start hundreds of processes: without bytecode each would compile all that it imports.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto
# See "What a test needs" in CONTRIBUTING.md.
QUICK := "not needs and not long"
# Many of the others wait (for a JVM, a download, the end of a session): five workers for two cores.
WORKERS = -n $$(($$(getconf _NPROCESSORS_ONLN) * 5 / 2)) --dist loadgroup --no-loadscope-reorder
# What failed in CI is run once more, alone. What passes then depends on how busy the machine is: mend it.
AGAIN := -n0 --last-failed --last-failed-no-failures none --maxfail 3
again = $(if $(CI),|| { [ $$? = 1 ] && echo "Some tests failed. They are run once more:" && $(PYTEST) $(AGAIN) $(1); })
install = echo "Installing what $(1) pins into $(VENV), $$(grep -c == $(1)) packages: seconds to minutes ..." && \
	began=$$(date +%s) && requirements/install $(BIN)/python --require-hashes -r $(1) $(2) && touch $@ && \
	echo "$(1) installed in $$(($$(date +%s) - began)) s"

setup: $(VENV)/.run  ## the run-time set only
setup-dev: $(VENV)/.dev  ## and what `make test` and benchmarks need
setup-all: $(VENV)/.all  ## and Spark, which tests of pipeline/ need and the linters read
setup-site: $(VENV)/.site  ## what `make site` needs

$(BIN)/python:
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.lock pyproject.toml | $(BIN)/python
	@$(call install,$<,&& requirements/install $(BIN)/python --no-deps --editable .)

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	@$(call install,$<)

$(VENV)/.all: requirements/all.lock $(VENV)/.dev
	@$(call install,$<)

$(VENV)/.site: requirements/site.lock $(VENV)/.run
	@$(call install,$<)

serve: setup  ## make serve ARGS="--kafka 2.3 --brokers 1"
	exec $(BIN)/mockbroker serve $(ARGS)

test: setup-dev  ## what needs Python only and is not long; make test ARGS="-k groups", ARGS="-n0 tests/log"
	$(PYTEST) --dist worksteal -m $(QUICK) $(ARGS) $(call again,-m $(QUICK))

test-all: setup-all  ## every test, or those that ARGS selects
	$(PYTEST) $(WORKERS) $(ARGS) $(call again,$(ARGS))

acceptance: setup-all  ## campaigns of hours, by hand; make acceptance ARGS="--list", ARGS="fuzz real"
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.acceptance $(ARGS)

lint: setup-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy mockbroker tests benchmarks companions docs found incidents standalone studies
	$(BIN)/lint-imports

bench: setup-dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m benchmarks $(ARGS)
	$(if $(strip $(ARGS)),,$(BIN)/python -m benchmarks.growth)

docs: setup-dev
	$(BIN)/python -m docs.generate
	$(BIN)/python -m found docs

site: setup-site  ## the documentation as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

soak: setup-dev  ## exactly once through 200 seeds; make soak ARGS="--seeds 5 --client java-4.4"
	$(BIN)/python -m studies.exactly_once --fixed yes --seeds 50 $(ARGS)

cards: setup-dev  ## the report cards of all clients; exit status 1 says only that something tells against one
	$(BIN)/mockbroker check --client all --cards docs/report-cards $(ARGS)

differential: setup-dev  ## random sequences, a real broker beside; make differential ARGS="--kafka 3.9.2 --malformed"
	$(BIN)/python -m mockbroker.conformance.differential $(ARGS)

fuzz: setup-dev  ## half a million requests that nobody should send; make fuzz ARGS="--inputs 20000 --mode lengths"
	$(BIN)/python -m mockbroker.conformance.fuzz run $(ARGS)

week: setup-dev  ## a week of traffic in virtual time, and what the cluster keeps of it
	$(BIN)/python -m benchmarks.week $(ARGS)

# uv keeps what an output file has: so they agree.
COMPILE := $(VENV)/lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header
release:  ## builds what is published, checks it, and tries it where nothing else is; uploads nothing
	.ci/release

standalone:  ## a folder for Linux that needs no Python, and an archive of it, in build/standalone; make standalone BUNDLE=analyze
	standalone/build

lock:  ## pin again what pyproject.toml asks for
	$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/pip install --quiet uv
	$(COMPILE) --extra browser --extra dev --extra site --extra spark pyproject.toml -o requirements/all.lock
	cp requirements/all.lock requirements/dev.lock
	$(COMPILE) --extra dev pyproject.toml -o requirements/dev.lock
	cp requirements/all.lock requirements/site.lock
	$(COMPILE) --extra site pyproject.toml -o requirements/site.lock
	cp requirements/all.lock requirements/run.lock
	$(COMPILE) pyproject.toml -o requirements/run.lock
	cp requirements/all.lock requirements/standalone.lock
	$(COMPILE) --extra standalone pyproject.toml -o requirements/standalone.lock
	cp requirements/all.lock requirements/standalone-analyze.lock
	$(COMPILE) --extra standalone-analyze pyproject.toml -o requirements/standalone-analyze.lock
	echo uv | $(COMPILE) - -o requirements/uv.lock

clean:
	rm -rf $(VENV) build dist *.egg-info
