# shellcheck shell=bash
# What the scripts share: where things are kept, how they speak, and how Debian's
# packages are installed. Sourced, never run.

# Tools such as mke2fs and depmod live in /sbin, which a user's PATH often lacks.
PATH=$PATH:/usr/sbin:/sbin

# The root of the source tree.
# shellcheck disable=SC2034 # Used by those that source this file.
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Everything that is built or downloaded once lives here, outside the tree.
cache=${MACHINIST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/machinist}

# One line on stderr about something that is being done, named after the script.
say() {
    printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# The first twelve hexadecimal digits of the SHA-256 of standard input.
hash12() {
    sha256sum | cut -c1-12
}

# Runs a command while no other process that takes the lock of this name does,
# so that two builds at once end with one result.
with_lock() {
    local name=$1
    shift
    mkdir -p "$cache"
    (
        flock 9
        "$@"
    ) 9>"$cache/$name.lock"
}

# Whether packages can be installed here: Debian's apt, and root's rights.
can_install() {
    have apt-get && { [[ $EUID -eq 0 ]] || sudo -n true 2>/dev/null; }
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

# apt-get, quiet until it fails; then it shows what it said.
apt_get() {
    local log
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# Once in a run is enough.
apt_updated=''
apt_update() {
    [[ -z $apt_updated ]] || return 0
    say "reading Debian's package lists"
    apt_get update
    apt_updated=yes
}

# Installs the named Debian packages, or says how to and fails.
apt_install() {
    [[ $# -gt 0 ]] || return 0
    if ! can_install; then
        say 'missing, and cannot be installed from here (no apt-get, or no root and no passwordless sudo).'
        die "install by hand: apt-get install --no-install-recommends $*"
    fi
    apt_update
    say "installing $*"
    apt_get install -y --no-install-recommends "$@"
}

# The first of what builds images that works here; nothing when none does. A client of docker without
# its daemon does not.
image_builder() {
    local name
    for name in docker podman buildah; do
        if have "$name" && "$name" info >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}
