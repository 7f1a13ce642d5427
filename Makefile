# Two commands: `make tour` and `make test`. Everything they need is set up by tools/setup.sh:
# system packages by name where it may, a virtual environment in .venv, the built package in it.

VENV ?= .venv
PYTHON = $(VENV)/bin/python
SOURCES := $(shell find src ext include python -type f -not -name '*.so' -not -path '*/__pycache__/*') \
	meson.build meson_options.txt pyproject.toml

.PHONY: tour test bench dev asan ubsan tsan fuzz test-long bless clean

tour: $(VENV)/installed
	$(PYTHON) -m tessera tour $(ARGS)

test: $(VENV)/installed-test
	$(PYTHON) tools/test.py $(ARGS)

bench: $(VENV)/installed-test
	$(PYTHON) -m bench $(ARGS)

$(VENV)/installed: $(SOURCES) tools/setup.sh
	sh tools/setup.sh $(VENV) tour
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	sh tools/setup.sh $(VENV) test
	touch $@

# A debug build with assertions, the extension linked beside the Python sources.
dev: $(VENV)/installed-test
	PATH=$(CURDIR)/$(VENV)/bin:$$PATH sh tools/dev.sh

asan ubsan tsan: $(VENV)/installed-test
	$(PYTHON) tools/test.py --only $@

# 200,000 random tile programs, both kinds of input under sanitizers, fuzz targets: hours.
test-long: $(VENV)/installed-test
	$(PYTHON) tools/test.py --only long --seconds 600

fuzz: $(VENV)/installed-test
	$(PYTHON) tools/test.py --only fuzz --seconds 600

bless: $(VENV)/installed-test
	$(PYTHON) tools/test.py --only golden --bless

clean:
	rm -rf build build-* $(VENV) tour-out
