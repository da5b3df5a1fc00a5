#!/usr/bin/env bash
# Proves that arm64 gives the same answers as this machine: packs assay for arm64, runs a tier of it under an emulator with
# Debian's lavapipe for arm64, runs the same here, and compares how many rows pass and the hashes of exact outputs. For
# nights: the emulator takes @TIMES@ times as long as this machine. Needs root, as the kernel has to start arm64 binaries
# by the emulator.
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

# run_there ARGUMENTS...: as on a machine where the sysroot is `/`.
run_there() {
  mkdir -p "$sysroot/assay" "$sysroot/proc" "$sysroot/dev" "$sysroot/tmp"
  unshare --mount bash -euc '
    mount --rbind /proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --bind "$2" "$1/assay"
    mount --bind "$3" "$1/tmp"
    shift 3
    exec chroot "$0" "$@"' "$sysroot" "$sysroot" "$package" "$out" "$@"
}

scripts/package.sh --target aarch64 "$package"
build_preset release assay
register_emulator
rm -rf "$out"
mkdir -p "$out"
status=0
say "Running here: assay run $*"
GALLIVM_PERF=nopt build/release/assay run "$@" --out "$out/here" >"$out/here.log" 2>&1 || status=1
say "Running under the emulator; it says what it does in $out/there.log"
began=$SECONDS
GALLIVM_PERF=nopt run_there /assay/assay run "$@" --out /tmp/there --hang-limit 3600 >"$out/there.log" 2>&1 || status=1
say "The emulator took $((SECONDS - began)) s"
tail -12 "$out/here.log" "$out/there.log" >&2
passed=$(grep '^PASS ' "$out/here.log")
[[ $passed == "$(grep '^PASS ' "$out/there.log")" ]] || die "Not as many rows pass there as here."
build/release/assay pivot "$out/here" "$out/there" --hashes || status=1
exit "$status"
