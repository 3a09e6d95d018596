#!/usr/bin/env bash
# Builds the operator's image with docker, podman or buildah, whichever works here, and writes it
# to a file as well, for a registry or a cluster without one.
#
# usage: deploy/image/build.sh            (IMAGE=name:tag and BUILDER=docker|podman|buildah choose)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/../../scripts/lib.sh"
cd "$tree"

"$tree/scripts/setup.sh" container

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
image=${IMAGE:-machinist:$version}
builder=${BUILDER:-$(image_builder)}
triple=$(uname -m)-unknown-linux-gnu
out=${CARGO_TARGET_DIR:-$tree/target}/image

say 'building a binary with its C library inside: the image has none'
# Such a binary cannot look whether its kernel has getrandom(2), and would want devices instead. The
# target is named so that the flags are not for what runs while building.
RUSTFLAGS='-C target-feature=+crt-static --cfg getrandom_backend="linux_getrandom"' cargo build --release --locked --package machinist --target "$triple"

rm -rf "$out/context"
mkdir -p "$out/context"
cp "${CARGO_TARGET_DIR:-$tree/target}/$triple/release/machinist" "$out/context/"
cp -L /etc/ssl/certs/ca-certificates.crt "$out/context/"
chmod 0755 "$out/context/machinist"
chmod 0644 "$out/context/ca-certificates.crt"

say "building $image with $builder"
arguments=(--file "$here/Dockerfile" --build-arg "VERSION=$version" --tag "$image")
archive=$out/machinist.tar
rm -f "$archive"
case $builder in
    docker)
        docker build "${arguments[@]}" "$out/context"
        docker save --output "$archive" "$image"
        ;;
    podman)
        podman build --format oci "${arguments[@]}" "$out/context"
        podman save --format oci-archive --output "$archive" "$image"
        ;;
    buildah)
        # Nothing is run while it is built, so that neither namespaces nor a special file system are
        # needed, which a build within a container may not have.
        storage=(--storage-driver vfs)
        buildah "${storage[@]}" build --isolation chroot --format oci "${arguments[@]}" "$out/context"
        buildah "${storage[@]}" push --quiet "$image" "oci-archive:$archive:$image"
        ;;
    *) die "cannot build with '$builder' (docker, podman or buildah)" ;;
esac
say "$archive ($(du -h "$archive" | cut -f1))"
