#!/usr/bin/env bash
# Builds the guest image for tests and the quickstart from Debian's packages:
# a disk with a FAT boot partition (syslinux, kernel, small initramfs) and an ext4
# root. It needs neither root nor loop devices. The result is named after a hash of
# everything that goes in, so an unchanged image is not built again.
#
# usage: images/guest/build.sh     prints the path of the image
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/../../scripts/lib.sh"

images=$cache/images
readonly root_mib=48
readonly boot_start_mib=1

listed() {
    sed 's/#.*//' "$1" | grep -v '^ *$'
}

# The package of the kernel itself, which linux-image-cloud-amd64 only points to.
kernel_package() {
    apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }'
}

# The packages to unpack: the kernel, the listed ones and, for those, their libraries.
packages() {
    kernel_package
    listed "$here/packages" | xargs apt-cache depends --recurse --no-recommends --no-suggests \
        --no-conflicts --no-breaks --no-replaces --no-enhances --no-pre-depends | grep '^[a-z]' | sort -u
}

# Name, version and checksum of each package as Debian offers it today.
manifest() {
    packages | xargs apt-cache show --no-all-versions |
        awk '/^(Package|Version|SHA256): / { printf "%s%s", $2, ($1 == "SHA256:" ? "\n" : " ") }'
}

sources() {
    (cd "$here" && find build.sh packages modules boot initramfs rootfs -type f -print0 | sort -z | xargs -0 stat -c '%A %n' &&
        find build.sh packages modules boot initramfs rootfs -type f -print0 | sort -z | xargs -0 sha256sum)
}

# Downloads the packages into the cache and unpacks them into $1.
unpack() {
    local destination=$1 debs=$cache/debs package version
    mkdir -p "$debs" "$destination"
    (
        cd "$debs"
        cut -d' ' -f1,2 --output-delimiter='=' "$work/manifest" |
            xargs apt-get -qq -o APT::Sandbox::User=root download
    ) || die "a package is gone from the mirror: run 'apt-get update' as root and try again"
    while read -r package version _; do
        dpkg-deb -x "$debs/${package}_${version//:/%3a}"_*.deb "$destination"
    done <"$work/manifest"
}

# Copies module $1 and what it needs from the unpacked packages into the tree $2.
copy_module() {
    local module=$1 destination=$2 file target
    modprobe -d "$work/debian" -S "$kernel" --show-depends "$module" |
        awk '$1 == "insmod" { print $2 }' |
        while read -r file; do
            target=$destination/lib/modules/$kernel/${file#*/"$kernel"/}
            mkdir -p "$(dirname "$target")"
            cp "$file" "$target"
            # Newer kernels ship compressed modules, which busybox may not read.
            if [[ $target == *.xz ]]; then xz -df "$target"; fi
        done
}

index_modules() {
    local destination=$1
    cp "$work/debian/lib/modules/$kernel"/modules.{order,builtin,builtin.modinfo} "$destination/lib/modules/$kernel/"
    depmod -b "$destination" "$kernel"
}

# Copies the shared libraries of program $1, found among the unpacked packages
# alone: what the host has installed must not matter.
copy_libraries() {
    local program=$1 debian=$work/debian loader
    loader=$(find "$debian" -name ld-linux-x86-64.so.2 -print -quit)
    mkdir -p "$work/root/lib64" "$work/root/lib/x86_64-linux-gnu"
    cp -L "$loader" "$work/root/lib64/"
    "$loader" --library-path "$debian/lib/x86_64-linux-gnu:$debian/usr/lib/x86_64-linux-gnu" --list "$program" |
        awk '$2 == "=>" { print $3 }' | xargs -I{} cp -L {} "$work/root/lib/x86_64-linux-gnu/"
}

make_root() {
    local id=$1 root=$work/root program applet
    mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,proc,sys,dev,run,tmp,mnt,root,etc/dropbear,var/log,var/lib}
    cp -r "$here/rootfs/." "$root/"
    ln -s /run "$root/var/run"
    echo "BUILD_ID=$id" >>"$root/etc/os-release"
    cp "$work/debian/bin/busybox" "$root/bin/"
    "$root/bin/busybox" --list-full | while read -r applet; do
        [[ -e $root/$applet ]] || ln -s /bin/busybox "$root/$applet"
    done
    for program in usr/sbin/qemu-ga usr/sbin/dropbear usr/bin/dropbearkey; do
        cp "$work/debian/$program" "$root/$program"
        copy_libraries "$root/$program"
    done
    listed "$here/modules" | while read -r _ module; do copy_module "$module" "$root"; done
    index_modules "$root"
    chmod 700 "$root/root"
    chmod 600 "$root/etc/shadow"
}

make_initrd() {
    local tree=$work/initramfs
    mkdir -p "$tree/bin"
    cp "$here/initramfs/init" "$tree/init"
    cp "$work/debian/bin/busybox" "$tree/bin/"
    listed "$here/modules" | while read -r place module; do
        if [[ $place == boot ]]; then copy_module "$module" "$tree"; fi
    done
    index_modules "$tree"
    (cd "$tree" && find . | cpio -o -H newc -R 0:0 --quiet) | lz4 -q -l -9 -c >"$work/initrd"
}

# A disk: MBR, FAT16 boot partition at 1 MiB, ext4 root after it.
make_disk() {
    local disk=$work/disk.raw vmlinuz=$work/debian/boot/vmlinuz-$kernel boot_mib root_start_mib fat
    boot_mib=$((($(stat -c %s "$vmlinuz") + $(stat -c %s "$work/initrd")) / 1048576 + 4))
    root_start_mib=$((boot_start_mib + boot_mib))
    fat="$disk@@${boot_start_mib}M"
    truncate -s $((root_start_mib + root_mib))M "$disk"
    printf 'label: dos\nstart=%dMiB, size=%dMiB, type=6, bootable\nstart=%dMiB, size=%dMiB, type=83\n' \
        "$boot_start_mib" "$boot_mib" "$root_start_mib" "$root_mib" | sfdisk -q "$disk"
    dd if=/usr/lib/syslinux/mbr/mbr.bin of="$disk" conv=notrunc bs=440 count=1 status=none

    # The BIOS finds syslinux only if the file system knows its distance from the disk's start.
    mformat -i "$fat" -v BOOT -T $((boot_mib * 2048)) -H $((boot_start_mib * 2048)) -h 64 -s 32 ::
    mcopy -i "$fat" "$vmlinuz" ::vmlinuz
    mcopy -i "$fat" "$work/initrd" ::initrd
    mcopy -i "$fat" "$here/boot/syslinux.cfg" ::syslinux.cfg
    syslinux --offset $((boot_start_mib * 1048576)) --install "$disk"

    # mke2fs keeps the owners of the files, which must be root's whoever builds.
    local owner=()
    [[ $EUID -eq 0 ]] || owner=(fakeroot)
    "${owner[@]}" mke2fs -q -F -t ext4 -m 0 -L machinist-root -d "$work/root" \
        -E "offset=$((root_start_mib * 1048576))" "$disk" "${root_mib}M"
    # Not compressed: the BIOS reads in small pieces, each of which would unpack a whole cluster.
    qemu-img convert -O qcow2 "$disk" "$work/disk.qcow2"
}

build() {
    local id image
    manifest >"$work/manifest"
    id=$( (sources && cat "$work/manifest") | hash12)
    image=$images/machinist-guest-$id.qcow2
    if [[ ! -f $image ]]; then
        assemble "$id"
        mv "$work/disk.qcow2" "$image"
    fi
    basename "$image" >"$stamp"
}

assemble() {
    local id=$1
    say "building the guest image (Debian packages, about 30 MB)"
    unpack "$work/debian"
    kernel=$(ls "$work/debian/lib/modules")
    depmod -b "$work/debian" "$kernel"
    make_root "$id"
    make_initrd
    make_disk
}

# What the hash would be computed from, seen cheaply: while neither the sources nor
# Debian's package lists have changed, asking apt (seconds) gives the same answer.
quick_key() {
    (
        sources
        find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -printf '%f %s %T@\n' 2>/dev/null | sort || true
    ) | hash12
}

# Lists of an earlier day may name packages that the mirror has since replaced.
refresh_lists() {
    if [[ -z $(find /var/lib/apt/lists -maxdepth 0 -mtime -1) ]] && can_install; then
        apt_update
    fi
}

require_debian() {
    [[ $(uname -m) == x86_64 ]] || die 'the guest image is built on x86_64 only; name another with MACHINIST_GUEST_IMAGE'
    have apt-cache || die "needs Debian's apt; elsewhere name an image of your own with MACHINIST_GUEST_IMAGE"
    refresh_lists
    apt-cache show busybox-static >/dev/null 2>&1 || die "Debian's package lists are missing: run scripts/setup.sh image"
}

if [[ -n ${MACHINIST_GUEST_IMAGE:-} ]]; then
    [[ -f $MACHINIST_GUEST_IMAGE ]] || die "MACHINIST_GUEST_IMAGE names no file: $MACHINIST_GUEST_IMAGE"
    echo "$MACHINIST_GUEST_IMAGE"
    exit
fi

mkdir -p "$images"
stamp=$images/.key-$(quick_key)
if [[ ! -f $stamp || ! -f $images/$(cat "$stamp") ]]; then
    require_debian
    stamp=$images/.key-$(quick_key)
    # Not /tmp, which may be too small; the same file system as the image lets mv be atomic.
    work=$(mktemp -d "$images/build.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    with_lock image build
fi
ln -sfn "$(cat "$stamp")" "$images/machinist-guest.qcow2"
echo "$images/$(cat "$stamp")"
