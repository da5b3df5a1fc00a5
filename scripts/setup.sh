#!/usr/bin/env bash
# Installs the Debian packages that assay needs and that are missing on this machine (Debian 12 or newer).
# Quiet and quick when nothing is missing.
#
#   scripts/setup.sh          what building and running need
#   scripts/setup.sh --dev    what tests and CI need as well
#   scripts/setup.sh --fuzzers  what building and tests/fuzzers/run.sh need
#   scripts/setup.sh --aarch64  only what building for 64-bit Arm needs besides, and an emulator of it
#   scripts/setup.sh --farm   only what scripts/farm/farm-up.sh needs: a Slurm
#   scripts/setup.sh --ssh    only what the test of workers over ssh needs; where systemd runs, Debian starts this sshd
#
# With ASSAY_SKIP_SETUP=1 it does nothing: for systems where these are installed in another way.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  # Tools
  g++         # C++20 compiler, GCC 12 or newer
  cmake       # 3.25 or newer, for the presets
  ninja-build # what the presets build with
  ccache      # makes a second build of the same sources almost free
  git         # which commit a report comes from; which files to format
  zstd        # scripts/farm/publish.sh compresses journals
  # Vulkan
  libvulkan-dev            # headers, with their CMake package
  libvulkan1               # the loader, opened at run time
  libvulkan-volk-dev       # volk.c: entry points without linking to the loader
  mesa-vulkan-drivers      # lavapipe, the CPU device: needed only where no GPU driver is, harmless elsewhere
  vulkan-validationlayers  # what `--validation` turns on
  glslang-dev              # GLSL to SPIR-V, in process
  glslang-tools            # glslangValidator: glslang's CMake package refuses to load without it
  spirv-tools              # the libraries that glslang's SPIR-V back end links, and spirv-val
  # Libraries
  libfmt-dev           # text formatting
  libyaml-cpp-dev      # case files
  libcli11-dev         # command line
  nlohmann-json3-dev   # journal and run.json
  libpugixml-dev       # junit.xml
  libxxhash-dev        # hashes of data
  libssl-dev           # SHA-256 of sources, with OpenSSL's CMake module
  libre2-dev           # users' regular expressions, in linear time
  libzstd-dev          # published journals are compressed
  zlib1g-dev           # members of .npz archives are
  libsqlite3-dev       # `assay export` writes databases
  libbenchmark-dev     # perf.json's format and reporter
  node-d3              # draws the pictures of `assay page`, part of the binary
  libgtest-dev         # unit tests: looked for when configuring, even if only the binary is built
  libgmock-dev         # the same
  libzip-dev           # unit tests write .npz archives with it: the same
)
dev_packages=(
  clang-format # formatting check
  clang-tidy   # static analysis of changed files
  shellcheck   # the same for these scripts
  libjemalloc2 # tests take a tenth less time with it
  # perf.json goes through Google Benchmark's own compare.py in the tests, with its U test
  libbenchmark-tools
  python3-scipy
  python3-numpy # recomputes the golden vectors
  python3-prometheus-client # reads what `assay export --openmetrics` writes
  # The page of `assay page` in a real browser
  chromium
  chromium-driver
  python3-selenium
  eslint # the page's script
)
fuzzer_packages=(
  clang           # libFuzzer is part of it
  libclang-rt-dev # with the sanitizers
)
aarch64_packages=(
  g++-aarch64-linux-gnu # the cross compiler
  qemu-user-static      # runs what it builds
)
farm_packages=(
  slurm-wlm # slurmctld, slurmd and the commands of users
  munge     # authenticates them to each other
)
ssh_packages=(
  openssh-server # a test starts one of its own; Debian also starts one on port 22
  openssh-client
)

# Prints the arguments that are not installed, one per line.
missing_of() {
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  local package
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || printf '%s\n' "$package"
  done
}

require_apt() {
  if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then return; fi
  die "scripts/setup.sh installs Debian packages, and this system has no apt-get.
Install what these Debian packages bring with your own package manager:
  $*
then run again with ASSAY_SKIP_SETUP=1."
}

# Prints the prefix that apt-get needs here: nothing for root, sudo for others.
root_prefix() {
  if ((EUID == 0)); then return; fi
  command -v sudo >/dev/null || die "Installing packages needs root, and this machine has no sudo. As root, run:
  apt-get install --no-install-recommends $*
then run this script again; it needs no root once they are there."
  echo sudo
}

apt_get() {
  # stdin is closed, so that nothing can ask. If another apt is running, this one waits for it.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null >&2
}

install_packages() {
  apt_get install --no-install-recommends "$@"
}

# A new image has no package lists and an old one has stale lists: update only then.
install_or_update() {
  if apt-get --simulate install --no-install-recommends "$@" >/dev/null 2>&1 && install_packages "$@"; then
    return
  fi
  say "The package lists are missing or stale: updating them."
  apt_get update || say "Updating failed in part; continuing with the existing lists."
  install_packages "$@"
}

main() {
  local wanted=("${packages[@]}") missing prefix
  case "${1:-}" in
    "") ;;
    --dev) wanted+=("${dev_packages[@]}") ;;
    --fuzzers) wanted+=("${fuzzer_packages[@]}") ;;
    --aarch64) wanted=("${aarch64_packages[@]}") ;;
    --farm) wanted=("${farm_packages[@]}") ;;
    --ssh) wanted=("${ssh_packages[@]}") ;;
    *) die "usage: scripts/setup.sh [--dev | --fuzzers | --aarch64 | --farm | --ssh]" 2 ;;
  esac
  [[ ${ASSAY_SKIP_SETUP:-} != 1 ]] || return 0

  require_apt "${wanted[@]}"
  mapfile -t missing < <(missing_of "${wanted[@]}")
  ((${#missing[@]})) || return 0

  prefix=$(root_prefix "${missing[@]}")
  as_root=()
  [[ -z $prefix ]] || as_root=("$prefix")
  say "Missing Debian packages: ${missing[*]}"
  say "Installing them${prefix:+ with sudo, since packages belong to the system (a password may be asked)}."
  install_or_update "${missing[@]}" || die "Installing packages failed: apt-get's own words are above. Without a network, \
install them from a mirror or medium you can reach:
  ${prefix:+$prefix }apt-get install --no-install-recommends ${missing[*]}
then run this script again."
}

main "$@"
