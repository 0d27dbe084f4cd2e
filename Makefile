# Needs Python 3.11 or newer and make; everything else is set up here, in .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help setup demo test quick fuzz check format pictures bench kill-test audit clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup: $(READY)  ## make .venv with the package and all extras

# torch first: with it in place, nothing that depends on it fetches another build.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[train,rdf,report,dask,dev]'
	@touch $@

demo: setup  ## the main job on UMLS, a graph that needs no download
	$(BIN)/nnmfaug stats umls
	@rm -rf demo && mkdir demo
	$(BIN)/nnmfaug convert umls demo/umls.nt --split all --prefix https://example.org/umls/
	$(BIN)/nnmfaug convert demo/umls.nt demo/umls.parquet --prefix https://example.org/umls/
	$(BIN)/nnmfaug split demo/umls.parquet --valid 5% --test 10% --seed 0 -o demo/umls
	$(BIN)/nnmfaug stats demo/umls --relations 5
	$(BIN)/nnmfaug augment demo/umls -o demo/extra.tsv
	@head -5 demo/extra.tsv
	$(BIN)/nnmfaug compare demo/umls --model transe --epochs 40 --seeds 3 --threads 1 -o demo/runs
	$(BIN)/nnmfaug predict demo/runs --arm combined --head virus --relation affects --top 5

test: check  ## everything a change must pass
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Folders that train nothing and load no torch; examples in docstrings of quality take long.
LIGHT := core graph io augmenters evaluation reports

quick: check  ## lint, types, and the tests that do not train
	NNMFAUG_QUICK=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(LIGHT:%=tests/%) tests/quality $(LIGHT:%=src/nnmfaug/%)

MINUTES ?= 5

fuzz: setup  ## damaged files for all readers, for MINUTES (default 5)
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $$(date +%j)

check: setup  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

pictures: setup  ## draw the pictures of the README
	$(BIN)/python docs/pictures.py

bench: setup  ## ratios against named references
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/method.py
	$(BIN)/python benchmarks/training.py

kill-test: setup  ## kill every writing command at every step, and run it again (about 20 minutes)
	$(BIN)/python -m tests.kill

audit: setup  ## insecure code, known vulnerabilities, and a list of all packages (sbom.json)
	$(PYTHON) .ci/audit .venv sbom.json

clean:  ## remove what the commands above made
	rm -rf .venv .venv-audit sbom.json demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
