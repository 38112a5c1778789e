# `make` alone lists the targets. Everything runs in .venv, which is built from requirements.lock when needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SAM_VENV := .venv-sam
SAM_READY := $(SAM_VENV)/.ready
BUNDLE := build/bundle
PACKAGES := task corpora lambdas leaderboard learners simulator client_sdk/banditmt_client benchmarks tests

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format bench bench-full bench-archive attacks load bench-http bench-cluster simulate simulate-bugs soak audit study-learning study-learning-debian study-smt study-smt-debian \
	study-champion study-context study-adaptation study-wmt17 study-wmt17-full study-offline serve screenshots recording learning-figure openapi template-check extras-check packages-check lock clean
.PRECIOUS: .venv-%/.ready

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "  make %-21s %s\n", $$1, $$2}'

setup: $(READY)  ## build .venv from the lock file (does nothing if it is up to date)

$(READY): requirements.lock pyproject.toml client_sdk/pyproject.toml
	@.ci/python-is-usable $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	@# torch first and alone, so that any build of this version satisfies the packages that require torch
	$(BIN)/pip install --quiet "$$(grep '^torch==' requirements.lock)"
	$(BIN)/pip install --quiet --no-deps -r requirements.lock
	$(BIN)/pip install --quiet --no-deps -e client_sdk -e .
	@$(BIN)/python -m learners.nmt.engine
	@touch $@

demo: setup  ## run a small competition on this machine
	$(BIN)/banditmt demo

test: setup  ## run all tests, with coverage
	$(BIN)/python -m pytest -n auto --cov --cov-report=
	$(BIN)/python .ci/coverage-floor 95 task leaderboard lambdas client_sdk/banditmt_client

lint: setup  ## run ruff, ruff format and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES)

format: setup  ## format the code and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## run all benchmarks; each result is a ratio to a named rival
	@for bench in $(filter-out benchmarks/attacks.py benchmarks/cluster.py benchmarks/cost.py benchmarks/full_scale.py benchmarks/gateway.py benchmarks/load.py benchmarks/round_cost.py,$(wildcard benchmarks/[!_]*.py)); do echo; echo "== $$bench"; $(BIN)/python -m "benchmarks.$$(basename $$bench .py)" || exit 1; done

bench-full: setup  ## play the full training phase on SQLite (some minutes)
	$(BIN)/python -m benchmarks.full_scale

bench-archive: setup  ## archive and restore a full training run (some minutes)
	$(BIN)/python -m benchmarks.archive --full-scale

attacks: setup  ## measure what a participant gets during each known attack
	$(BIN)/python -m benchmarks.attacks

load: setup  ## load test over HTTP with 1 to 64 clients (SECONDS=5 per step)
	$(BIN)/python -m benchmarks.load --seconds $(or $(SECONDS),5)

bench-http: setup .venv-http/.ready  ## compare our HTTP server with h11, uvicorn and granian: speed and strictness
	$(BIN)/python -m benchmarks.http_servers

bench-cluster: .venv-ray/.ready  ## compare a run on Ray with the same run in a process: overhead, and equality of ledger and model
	.venv-ray/bin/python -m benchmarks.cluster

simulate: setup  ## simulate competitions on virtual time with new random seeds, and check the rules (SECONDS=60)
	$(BIN)/python -m tests.simulation.simulate --seconds $(or $(SECONDS),60)

simulate-bugs: setup  ## plant bugs in the code, and measure how long the simulation takes to find each
	$(BIN)/python -m tests.simulation.simulate --bugs

soak: setup  ## inject faults with new random seeds (SECONDS=60)
	$(BIN)/python -m tests.faults.soak --seconds $(or $(SECONDS),60)

audit: setup  ## check all locked versions for known vulnerabilities (needs the network)
	.ci/audit $(PYTHON) requirements*.lock

# The studies: all but study-champion resumable, hours on two cores. OPTIONS has the last word: OPTIONS=--keep plays only the runs that are missing
# in the results; OPTIONS="--task PATH --folder PATH --out PATH" plays on a task of your own.
RESULTS := benchmarks/studies/results
DEBIAN_LEARNING := .banditmt/debian-2026
DEBIAN_SMT := .banditmt/debian-4711
# The baselines, the yardsticks, the best published learner and our own: a choice that saves hours.
LEARNING_DEBIAN_SYSTEMS := copy-source word-for-word BNMT-static BNMT-beam BNMT-control BNMT-oracle BNMT-k-best-oracle \
	BNMT-full-information BNMT-ADAPT-full-information BNMT-sampling BNMT-sampling-T1 BNMT-EL-CV BNMT-EL-VALUE \
	BNMT-IMPUTE BNMT-REPLAY

study-learning: setup  ## run the neural systems on the synthetic shop, 40,000 rounds, three seeds (hours; resumable)
	$(BIN)/python -m benchmarks.studies.learning --processes 2 --out $(RESULTS)/learning $(OPTIONS)

study-learning-debian: setup $(DEBIAN_LEARNING)  ## run them on text from Debian, 10,000 rounds
	$(BIN)/python -m benchmarks.studies.learning --task $(DEBIAN_LEARNING) --folder .banditmt/study-learning-debian \
		--processes 2 --out $(RESULTS)/learning-debian --systems $(LEARNING_DEBIAN_SYSTEMS) $(OPTIONS)

study-smt: setup  ## run the statistical systems on the synthetic shop, 10,000 rounds, three seeds (hours; resumable)
	$(BIN)/python -m benchmarks.studies.smt --rounds 10000 --processes 2 --out $(RESULTS)/smt-synthetic $(OPTIONS)

study-smt-debian: setup $(DEBIAN_SMT)  ## run them on text from Debian, 10,000 rounds
	$(BIN)/python -m benchmarks.studies.smt --task $(DEBIAN_SMT) --folder .banditmt/study-smt-debian \
		--processes 2 --out $(RESULTS)/smt-debian $(OPTIONS)

study-champion: setup $(DEBIAN_SMT) .banditmt/debian-999  ## run the learners that decode rewards on two draws of Debian's text and three shops
	$(BIN)/python -m benchmarks.studies.champion --out $(RESULTS)/champion $(OPTIONS)

study-context: setup  ## train the context-aware systems on synthetic dialogues, three seeds, and replay the paper's tables (about an hour and a half; resumable)
	$(BIN)/python -m benchmarks.studies.context --out $(RESULTS)/context $(OPTIONS)

study-wmt17: setup  ## play the whole competition of WMT 2017 again, 40,000 rounds: Table 3 and Figures 1 to 3 (resumable)
	$(BIN)/python -m benchmarks.studies.wmt17 --processes 2 --out .banditmt/study-wmt17/page $(OPTIONS)

study-wmt17-full: setup  ## the same in the size of 2017, 1,297,974 rounds on the whole shop (resumable)
	$(BIN)/python -m benchmarks.studies.wmt17 --rounds 1297974 --departments 35 --out-of-domain 1000000 \
		--folder .banditmt/study-wmt17-full --out .banditmt/study-wmt17-full/page $(OPTIONS)

study-adaptation: setup .banditmt/en-de .banditmt/en-it  ## play the systems that learn from post-edits on two manuals and a shop, three base models each (one to two hours; resumable)
	$(BIN)/python -m benchmarks.studies.adaptation --tasks .banditmt/en-de .banditmt/en-it --out $(RESULTS)/adaptation $(OPTIONS)

.banditmt/en-%: | setup
	$(BIN)/banditmt corpus debian --language $* --from-english --feedback post-edit --dev 3000 --out $@

study-offline: setup .banditmt/offline-debian  ## train systems on logs of feedback, and play them in the rounds that follow (days; resumable)
	$(BIN)/python -m benchmarks.studies.offline --processes 2 --out $(RESULTS)/offline $(OPTIONS)

# 50,002 rounds are the first 50,000 and a whole number between held-out passes.
.banditmt/offline-debian: | setup
	$(BIN)/banditmt corpus debian --out $@ --seed 2020 --dev 50002

.banditmt/debian-%: | setup
	$(BIN)/banditmt corpus debian --out $@ --seed $* --dev 10000

serve: setup  ## run the service and the leaderboard page on this machine
	$(BIN)/banditmt serve

screenshots: setup  ## take the screenshots of the leaderboard page for the documentation
	$(BIN)/python -m tests.browser.screenshots

recording: setup  ## record the demo as an animated picture for the README (minutes)
	$(BIN)/python -m tests.recording.demo

learning-figure: setup  ## draw the first figure of the README from the committed results
	$(BIN)/python -m benchmarks.studies.learning_figure

openapi: setup  ## write docs/openapi.json from the template and the service
	$(BIN)/python -m simulator.cloud.openapi docs/openapi.json

template-check: setup  ## check template.yaml, build the bundle, and run it in the real Lambda runtime
	.ci/template-check $(BIN)

# The SAM command line has many dependencies, so it has its own environment.
$(SAM_READY): requirements-sam.lock
	$(PYTHON) -m venv $(SAM_VENV)
	$(SAM_VENV)/bin/pip install --quiet --no-deps -r requirements-sam.lock
	@touch $@

# Only the benchmark of HTTP servers needs the others.
.venv-http/.ready: requirements-http.lock
	$(PYTHON) -m venv .venv-http
	.venv-http/bin/pip install --quiet --no-deps -r $<
	@touch $@

# Environments with just one extra, for the tests of what needs it: tests/extras/test_NAME.py runs in .venv-NAME. They are kept,
# and built again only when a lock file or a pyproject.toml changes.
EXTRAS := gymnasium trackers optuna huggingface trl ray

.venv-%/.ready: requirements-%.lock pyproject.toml client_sdk/pyproject.toml
	$(PYTHON) -m venv .venv-$*
	@# torch first and alone, as for .venv; pip has kept the file from there
	@! grep -q '^torch==' $< || .venv-$*/bin/pip install --quiet "$$(grep '^torch==' $<)"
	.venv-$*/bin/pip install --quiet --no-deps -r $<
	.venv-$*/bin/pip install --quiet --no-deps -e client_sdk -e .
	@touch $@

extras-check: $(EXTRAS:%=extra-%)  ## test what needs an extra, each in an environment with just that extra

# Where no package can be downloaded, a missing environment is a reason to skip; in CI it is an error.
extra-%:
	@if $(MAKE) --silent .venv-$*/.ready; then .venv-$*/bin/python -m pytest -q --confcutdir tests/extras tests/extras/test_$*.py; \
	elif [ -n "$$CI" ]; then exit 1; else echo "extras-check: $* is skipped, because .venv-$* cannot be built"; fi

packages-check: setup  ## build the wheels of both distributions, install them in an empty environment, and use them there
	.ci/packages-check $(PYTHON) $(BIN)

# What the functions carry: the kernel, the service, the leaderboard's pure parts and its page, and a few libraries, for arm64. `sam build` asks for a
# build-* target for each function of the template (see samconfig.toml).
RUNTIME := $(shell sed -n 's/^ *Runtime: python//p' template.yaml)
BUNDLED := $(shell grep -rLE --include='*.py' --exclude-dir=evaluation '^ *(import|from) (numpy|sacrebleu|altair|vl_convert)' task lambdas leaderboard)

$(BUNDLE): $(BUNDLED) $(wildcard leaderboard/site/*) leaderboard/figures.py leaderboard/publication.py lambdas/requirements.txt requirements.lock
	rm -rf $@ $@.part
	$(BIN)/python -m pip install --quiet --no-deps --no-compile --only-binary=:all: --platform manylinux2014_aarch64 \
		--python-version $(RUNTIME) --target $@.part -r lambdas/requirements.txt
	tar --create $(BUNDLED) | tar --extract --directory $@.part
	$(BIN)/python -m leaderboard.publication $@.part/leaderboard/site
	mv $@.part $@

build-%: $(BUNDLE)
	cp -R $(BUNDLE)/. $(ARTIFACTS_DIR)

lock: ## write the newest versions that pyproject.toml allows to requirements.lock
	.ci/lock $(PYTHON)

clean:  ## remove everything that make has built
	rm -rf $(VENV) .venv-* .aws-sam .coverage build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info client_sdk/*.egg-info tests/node/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
