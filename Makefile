# `make demo` and `make test` need nothing but Python 3.10 to 3.13 and a network.

VENV := .venv
BIN := $(VENV)/bin
DEMO_SCENE := honey
DEMO_OUT := runs/$(DEMO_SCENE)
# What else `viscoil run` is told, such as DEMO_FLAGS="--frames 30"
DEMO_FLAGS :=
# Two processes: most of the time goes into compiling kernels, which takes one core each.
TEST_PROCESSES := 2
# What else pytest is told, such as TEST_FLAGS="-x -k emitter"
TEST_FLAGS :=

CODE := src tests scripts $(wildcard verify bench)

.PHONY: help demo test test-margins lint format verify bench docs images clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo     install, simulate honey, and say where the video is'
	@echo 'make test     install, then lint and run all tests'
	@echo 'make test-margins  how far simulated figures stay from their bars (long)'
	@echo 'make lint     ruff, mypy, and whether generated pages are current'
	@echo 'make format   write code the way lint wants it'
	@echo 'make verify   compare with closed forms and published numbers (long)'
	@echo 'make bench    measure speed and memory (long)'
	@echo 'make docs     regenerate the pages that are made from the code'
	@echo 'make images   simulate and render the pictures of the README (an hour)'
	@echo 'make clean    remove what these commands made, but for runs/'

demo: $(VENV)/.installed
	$(BIN)/viscoil run $(DEMO_SCENE) --out $(DEMO_OUT) --overwrite $(DEMO_FLAGS)
	@echo
	@echo 'video:   $(DEMO_OUT)/video.mp4'
	@echo 'picture: $(DEMO_OUT)/preview.png'

test: lint
	@scripts/test_packages.sh
	$(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile $(TEST_FLAGS)

test-margins: $(VENV)/.installed-test
	$(BIN)/python scripts/test_margins.py -n $(TEST_PROCESSES) --dist loadfile $(TEST_FLAGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
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

images: $(VENV)/.installed-all
	@mkdir -p docs/images
	$(BIN)/python scripts/readme_pictures.py
	$(BIN)/python scripts/look_chart.py docs/images/looks.png

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are newer than pyproject.toml only when all that it asks for is installed.
$(VENV)/.installed: pyproject.toml scripts/make_venv.sh
	scripts/make_venv.sh $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,all]'
	@touch $@

$(VENV)/.installed-all: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@
