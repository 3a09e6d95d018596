#!/usr/bin/env bash
# Runs every fuzz target for some seconds, one after the other. What a target fails on is left in
# fuzz/artifacts and printed with the command that runs it again.
#
# usage: scripts/fuzz.sh SECONDS [TARGET]...
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"

seconds=${1:?how many seconds for each target}
shift
eval "$("$here/setup.sh" --env)"
[[ -n ${MACHINIST_CARGO_FUZZ:-} ]] || die "cargo-fuzz is missing: run 'scripts/setup.sh fuzz'"
export RUSTUP_TOOLCHAIN=$MACHINIST_FUZZ_TOOLCHAIN

# The same versions as everywhere else.
cp "$tree/Cargo.lock" "$tree/fuzz/Cargo.lock"
cd "$tree/fuzz"
# There is no unsafe code for a sanitizer to watch, and without one a target runs several times as often.
fuzz() {
    "$MACHINIST_CARGO_FUZZ" fuzz "$1" --sanitizer none "${@:2}"
}

# What is found on the way is kept only as long as the run: the committed corpus stays small.
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

fuzz build
[[ $# -gt 0 ]] || mapfile -t targets < <("$MACHINIST_CARGO_FUZZ" fuzz list)
for target in "${@:-${targets[@]}}"; do
    mkdir "$found/$target"
    say "$target, for $seconds seconds"
    fuzz run "$target" "$found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 2>&1 |
        grep -vE '^(#|INFO|\s+(NEW|REDUCE))' || {
        say "$target failed"
        exit 1
    }
done
