#!/usr/bin/env bash
# Builds the Kubernetes end-to-end tests and the program that runs them side by side, from the Go
# modules that tests/conformance/e2e pins, into the directory given.
#
# usage: scripts/build-conformance.sh DIR
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"

cd "$tree/tests/conformance/e2e"
destination=${1:?usage: build-conformance.sh DIR}
version=$(awk '$1 == "k8s.io/kubernetes" || $2 == "k8s.io/kubernetes" { print $NF }' go.mod | head -n 1)
IFS=. read -r major minor _ <<<"${version#v}"
package=k8s.io/component-base/version

export CGO_ENABLED=0
mkdir -p "$destination"
go build -trimpath -ldflags '-s -w' -o "$destination/ginkgo" github.com/onsi/ginkgo/v2/ginkgo
# Without vet, which would read everything that the tests depend on once more.
go test -c -vet=off -trimpath \
    -ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor" \
    -o "$destination/e2e.test" k8s.io/kubernetes/test/e2e
