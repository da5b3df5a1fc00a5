#!/usr/bin/env bash
# One definition a name: links the binary and the tests of a module with link-time optimization, where GCC compares
# the types of all objects, and fails when two of one name differ. No compiler sees this in one file, and nothing
# else complains: the program merely reads one struct as the other.
#
#   scripts/odr.sh [TARGET...]      default: assay report_test
#
# A build of its own in build/odr: for a night, or after a merge of much. About ten minutes of processor time from
# nothing, half of that on two cores that have nothing else to do.
# It first proves on two structs of one name that it would find them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=build/odr
flags='-flto -fno-fat-lto-objects'
link_flags="-flto=$(nproc) -Werror=odr -Werror=lto-type-mismatch"

# Two files that a linker takes for a program, though they disagree about a struct.
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
    die "odr: two structs of one name were linked without a word: this compiler cannot tell."
  rm -rf "$dir"
  [[ $output == *"violates the C++ One Definition Rule"* ]] || die "odr: the trial failed in another way: $output"
}

main() {
  local log=build/odr.log
  (($#)) || set -- assay report_test
  mkdir -p build
  finds_a_violation
  say "odr: two structs of one name are found; looking for them in: $*"
  # Not optimized: types are compared all the same.
  cmake --preset debug -B "$build" -DASSAY_PRECOMPILE=OFF -DASSAY_TOGETHER=1 -DCMAKE_CXX_FLAGS_DEBUG='-O0' \
    -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="$link_flags" \
    -DCMAKE_AR="$(command -v gcc-ar)" -DCMAKE_RANLIB="$(command -v gcc-ranlib)" >"$log" 2>&1 ||
    { cat "$log" >&2; die "Configuring $build failed; see above."; }
  cmake --build "$build" --parallel "$(nproc)" --target "$@" >"$log" 2>&1 ||
    { grep -vE '^\[[0-9]+/[0-9]+\]' "$log" >&2; die "odr: linking with -Werror=odr failed; see above and $log."; }
  say "odr: no two types of one name differ."
}

main "$@"
