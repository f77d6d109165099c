# Everything is set up on first use: `make serve` needs Python 3.11+, make and PyPI, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.PHONY: setup setup-dev serve test lint bench docs soak differential fuzz week lock clean

setup: $(VENV)/.run  ## the run-time set only
setup-dev: $(VENV)/.dev  ## and what tests, linters and benchmarks need

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	touch $@

serve: setup  ## make serve ARGS="--kafka 2.3 --brokers 1"
	exec $(BIN)/mockbroker serve $(ARGS)

test: setup-dev  ## make test ARGS="-k groups"
	$(BIN)/python -m pytest $(ARGS)

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --package mockbroker
	$(BIN)/mypy tests benchmarks docs
	$(BIN)/lint-imports

bench: setup-dev
	$(BIN)/python -m benchmarks $(ARGS)

docs: setup-dev
	$(BIN)/python -m docs.generate

soak: setup-dev  ## exactly once through 200 seeds; make soak ARGS="--seeds 5 --client java-4.4"
	$(BIN)/python -m mockbroker.conformance.exactly_once --fixed yes --seeds 50 $(ARGS)

differential: setup-dev  ## random sequences, a real broker beside; make differential ARGS="--kafka 3.9.2 --malformed"
	$(BIN)/python -m mockbroker.conformance.differential $(ARGS)

fuzz: setup-dev  ## half a million requests that nobody should send; make fuzz ARGS="--inputs 20000 --mode lengths"
	$(BIN)/python -m mockbroker.conformance.fuzz run $(ARGS)

week: setup-dev  ## a week of traffic in virtual time, and what the cluster keeps of it
	$(BIN)/python -m benchmarks.week $(ARGS)

lock:  ## pin again what pyproject.toml asks for
	$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/pip install --quiet uv
	$(VENV)/lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/run.lock
	$(VENV)/lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --extra dev --extra spark pyproject.toml -o requirements/dev.lock

clean:
	rm -rf $(VENV) build dist *.egg-info
