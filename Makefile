# `make demo` and `make test` need nothing but Python 3.10 to 3.13 and a network.

VENV := .venv
BIN := $(VENV)/bin
# Here every dependency has the lowest version that pyproject.toml allows.
VENV_MINIMUM := .venv-minimum
BIN_MINIMUM := $(VENV_MINIMUM)/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
DEMO_SCENE := honey
DEMO_OUT := runs/$(DEMO_SCENE)
# What else `viscoil run` is told, such as DEMO_FLAGS="--frames 30"
DEMO_FLAGS :=
# Two processes: most of the time goes into compiling kernels, which takes one core each.
TEST_PROCESSES := 2
# What else pytest is told, such as TEST_FLAGS="-x -k emitter"
TEST_FLAGS :=
PARALLEL := -n $(TEST_PROCESSES) --dist worksteal

CODE := src tests scripts $(wildcard verify bench)

.PHONY: help demo test test-margins test-minimum coverage lint format verify bench docs site images clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo          install, simulate honey, and say where the video is'
	@echo 'make test          install, then lint and run all tests'
	@echo 'make test-margins  how far simulated figures stay from their bars (long)'
	@echo 'make test-minimum  run all tests with the lowest versions of all dependencies'
	@echo 'make coverage      run all tests and print which lines they do not reach'
	@echo 'make lint          ruff, mypy, rooms, sizes, and whether generated pages are current'
	@echo 'make format        write code the way lint wants it'
	@echo 'make verify        compare with closed forms and published numbers (long)'
	@echo 'make bench         measure speed and memory (long)'
	@echo 'make docs          regenerate the pages that are made from the code'
	@echo 'make site          build the documentation site in build/site'
	@echo 'make images        simulate and render the pictures of the README (an hour)'
	@echo 'make clean         remove what these commands made, but for runs/'

demo: $(VENV)/.installed
	$(BIN)/viscoil run $(DEMO_SCENE) --out $(DEMO_OUT) --overwrite $(DEMO_FLAGS)
	@echo
	@echo 'video:   $(DEMO_OUT)/video.mp4'
	@echo 'picture: $(DEMO_OUT)/preview.png'

test: lint
	@scripts/test_packages.sh
	$(BIN)/pytest $(PARALLEL) $(TEST_FLAGS)

test-minimum: $(VENV_MINIMUM)/.installed
	$(BIN_MINIMUM)/pytest $(PARALLEL) $(TEST_FLAGS)

# Quadrants would else compile probes into kernels, which slows some tests severely.
coverage: $(VENV)/.installed-test
	QD_KERNEL_COVERAGE=0 $(BIN)/pytest $(PARALLEL) --cov=viscoil $(TEST_FLAGS)

test-margins: $(VENV)/.installed-test
	$(BIN)/python scripts/test_margins.py $(PARALLEL) $(TEST_FLAGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_sizes.py
	$(BIN)/python scripts/scene_reference.py --check
	$(BIN)/python scripts/material_reference.py --check
	$(BIN)/python scripts/builtin_mesh_reference.py --check

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

verify: $(VENV)/.installed-test
	$(BIN)/pytest -s -m "slow or not slow" verify $(TEST_FLAGS)

bench: $(VENV)/.installed-all
	@for script in $(filter-out bench/measure.py,$(sort $(wildcard bench/*.py))); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/.installed
	$(BIN)/python scripts/scene_reference.py
	$(BIN)/python scripts/material_reference.py
	$(BIN)/python scripts/builtin_mesh_reference.py
	$(BIN)/python scripts/builtin_mesh_pictures.py

# NO_MKDOCS_2_WARNING silences what Material for MkDocs prints at every start: that it reaches its end of
# life on 5 May 2027, with critical fixes until then, and that Zensical is its successor. That is true, but
# no build can do anything about it, and it hides the warnings of pages, which can. pyproject.toml keeps
# MkDocs below 2 and Material below 10; before that date the site has to move to something maintained.
site: $(VENV)/.installed-site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python scripts/check_site.py build/site

images: $(VENV)/.installed-all
	@mkdir -p docs/images
	$(BIN)/python scripts/readme_pictures.py
	$(BIN)/python scripts/look_chart.py docs/images/looks.png

clean:
	rm -rf $(VENV) $(VENV_MINIMUM) build dist
	rm -rf .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are newer than pyproject.toml only when all that it asks for is installed.
$(VENV)/.installed: pyproject.toml scripts/make_venv.sh
	scripts/make_venv.sh $(VENV)
	$(BIN)/python $(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python $(PIP_INSTALL) --editable '.[test,all]'
	@touch $@

$(VENV)/.installed-all: $(VENV)/.installed
	$(BIN)/python $(PIP_INSTALL) --editable '.[all]'
	@touch $@

$(VENV)/.installed-site: $(VENV)/.installed
	$(BIN)/python $(PIP_INSTALL) --editable '.[site]'
	@touch $@

# tomli reads pyproject.toml where Python itself cannot yet, in 3.10.
$(VENV_MINIMUM)/.installed: pyproject.toml scripts/make_venv.sh scripts/minimum_versions.py
	scripts/make_venv.sh $(VENV_MINIMUM)
	$(BIN_MINIMUM)/python $(PIP_INSTALL) tomli
	$(BIN_MINIMUM)/python scripts/minimum_versions.py >$(VENV_MINIMUM)/constraints.txt
	$(BIN_MINIMUM)/python $(PIP_INSTALL) --constraint $(VENV_MINIMUM)/constraints.txt --editable '.[test,all]'
	@touch $@
