# The commands of the project, for people and for CI. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

swift_sources := Package.swift Sources Tests DevApp

PREFIX ?= /usr/local

.PHONY: help demo coop cluster-demo install uninstall test check lint docs api sanitize soak mutants bench bench-exact bench-records bench-durable bench-postgres bench-postgres-records bench-flows libraries

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Find the duplicate files in this folder, and take the tour
	@.ci/demo

coop: ## Build the tool coop, .build/release/coop, which runs flow files
	@.ci/libraries
	swift build -c release --product coop

cluster-demo: libraries ## Run a flow on three workers with a private PostgreSQL server, and kill two of them
	@swift build -c release --product coop >&2
	@Sources/coop/Cluster/with-server $$(swift build -c release --show-bin-path)/coop cluster-demo ADDRESS $(ARGS)

install: ## Install coop and its completions into /usr/local (or PREFIX=$HOME/.local)
	@DESTDIR="$(DESTDIR)" .ci/install "$(PREFIX)"

uninstall: ## Remove what `make install` has installed, with the same PREFIX and DESTDIR
	@DESTDIR="$(DESTDIR)" .ci/install --uninstall "$(PREFIX)"

test: libraries ## Run every test once, in debug (MODULE=HTTPOperations, FILTER='P5: ', VERBOSE=1)
	@FILTER='$(FILTER)' .ci/test $(MODULE)

check: ## Check everything that CI checks: sources, every test in debug and release, a package of a user, documentation
	@.ci/check

lint: ## Check the format and the words of the sources, CONTRIBUTING, and that all patches apply
	swift format lint --strict --recursive --parallel $(swift_sources)
	.ci/words
	.ci/contributing --check
	.ci/demo-imports
	@# Swift 6.3.1 miscompiles such tuples in closures (see Documentation/Maintaining.md).
	! grep -rnE 'return \(.*(,.*\<await\>|\<await\>.*,)' Sources DevApp/Demo --include='*.swift'
	git apply --check DevApp/Benchmarks/without-events.patch
	[[ $$(uname) != Linux ]] || .ci/mutants/run --apply

docs: libraries ## Build the documentation site into .build/docs, with warnings as errors
	.ci/docs

api: ## Compare the public API with the newest tagged version
	.ci/api

sanitize: libraries ## Run the tests under the thread and the address sanitizer (PART=3/8: a part of the suites)
	@.ci/sanitize

soak: libraries ## Try random trees and flows for ten minutes each, with new seeds (SOAK_SECONDS=600, PART=2/4)
	@.ci/soak

mutants: libraries ## Break every rule, one at a time, and show the test that detects it (PART=3/8: a part of the mutants)
	@.ci/mutants/run

bench: libraries ## Measure against the ways of Swift and other engines: make bench ARGS="fan-out --rounds 9"
	@swift build -c release --product Benchmarks >&2
	@mkdir -p .build/peers
	@[ ! -x DevApp/Benchmarks/Peers/build ] || DevApp/Benchmarks/Peers/build .build/peers >&2 \
	  || echo "Not all peers could be built; those that could are measured." >&2
	@$$(swift build -c release --show-bin-path)/Benchmarks --peers .build/peers $(ARGS)

bench-exact: ## Count the instructions of an operation, with valgrind: make bench-exact ARGS="fan-out/any"
	@DevApp/Benchmarks/exact $(ARGS)

bench-records: libraries ## Import and export a million rows beside the sqlite3 shell (ARGS="--rows 100000 --rounds 3")
	@swift build -c release --product coop >&2
	@DevApp/Benchmarks/records $$(swift build -c release --show-bin-path)/coop $(ARGS)

bench-durable: libraries ## Measure durable flows beside a bare SQLite insert and DBOS (ARGS="--quick --rounds 5 --only resume")
	@swift build -c release --product Benchmarks >&2
	@DevApp/Benchmarks/Peers/build-dbos .build/durable-peers >&2 \
	  || echo "DBOS could not be installed; the rest is measured." >&2
	@$$(swift build -c release --show-bin-path)/Benchmarks durable --peers .build/durable-peers $(ARGS)

bench-flows: libraries ## Run flow files beside make, ninja and GNU parallel (ARGS="--quick --rounds 5")
	@DevApp/Benchmarks/flows $$(.ci/tool) $(ARGS)

bench-postgres: libraries ## Measure durable flows on PostgreSQL beside pgbench (ARGS="--quick --rounds 5 --only steps-64")
	@swift build -c release --product Benchmarks >&2
	@$$(swift build -c release --show-bin-path)/Benchmarks postgres $(ARGS)

bench-postgres-records: libraries ## Measure records in PostgreSQL beside psql (ARGS="--quick --rounds 5 --only records-save")
	@swift build -c release --product Benchmarks >&2
	@$$(swift build -c release --show-bin-path)/Benchmarks postgres-records $(ARGS)

# Installs the headers, libraries and servers that tests and benchmarks need and that are missing.
libraries:
	@.ci/libraries
	@.ci/postgres
