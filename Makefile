# Each target does its own set-up: a virtual environment in .venv, installed once, and again when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-gpu test-all lint bench media docs replays clean
.DEFAULT_GOAL := demo

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: .venv/installed           ## a cloth falls over a sphere: drape.mp4
	$(BIN)/verletlab render drape --out drape.mp4

# tests/kernel_groups.py says which tests share a worker, and which files start first.
WORKERS := -n auto --dist loadscope --no-loadscope-reorder

# Tests start some hundred processes. These find compiled Python here, also where the environment forbids to write it.
test test-gpu test-all: export PYTHONDONTWRITEBYTECODE :=
test test-gpu test-all: export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

test: .venv/installed           ## the suite
	$(BIN)/python -m pytest $(WORKERS) -m "not slow and not benchmark"

test-gpu: .venv/installed       ## a GPU, at least one in software, beside the processor
	$(BIN)/python -m pytest $(WORKERS) -m gpu tests/gpu

test-all: .venv/installed       ## the suite, what is slow, and the benchmarks' assertions
	$(BIN)/python -m pytest $(WORKERS) -m "not benchmark and not gpu" --fuzz 200
	$(BIN)/python -m pytest -m benchmark

lint: .venv/installed           ## ruff, and rules of our own
	$(BIN)/ruff check .
	$(BIN)/python tools/check_sources.py

bench: .venv/installed          ## CSV on standard output
	$(BIN)/verletlab bench

media: .venv/installed          ## every picture and video of the README, made again
	PATH="$(CURDIR)/$(BIN):$$PATH" sh media/make.sh

docs: replays                   ## the site, build/docs/index.html; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs

replays: .venv/installed        ## films and replays for the gallery: half an hour the first time
	$(BIN)/python docs/replays.py

clean:
	rm -rf .venv build *.egg-info
