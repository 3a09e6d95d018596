#!/usr/bin/env bash
# Drives a control plane with clients that others wrote: both Helms, both kubectls, Go programs of
# client-go and controller-runtime, Prometheus' own parser, and the official Python client with its own tests. Starts `machinist up` in a directory of its own, unless
# KUBECONFIG names a server that is there for it, and ends what it started.
#
# usage: scripts/conformance-clients.sh [helm|kubectl|go|python]...   (all, if none is named)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"
cd "$tree"
eval "$("$here/setup.sh" --env)"

work=$(mktemp -d)
server=''
stop() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT

start_server() {
    cargo build --quiet -p machinist --locked
    "${CARGO_TARGET_DIR:-target}/debug/machinist" up --data-dir "$work/data" --listen 127.0.0.1:0 >"$work/log" 2>&1 &
    server=$!
    export KUBECONFIG=$work/data/kubeconfig
    until grep -q ' serves ' "$work/log"; do
        kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; die 'the control plane ended'; }
        sleep 0.1
    done
}

# A command must succeed, and print a text if one is given first.
check() {
    local expected=$1 output
    shift
    output=$("$@" 2>&1) || { echo "$output" >&2; die "failed: $*"; }
    [[ $output == *"$expected"* ]] || { echo "$output" >&2; die "'$expected' is missing: $*"; }
}

# A command must fail and say why.
refuse() {
    local expected=$1 output
    shift
    ! output=$("$@" 2>&1) || { echo "$output" >&2; die "should have failed: $*"; }
    [[ $output == *"$expected"* ]] || { echo "$output" >&2; die "'$expected' is missing: $*"; }
}

helm_with() {
    local helm=$1 name=$2 k=$MACHINIST_KUBECTL chart=$tree/tests/conformance/helm
    export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
    cp -r "$chart/machines" "$work/machines-$name"
    cp -r "$tree/crds" "$work/machines-$name/crds"

    check 'STATUS: deployed' "$helm" install "$name" "$chart/small"
    check red "$k" get configmap "$name" -o 'jsonpath={.data.color}'
    check 'STATUS: deployed' "$helm" upgrade "$name" "$chart/small" --set color=blue
    check blue "$k" get configmap "$name" -o 'jsonpath={.data.color}'
    check 'Rollback was a success' "$helm" rollback "$name" 1
    check red "$k" get configmap "$name" -o 'jsonpath={.data.color}'
    check cmVk "$k" get secret "$name" -o 'jsonpath={.data.color}'
    check superseded "$helm" history "$name"
    check yes "$k" auth can-i get configmaps --as "system:serviceaccount:default:$name"
    check uninstalled "$helm" uninstall "$name"
    refuse NotFound "$k" get role "$name"

    check 'STATUS: deployed' "$helm" install "m-$name" "$work/machines-$name"
    check 1 "$k" get machines.v1alpha1.vitistack.io "m-$name" -o 'jsonpath={.spec.cpu.cores}'
    check 'STATUS: deployed' "$helm" upgrade "m-$name" "$work/machines-$name" --set cores=2
    check 2 "$k" get machines.v1alpha1.vitistack.io "m-$name" -o 'jsonpath={.spec.cpu.cores}'
    check 'Rollback was a success' "$helm" rollback "m-$name" 1
    check 1 "$k" get machines.v1alpha1.vitistack.io "m-$name" -o 'jsonpath={.spec.cpu.cores}'
    check uninstalled "$helm" uninstall "m-$name"
    check '' "$k" wait --for=delete "machine/m-$name" --timeout=60s
    check machines.vitistack.io "$k" get crd
}

run_helm() {
    helm_with "$MACHINIST_HELM_OLD" three
    helm_with "$MACHINIST_HELM" four
}

map() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s, labels: {set: pruned}}\n---\n' "$1" "$2"
}

kubectl_with() {
    local k=$1 name=$2
    check created "$k" create namespace "$name"
    # Pruning by label and list of kinds, and by a set of objects.
    { map one "$name"; map two "$name"; } >"$work/both.yaml"
    map one "$name" >"$work/one.yaml"
    check 'two created' "$k" apply -n "$name" -f "$work/both.yaml" --prune -l set=pruned --prune-allowlist=core/v1/ConfigMap
    check 'two pruned' "$k" apply -n "$name" -f "$work/one.yaml" --prune -l set=pruned --prune-allowlist=core/v1/ConfigMap
    check '' "$k" diff -n "$name" -f "$work/one.yaml"
    refuse '+  name: two' "$k" diff -n "$name" -f "$work/both.yaml"
    export KUBECTL_APPLYSET=true
    check '' "$k" delete configmap -n "$name" -l set=pruned
    check 'two serverside-applied' "$k" apply -n "$name" --server-side -f "$work/both.yaml" --prune --applyset=ours
    check 'two pruned' "$k" apply -n "$name" --server-side -f "$work/one.yaml" --prune --applyset=ours
    unset KUBECTL_APPLYSET
    refuse NotFound "$k" get configmap -n "$name" two

    check yes "$k" auth can-i '*' '*' --all-namespaces
    refuse no "$k" auth can-i create machines --as nobody
    check 'control plane is running' "$k" cluster-info
    check kubernetes "$k" get all -n default
    check ok "$k" get --raw /readyz
    check rbac.authorization.k8s.io/v1 "$k" api-versions
    check customresourcedefinitions "$k" api-resources
    check 'openAPIV3Schema' "$k" explain crd --recursive
    check labeled "$k" label configmap -n "$name" one a=b
    check annotated "$k" annotate configmap -n "$name" one c=d
    check patched "$k" patch configmap -n "$name" one -p '{"data":{"x":"1"}}'
    check patched "$k" patch configmap -n "$name" one --type=merge -p '{"data":{"y":"2"}}'
    check patched "$k" patch configmap -n "$name" one --type=json -p '[{"op":"remove","path":"/data/x"}]'
    check '{"y":"2"}' "$k" get configmap -n "$name" one -o 'jsonpath={.data}'
    check 'condition met' "$k" wait -n "$name" configmap/one '--for=jsonpath={.data.y}=2' --timeout=60s
    check deleted "$k" delete namespace "$name" --wait --timeout=60s
}

run_kubectl() {
    kubectl_with "$MACHINIST_KUBECTL_OLD" old
    kubectl_with "$MACHINIST_KUBECTL" new
}

run_go() {
    have go || die 'Go 1.26 or newer is missing: install it from https://go.dev/dl'
    local module
    for module in go monitoring; do
        (cd "tests/conformance/$module" && CGO_ENABLED=0 go test -vet=off -trimpath -count=1 ./...)
    done
}

# The client keeps what it learned of a server in the directory for temporary files, by address.
run_python() {
    "$here/setup.sh" python
    eval "$("$here/setup.sh" --env)"
    (
        cd tests/conformance/python
        export TMPDIR=$work PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
        # shellcheck disable=SC2046 # One word for each suite.
        "$MACHINIST_PYTHON" -m pytest -q -rs --no-header -p official -p no:cacheprovider --rootdir . --pyargs \
            test_python.py $("$MACHINIST_PYTHON" -c 'import official; print(*official.SUITES)')
    )
}

[[ -n ${KUBECONFIG:-} ]] || start_server
for part in "${@:-helm kubectl go python}"; do
    for one in $part; do
        case $one in
            helm | kubectl | go | python) "run_$one" ;;
            *) die "unknown part '$one' (helm, kubectl, go or python)" ;;
        esac
        say "$one: passed in ${SECONDS}s"
    done
done
