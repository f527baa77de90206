# Everything that a person or CI does with this tree. Nothing here needs a shell other than POSIX sh.

python := .venv/bin/python

.PHONY: help setup setup-test run test test-shell lab pictures demo check check-js po contract bench soak install uninstall dist clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

setup: ## install what running needs: .venv, and system packages on Debian and its relatives
	@tools/setup.sh run

setup-test: ## install what the tests need as well
	@tools/setup.sh test

run: setup ## run the service in this terminal until Ctrl-C
	@tools/run.sh $(ARGS)

# Building a GNOME to test with needs root; whoever is not root has `make test-shell`, once it has been built.
root := $(filter 0,$(shell id -u))

# Those that share one GNOME Shell run one after the other, the rest on all cores. Status 5 is "no tests ran", as when
# ARGS chooses tests of the other part.
test: setup-test $(if $(root),lab) ## run the tests; ARGS="-k drift" runs some of them
	@node --test --test-reporter=spec tests/extension/*.test.js
	@$(python) -m pytest -n auto --dist loadfile $(ARGS) $(if $(ARGS),|| test $$? -eq 5)
	@$(if $(root),$(python) -m pytest -m shell $(ARGS) $(if $(ARGS),|| test $$? -eq 5))

test-shell: setup-test ## run the tests in a real GNOME Shell, as root or not
	@tests/shell/lab run gnome-extension -- $(python) -m pytest -m shell $(ARGS)

lab: ## build the GNOME for them, as root (Debian; two minutes once, 650 MB)
	@tests/shell/lab build

pictures: setup-test ## take the pictures in docs/pictures again, from a real GNOME Shell
	@tests/shell/lab run --size 1280x800 gnome-extension -- $(python) tests/shell/pictures.py docs/pictures

demo: setup-test ## play one session in a real GNOME Shell, and leave pictures of it in build/demo
	@tests/shell/lab run gnome-extension -- $(python) tests/shell/demo.py build/demo

check: setup-test check-js ## lint, types, layers, generated files
	@$(python) -m ruff check
	@$(python) -m mypy
	@.venv/bin/lint-imports
	@$(python) -m antidrift.contract --check

check-js: setup-test node_modules/.package-lock.json ## lint, types and translations of the JavaScript alone
	@node_modules/.bin/eslint gnome-extension tests/extension eslint.config.js
	@node_modules/.bin/tsc
	@tools/po.sh --check

po: setup-test ## gather the texts of the extension again, and bring the translations up to them
	@tools/po.sh

# npm writes this file last, so that it is as new as what was installed. It is npm 10 whatever the system has: the npm 9
# of Debian 12 passes over the overrides in package.json and then refuses the lock file.
node_modules/.package-lock.json: package.json package-lock.json | setup-test
	@npx --yes npm@10.9.4 ci --no-progress --loglevel=error

contract: setup-test ## write the generated files again
	@$(python) -m antidrift.contract

bench: setup-test ## measure
	@$(python) benchmarks/run.py $(ARGS)

soak: setup-test ## strain it for long: kills, floods, broken disks, nasty children
	@$(python) soak/run.py $(ARGS)

install: ## install for yourself, without root; NO_AI=1: locked down further, for people without an AI program
	@tools/install.sh

uninstall: ## take that away; PURGE=1: your sessions and settings too
	@tools/uninstall.sh

dist: setup ## write the wheel, and the zip of the GNOME Shell extension, into dist/
	@tools/dist.sh

clean: ## take away everything that was made here
	rm -rf .venv node_modules build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf service/*.egg-info
