#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kube-controller-manager from the Go modules that
# tests/kube pins, into the directory given.
#
# usage: scripts/build-kube.sh DIR
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"

cd "$tree/tests/kube"
destination=${1:?usage: build-kube.sh DIR}
version=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' go.mod)
IFS=. read -r major minor _ <<<"${version#v}"
package=k8s.io/component-base/version

export CGO_ENABLED=0
# The version is set by hand because Kubernetes takes it from its own repository, not from the module.
flags=(-trimpath -ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor")

mkdir -p "$destination"
go build "${flags[@]}" -o "$destination/etcd" go.etcd.io/etcd/server/v3
go build "${flags[@]}" -o "$destination/" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager
