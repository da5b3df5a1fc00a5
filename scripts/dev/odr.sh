#!/usr/bin/env bash
# Finds violations of the one-definition rule: links the binary and the tests of a module with link-time optimization,
# where GCC compares the types of all objects, and fails if two types of one name differ. No compiler can see this in
# one file, and nothing else reports it: the program would read one struct as the other.
#
#   scripts/dev/odr.sh [TARGET...]      default: assay report_test
#
# Uses a separate build in build/odr: for nights, or after a large merge. It takes about ten minutes of CPU time from
# scratch, and half of that in wall time on two idle cores.
# It first proves, with two different structs of one name, that it would find them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

build=build/odr
flags='-flto -fno-fat-lto-objects'
link_flags="-flto=$(nproc) -Werror=odr -Werror=lto-type-mismatch"

# Two files that a linker accepts as a program, though they disagree about a struct.
finds_a_violation() {
  local dir output
  dir=$(mktemp -d)
  cat >"$dir/a.cpp" <<'CPP'
struct Result { int value; };
int read(const Result& result) { return result.value; }
CPP
  cat >"$dir/b.cpp" <<'CPP'
struct Result { double value; int other; };
int read(const Result& result);
int main() { return read(Result{1.0, 2}); }
CPP
  # shellcheck disable=SC2086 # lists of flags
  output=$(cd "$dir" && g++ $flags -c a.cpp && g++ $flags -c b.cpp && g++ $link_flags a.o b.o -o program 2>&1) &&
    die "odr: two different structs of one name were linked without a warning: this compiler cannot detect them."
  rm -rf "$dir"
  [[ $output == *"violates the C++ One Definition Rule"* ]] || die "odr: the trial failed in another way: $output"
}

main() {
  local log=build/odr.log
  (($#)) || set -- assay report_test
  mkdir -p build
  finds_a_violation
  say "odr: the trial was detected; looking for such types in: $*"
  # Not optimized: types are compared without optimization too.
  cmake --preset debug -B "$build" -DASSAY_PRECOMPILE=OFF -DASSAY_TOGETHER=1 -DCMAKE_CXX_FLAGS_DEBUG='-O0' \
    -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="$link_flags" \
    -DCMAKE_AR="$(command -v gcc-ar)" -DCMAKE_RANLIB="$(command -v gcc-ranlib)" >"$log" 2>&1 ||
    { cat "$log" >&2; die "Configuring $build failed; see above."; }
  cmake --build "$build" --parallel "$(nproc)" --target "$@" >"$log" 2>&1 ||
    { grep -vE '^\[[0-9]+/[0-9]+\]' "$log" >&2; die "odr: linking with -Werror=odr failed; see above and $log."; }
  say "odr: no two types of one name differ."
}

main "$@"
