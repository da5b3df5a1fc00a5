#!/usr/bin/env bash
# Compares arm64 with this machine: packs assay for arm64, runs a tier of it under an emulator with the lavapipe of
# Debian's backports for arm64, runs the same here, and compares how each row ended and the hashes of exact outputs. For
# nights: the smoke tier takes ten minutes. Needs root, as the kernel has to start arm64 binaries by the emulator.
#
#   scripts/dev/aarch64.sh [OUT] [ARGUMENTS of assay run...]      default: build/aarch64 --tier smoke --mode accu
#
# The exit code is 0 if all rows agree, 1 if not.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

out=$(realpath -m "${1:-build/aarch64}")
(($# == 0)) || shift
(($#)) || set -- --tier smoke --mode accu
sysroot=$root/build/sysroot-arm64
package=$root/build/package-aarch64.out

# The kernel starts binaries of arm64 by the emulator, also those that assay starts itself.
register_emulator() {
  local handlers=/proc/sys/fs/binfmt_misc
  [[ -e $handlers/register ]] || mount -t binfmt_misc none "$handlers"
  [[ -e $handlers/qemu-aarch64 ]] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$handlers/register"
}

# What LLVM, which lavapipe compiles with, asks about the processor: this machine would name its own.
write_processor() {
  printf '%s\t: %s\n' processor 0 Features 'fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics cpuid' \
    'CPU implementer' 0x41 'CPU architecture' 8 'CPU variant' 0x0 'CPU part' 0xd08 'CPU revision' 3 >"$out/cpuinfo"
}

# run_there ARGUMENTS...: the packed binary on a machine where the sysroot is `/` and OUT is /tmp.
run_there() {
  mkdir -p "$sysroot/assay" "$sysroot/proc" "$sysroot/dev" "$sysroot/tmp"
  # shellcheck disable=SC2016  # the variables of the inner shell
  HOME=/tmp unshare --mount bash -euc '
    mount --rbind /proc "$0/proc"
    mount --bind "$2/cpuinfo" "$0/proc/cpuinfo"
    mount --rbind /dev "$0/dev"
    mount --bind "$1" "$0/assay"
    mount --bind "$2" "$0/tmp"
    shift 2
    exec chroot "$0" /assay/assay "$@"' "$sysroot" "$package" "$out" "$@"
}

scripts/package.sh --target aarch64 "$package"
build_preset release assay
register_emulator
rm -rf "$out"
mkdir -p "$out"
write_processor
status=0
say "Running here: assay run $*"
GALLIVM_PERF=nopt build/release/assay run "$@" --out "$out/here" >"$out/here.log" 2>&1 || status=1
say "Running under the emulator; it says what it does in $out/there.log"
began=$SECONDS
GALLIVM_PERF=nopt run_there run "$@" --out /tmp/there --hang-limit 3600 >"$out/there.log" 2>&1 || status=1
say "The emulator took $((SECONDS - began)) s"
for log in here there; do tail -n 12 "$out/$log.log" >&2; done
scripts/dev/compare_targets.py "$out/here" "$out/there" || status=1
build/release/assay pivot "$out/here" "$out/there" --hashes || status=1
exit "$status"
