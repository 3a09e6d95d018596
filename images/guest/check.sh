#!/usr/bin/env bash
# Boots the guest image under QEMU with a seed and checks what Machinist relies on:
# user data reaches the serial console, DHCP gives an address, the guest agent
# answers, ssh lets the key in, state survives a restart, and the power button
# ends the guest.
#
# usage: images/guest/check.sh [IMAGE]     exits 0 when all holds
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/../../scripts/lib.sh"

image=$(realpath "${1:-$cache/images/machinist-guest.qcow2}")
readonly marker=MARKER-$RANDOM-$RANDOM
readonly deadline=${CHECK_DEADLINE:-180}

work=$(mktemp -d)
qemu_pid=''
cleanup() {
    if [[ -n $qemu_pid ]]; then kill -KILL "$qemu_pid" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap cleanup EXIT

fail() {
    say "FAILED: $*"
    tail -n 20 "$work/console" >&2 || true
    exit 1
}

# Waits until a command succeeds or the deadline has passed.
await() {
    local what=$1 end=$((SECONDS + deadline))
    shift
    until "$@"; do
        ((SECONDS < end)) || fail "no $what within ${deadline}s"
        kill -0 "$qemu_pid" 2>/dev/null || "$@" || fail "QEMU ended before: $what"
        sleep 0.1
    done
    say "ok: $what"
}

on_console() {
    grep -qE "$1" "$work/console" 2>/dev/null
}

# The first boot's user data is a #cloud-config.
make_seed() {
    cat >"$work/meta-data" <<META
instance-id: check-1
local-hostname: from-meta-data
META
    cat >"$work/user-data" <<USER
#cloud-config
hostname: checked
write_files:
  - path: /etc/check/motto
    permissions: '0640'
    content: |
      first line
        indented: kept
  - path: /etc/check/encoded
    encoding: b64
    content: $(printf 'decoded' | base64)
runcmd:
  - echo "$marker plain"
  - [sh, -c, 'echo "$marker list, quoted"']
  - |
    cat /etc/check/motto
    echo "$marker \$(cat /etc/check/encoded) \$(stat -c %a /etc/check/motto)"
ssh_authorized_keys:
  - $1
USER
    truncate -s 1M "$work/seed.img"
    mformat -i "$work/seed.img" -v cidata ::
    mcopy -i "$work/seed.img" "$work/meta-data" "$work/user-data" ::
}

# The second boot's is a script, and names no host, so meta-data does.
change_seed() {
    # shellcheck disable=SC2016 # The guest expands it.
    printf '#!/bin/sh\necho "%s script on $(hostname)"\n' "$marker" >"$work/user-data"
    mcopy -o -i "$work/seed.img" "$work/user-data" ::
}

free_port() {
    local port
    while port=$((20000 + RANDOM % 12000)); do
        if ! (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
}

start_qemu() {
    local channel
    # QMP and the agent speak over named pipes, so that no tool but bash is needed.
    for channel in qmp agent; do
        mkfifo "$work/$channel.in" "$work/$channel.out"
    done
    qemu-img create -q -f qcow2 -F qcow2 -b "$image" "$work/disk.qcow2" 1G
    qemu-system-x86_64 -nodefaults -no-user-config -display none -machine q35 -accel tcg,tb-size=32 -cpu max -m 128 \
        -drive "if=none,id=disk,file=$work/disk.qcow2,format=qcow2" -device virtio-blk-pci,drive=disk \
        -drive "if=none,id=seed,file=$work/seed.img,format=raw,readonly=on" -device virtio-blk-pci,drive=seed \
        -netdev "user,id=net,hostfwd=tcp:127.0.0.1:$ssh_port-:22" -device virtio-net-pci,netdev=net \
        -chardev "pipe,id=agent,path=$work/agent" -device virtio-serial-pci \
        -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0 \
        -device virtio-rng-pci -serial "file:$work/console" \
        -chardev "pipe,id=qmp,path=$work/qmp" -mon chardev=qmp,mode=control &
    qemu_pid=$!
    # Opened for reading and writing, for neither end may wait for the other.
    # shellcheck disable=SC2034 # QEMU's greeting needs a reader, though nobody reads it.
    exec {qmp_in}<>"$work/qmp.in" {qmp_out}<>"$work/qmp.out" {agent_in}<>"$work/agent.in" {agent_out}<>"$work/agent.out"
}

# Sends a QMP command; its answer is not needed, for the effect is checked.
qmp() {
    printf '{"execute":"%s"}\n' "$1" >&"$qmp_in"
}

# Sends the agent a command and succeeds if a line of its answer matches.
agent_says() {
    local command=$1 pattern=$2 line
    printf '{"execute":"%s"}\n' "$command" >&"$agent_in"
    while read -r -t 5 -u "$agent_out" line; do
        [[ $line =~ $pattern ]] && return
    done
    return 1
}

ssh_says() {
    [[ $(ssh -q -p "$ssh_port" -i "$work/key" -o BatchMode=yes -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o ConnectTimeout=10 root@127.0.0.1 "$1" </dev/null 2>/dev/null) == "$2" ]]
}

cpu_seconds() {
    awk -v ticks="$(getconf CLK_TCK)" '{ printf "%.1f", ($14 + $15) / ticks }' "/proc/$qemu_pid/stat"
}

gone() {
    ! kill -0 "$qemu_pid" 2>/dev/null
}

check_first_boot() {
    await 'the seed' on_console 'machinist-guest: seed /dev/vd'
    await 'a lease by DHCP' on_console 'machinist-guest: lease eth0 10\.0\.2\.15'
    await 'a plain runcmd' on_console "^$marker plain"
    await 'a runcmd as a list' on_console "^$marker list, quoted"
    await 'a runcmd as a block, write_files with indentation' on_console '^  indented: kept'
    await 'write_files with base64 and permissions' on_console "^$marker decoded 640"
    await 'the ready line' on_console '^machinist-guest: ready host=checked ip=10\.0\.2\.15 boots=1'
    say "ready after about $((SECONDS - started))s, of which QEMU computed $(cpu_seconds)s"
    await 'a shell on the console' on_console 'root@checked:~#'
    await 'the agent: network interfaces' agent_says guest-network-get-interfaces '10\.0\.2\.15'
    await 'the agent: operating system' agent_says guest-get-osinfo '"id": "machinist-guest"'
    if have ssh; then
        await 'ssh with the key' ssh_says hostname checked
    fi
}

check_restart_and_end() {
    change_seed
    printf '{"execute":"guest-shutdown","arguments":{"mode":"reboot"}}\n' >&"$agent_in"
    await 'a restart by the agent, on the same disk' on_console '^machinist-guest: ready host=from-meta-data ip=10\.0\.2\.15 boots=2'
    await 'user data as a script' on_console "^$marker script on from-meta-data"
    qmp system_powerdown
    local pressed=$SECONDS
    await "the end, by the power button" gone
    say "power button to end: about $((SECONDS - pressed))s"
    qemu_pid=''
}

[[ -f $image ]] || die "no image at $image: run images/guest/build.sh"
key='ssh-ed25519 AAAA none'
if have ssh-keygen; then
    ssh-keygen -q -t ed25519 -N '' -f "$work/key"
    key=$(cat "$work/key.pub")
fi
ssh_port=$(free_port)
make_seed "$key"
started=$SECONDS
start_qemu
qmp qmp_capabilities
check_first_boot
check_restart_and_end
say 'all checks passed'
