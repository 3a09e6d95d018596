#!/usr/bin/env bash
# Runs a real Kubernetes API on this machine for development: etcd, kube-apiserver
# and the controllers that need no pods. All state is in DIR; all ports are on
# loopback and chosen free. It runs until interrupted and ends what it started.
#
# usage: scripts/kube-up.sh [--no-controllers] DIR
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"

readonly controllers=namespace-controller,garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,resourcequota-controller,clusterrole-aggregation-controller,validatingadmissionpolicy-status-controller
readonly patience=120

run_controllers=yes
if [[ ${1:-} == --no-controllers ]]; then
    run_controllers=no
    shift
fi
[[ $# -eq 1 ]] || die 'usage: scripts/kube-up.sh [--no-controllers] DIR'
mkdir -p "$1"
dir=$(realpath "$1")

etcd_port=''
api_port=''
pids=()
# In the order opposite to the start, each waited for, so that etcd outlives its client.
stop() {
    local i
    trap - EXIT INT TERM
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
}
trap stop EXIT
trap 'exit 130' INT TERM

# Starts a program in the background, its output in DIR/NAME.log. Its own session
# keeps Ctrl-C from it: if etcd ended first, kube-apiserver would wait for it in vain.
start() {
    local name=$1
    shift
    setsid "$@" >"$dir/$name.log" 2>&1 &
    pids+=($!)
}

# Waits until a command succeeds; fails with the log's end if the program dies first.
await() {
    local name=$1 end=$((SECONDS + patience))
    shift
    until "$@" >/dev/null 2>&1; do
        if ! kill -0 "${pids[-1]}" 2>/dev/null || ((SECONDS >= end)); then
            tail -n 20 "$dir/$name.log" >&2
            die "$name did not come up; its log is $dir/$name.log"
        fi
        sleep 0.1
    done
}

# Ports below the range that the kernel hands out for outgoing connections.
declare -A taken
free_port() {
    local -n result=$1
    while result=$((10000 + RANDOM % 20000)); do
        if [[ -z ${taken[$result]:-} ]] && ! (: >"/dev/tcp/127.0.0.1/$result") 2>/dev/null; then
            taken[$result]=yes
            return
        fi
    done
}

# The token and the service accounts' key are made once, so that a restart keeps them.
make_credentials() {
    umask 077
    if [[ ! -f $dir/token ]]; then
        od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$dir/token"
    fi
    printf '%s,admin,admin,"system:masters"\n' "$(cat "$dir/token")" >"$dir/tokens.csv"
    if [[ ! -f $dir/service-account.key ]]; then
        openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$dir/service-account.key"
        openssl pkey -in "$dir/service-account.key" -pubout -out "$dir/service-account.pub"
    fi
}

write_kubeconfig() {
    cat >"$dir/kubeconfig" <<CONFIG
apiVersion: v1
kind: Config
clusters:
  - name: kube
    cluster:
      server: https://127.0.0.1:$api_port
      certificate-authority: $dir/certificates/apiserver.crt
users:
  - name: admin
    user:
      token: $(cat "$dir/token")
contexts:
  - name: kube
    context: {cluster: kube, user: admin}
current-context: kube
CONFIG
}

start_etcd() {
    local peer_port
    free_port etcd_port
    free_port peer_port
    # State for development may be lost with the machine: fsync would only cost time.
    start etcd "$assets/etcd" --data-dir "$dir/etcd" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
        --initial-cluster "default=http://127.0.0.1:$peer_port"
    await etcd curl -sf "http://127.0.0.1:$etcd_port/health"
}

start_apiserver() {
    free_port api_port
    start kube-apiserver "$assets/kube-apiserver" --etcd-servers "http://127.0.0.1:$etcd_port" \
        --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --endpoint-reconciler-type none \
        --secure-port "$api_port" --cert-dir "$dir/certificates" \
        --token-auth-file "$dir/tokens.csv" --authorization-mode RBAC \
        --service-account-issuer https://kubernetes.default.svc \
        --service-account-key-file "$dir/service-account.pub" \
        --service-account-signing-key-file "$dir/service-account.key" \
        --service-cluster-ip-range 10.96.0.0/24 --disable-admission-plugins ServiceAccount
    await kube-apiserver curl -sfk -H "Authorization: Bearer $(cat "$dir/token")" "https://127.0.0.1:$api_port/readyz"
    write_kubeconfig
}

start_controllers() {
    start kube-controller-manager "$assets/kube-controller-manager" --kubeconfig "$dir/kubeconfig" \
        --controllers "$controllers" --leader-elect=false --secure-port 0 --use-service-account-credentials=false \
        --service-account-private-key-file "$dir/service-account.key" \
        --root-ca-file "$dir/certificates/apiserver.crt"
    # Its first visible work: the default service account.
    await kube-controller-manager curl -sfk -H "Authorization: Bearer $(cat "$dir/token")" \
        "https://127.0.0.1:$api_port/api/v1/namespaces/default/serviceaccounts/default"
}

for tool in curl openssl; do
    have "$tool" || die "$tool is missing: apt-get install $tool"
done
"$here/setup.sh" kube
eval "$("$here/setup.sh" --env)"
assets=$KUBEBUILDER_ASSETS
if [[ ! -x $assets/kube-controller-manager ]]; then
    run_controllers=no
fi

make_credentials
start_etcd
start_apiserver
if [[ $run_controllers == yes ]]; then
    start_controllers
fi
say "ready after ${SECONDS}s; Ctrl-C ends it"
echo "export KUBECONFIG=$dir/kubeconfig"
wait -n || die 'one of the servers ended; see the logs in '"$dir"
