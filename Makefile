# Everything that a person or CI does with this tree. Nothing here needs a shell other than POSIX sh.

python := .venv/bin/python

.PHONY: help setup setup-test run test check contract bench clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

setup: ## install what running needs: .venv, and system packages on Debian and its relatives
	@tools/setup.sh run

setup-test: ## install what the tests need as well
	@tools/setup.sh test

run: setup ## run the service in this terminal until Ctrl-C
	@tools/run.sh $(ARGS)

test: setup-test ## run the tests; ARGS="-k drift" runs some of them
	@$(python) -m pytest $(ARGS)

check: setup-test ## lint, types, layers, generated files
	@$(python) -m ruff check
	@$(python) -m mypy
	@.venv/bin/lint-imports
	@$(python) -m antidrift.contract --check

contract: setup-test ## write the generated files again
	@$(python) -m antidrift.contract

bench: setup-test ## measure
	@$(python) benchmarks/run.py $(ARGS)

clean: ## take away everything that was made here
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf service/*.egg-info
