# shellcheck shell=bash
# Functions that the scripts in this folder share; sourced, never run. Changes to the repository's root.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# CI often checks out as one user and builds as another; git would refuse such a tree.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$root

# stdout is for data (the binary's), all messages of a script go to stderr.
say() { printf '%s\n' "$*" >&2; }

# die MESSAGE [EXIT_CODE]
die() {
  say "$1"
  exit "${2:-1}"
}

configure_options=() # that build_preset gives CMake

# build_preset PRESET [TARGET...]: configures and builds; no target means all of them. Returns non-zero on
# failure. CMake's output goes to a file and is shown only on failure.
build_preset() {
  local preset=$1 log=build/$1.configure.log jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  shift
  mkdir -p build
  if ! cmake --preset "$preset" "${configure_options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    say "Configuring the CMake preset '$preset' failed; CMake's output is above and in $log."
    return 1
  fi
  if ! cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"} >&2; then
    say "Building the CMake preset '$preset' failed; the compiler's output is above."
    return 1
  fi
}
