# Every target does its own set-up: a fresh clone needs nothing but make and Python 3.11.
.DEFAULT_GOAL := help
.PHONY: help talk test setup bench page-test lock

help:            ## say what there is
	@sed -n 's/^\([a-z-]*\): .*## /make \1\t/p' Makefile

talk: setup      ## talk to the example agent in a browser
	.venv/bin/bargein talk examples/card_desk

test: setup      ## lint, format, types and all tests
	scripts/test

setup:           ## create .venv with everything pinned; redone only when the lock changes
	@scripts/setup

bench: setup     ## measure latency and calls a core on this machine
	.venv/bin/python -m bench.matrix

page-test:       ## drive the page in headless Chromium
	@scripts/setup --chromium
	.venv/bin/pytest -m browser

lock: setup      ## pin what pyproject.toml asks for
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
		--quiet --no-header --output-file requirements.lock
	sed -i '1i # What bargein and its checks run with, pinned by "make lock"; "make setup" installs it.' \
		requirements.lock
