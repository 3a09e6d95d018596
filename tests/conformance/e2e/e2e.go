// Package e2e keeps the Kubernetes end-to-end tests among this module's requirements, so that
// `go test -c k8s.io/kubernetes/test/e2e` builds what go.mod and go.sum pin.
package e2e

import _ "k8s.io/kubernetes/test/e2e"
