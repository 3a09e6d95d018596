# The one door to everything: `make help` lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
MACHINIST := $(TARGET_DIR)/release/machinist
QUICKSTART := examples/quickstart.yaml
KUBECTL ?= kubectl

# Where the peers of the tests are: kube-apiserver, etcd, kubectl, the guest image.
PEERS = eval "$$(scripts/setup.sh --env)"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Use it

.PHONY: run
run: build ## Run Machinist here: control plane, QEMU provider and one machine
	@$(PEERS); exec $(MACHINIST) up -f $(QUICKSTART)

.PHONY: demo
demo: build ## The same unattended: boot a machine, time it, delete it, prove that nothing is left
	@$(PEERS); exec $(MACHINIST) demo -f $(QUICKSTART)

.PHONY: build
build: setup image ## Build the release binary, and what it needs to run
	@cargo build --release -p machinist --locked

.PHONY: setup
setup: ## Install what is missing to run Machinist (Debian's packages)
	@scripts/setup.sh run

.PHONY: image
image: ## Build the guest image of the quickstart and the tests
	@scripts/setup.sh image
	@images/guest/build.sh >/dev/null

.PHONY: container
container: ## Build the operator's image from scratch, and a file of it in target/image
	@deploy/image/build.sh

##@ Work on it

.PHONY: check
check: ## Format, lints and unit tests: the inner loop, two minutes
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --locked -- -D warnings
	@cargo test --workspace --lib --bins --locked

.PHONY: test
test: ## Everything: lints, unit and integration tests against real peers, and the demo
	@MAKE='$(MAKE)' scripts/test.sh

.PHONY: deploy-manifest
deploy-manifest: ## Write deploy/machinist.yaml, which is what the chart renders
	@$(PEERS); { head -1 deploy/machinist.yaml; "$$MACHINIST_HELM" template machinist --namespace vitistack-system deploy/charts/machinist; } > deploy/machinist.yaml.new
	@mv deploy/machinist.yaml.new deploy/machinist.yaml

.PHONY: conformance
conformance: ## Run Kubernetes end-to-end tests that need no node, and clients that others wrote
	@scripts/setup.sh conformance
	@$(PEERS); cargo xtask conformance
	@scripts/conformance-clients.sh

.PHONY: image-check
image-check: image ## Boot the guest image and check what Machinist relies on
	@images/guest/check.sh

.PHONY: bench
bench: ## Measure start-up, load and memory beside kube-apiserver, and overhead beside plain QEMU
	@scripts/setup.sh test
	@images/guest/build.sh >/dev/null
	@$(PEERS); cargo run --release --locked --quiet --package xtask -- bench $(BENCH)

.PHONY: faults
faults: ## Print the fault table: every fault at every call of every scenario, with its verdict
	@scripts/setup.sh moto
	@$(PEERS); MACHINIST_FAULTS_ALL=1 cargo test --release -p machinist --locked --test engine --test aws every_fault_at_every_call -- --nocapture

SOAK_SEEDS ?= 100000

.PHONY: soak
soak: ## Lead 100,000 simulated lives of a machine, each from its seed, and all of the fault table on QEMU
	@MACHINIST_SIM_SEEDS=$(SOAK_SEEDS) cargo test --release -p machinist --locked --test engine lives_that_seeds_make_up -- --nocapture
	@$(PEERS); cargo test --release -p machinist --locked --test engine guests_survive_every_fault -- --ignored --nocapture

.PHONY: fuzz-check
fuzz-check: ## Build the fuzz targets and run each for some seconds (brings a nightly compiler)
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh 15

FUZZ_SECONDS ?= 60

.PHONY: fuzz
fuzz: ## Fuzz requests, patches, apply, CEL, protobuf, selectors, tokens and manifests, a minute each
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS)

.PHONY: lint
lint: ## Clippy, shellcheck, and licences and advisories of the dependencies
	@cargo clippy --workspace --all-targets --locked -- -D warnings
	@if command -v cargo-deny >/dev/null; then cargo deny check; \
	  else echo 'lint: cargo-deny is not installed (cargo install cargo-deny): dependencies not checked'; fi
	@if command -v shellcheck >/dev/null; then git ls-files -z | xargs -0 grep -lE '^#!.*[/ ](ba|busybox )?sh\b' | xargs shellcheck -x; \
	  else echo 'lint: shellcheck is not installed (apt-get install shellcheck): scripts not checked'; fi

.PHONY: fmt
fmt: ## Format the source
	@cargo fmt --all

##@ Custom resources

.PHONY: manifests
manifests: ## Write the CRDs from the Rust types
	@cargo xtask manifests

.PHONY: generate
generate: ## Write everything else that is generated: schemas for editors, the reference
	@cargo xtask generate

.PHONY: sanitize-crds
sanitize-crds: ## Bring the CRDs into the form that every API server takes
	@cargo xtask sanitize-crds

.PHONY: verify-crds
verify-crds: ## Fail if the committed CRDs are not those of the Rust types
	@cargo xtask verify-crds

.PHONY: install-crds
install-crds: ## Install the CRDs in the cluster that kubectl points to
	@$(KUBECTL) apply --server-side --force-conflicts -f crds/

.PHONY: verify-api
verify-api: ## Apply all CRDs and documented manifests to both servers, and print what each said
	@scripts/setup.sh test
	@$(PEERS); MACHINIST_REQUIRE_PEERS=1 cargo test --locked --quiet -p machinist --test verify_api -- --nocapture

.PHONY: docs
docs: ## Make the book of docs/ (target/book); installs mdbook beside what is built, once
	@if command -v mdbook >/dev/null; then mdbook build docs; else \
	  cargo install mdbook --version 0.5.4 --locked --no-default-features --features search --root $(TARGET_DIR)/tools --quiet && \
	  $(TARGET_DIR)/tools/bin/mdbook build docs; fi

.PHONY: clean
clean: ## Remove what cargo built (the caches of peers and images stay)
	@cargo clean
