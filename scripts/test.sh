#!/usr/bin/env bash
# The whole test run, in stages; ends with the time each took, also when one fails.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"
cd "$tree"

report=()
print_report() {
    local line
    printf '\n%-10s %8s  %s\n' stage seconds result
    for line in "${report[@]}"; do
        # shellcheck disable=SC2086 # A line is three words.
        printf '%-10s %8s  %s\n' $line
    done
}
trap print_report EXIT

stage() {
    local name=$1 started=$SECONDS
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    if "$@"; then
        report+=("$name $((SECONDS - started)) ok")
    else
        report+=("$name $((SECONDS - started)) FAILED")
        exit 1
    fi
}

# A suite whose peer is absent skips itself for a developer; in CI nothing is skipped.
if [[ ${CI:-} == true ]]; then
    export MACHINIST_REQUIRE_PEERS=1
fi

stage setup scripts/setup.sh test
stage image images/guest/build.sh
stage container deploy/image/build.sh
eval "$(scripts/setup.sh --env)"
stage fmt cargo fmt --all --check
stage clippy cargo clippy --workspace --all-targets --locked -- -D warnings
# A developer's `cargo test` leads a few of the simulated lives; the whole run leads a thousand.
export MACHINIST_SIM_SEEDS=${MACHINIST_SIM_SEEDS:-1000}
stage tests cargo test --workspace --locked --no-fail-fast
stage conform cargo xtask conformance
stage clients scripts/conformance-clients.sh
stage demo "${MAKE:-make}" --no-print-directory demo
