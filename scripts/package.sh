#!/usr/bin/env bash
# Makes one folder that runs on other Linux systems with glibc 2.36 or newer and a Vulkan loader: the binary, the shared
# libraries it needs, the cases, the kernels' sources, the documents, and the scripts of a farm's night.
#
#   scripts/package.sh [--target aarch64] [DIR]
#
# The target is x86-64, or 64-bit Arm, for which Debian's cross compiler builds. Without a DIR it is
# dist/assay-<version>-<target>; an older DIR of ours is replaced.
#
# Never packed: glibc, the Vulkan loader and drivers, and the C++ runtime (libstdc++, libgcc_s). Drivers are
# loaded into our process and need the C++ runtime of *their* system: an older one next to the binary would be loaded
# first, and the drivers would fail to load (Mesa built with a newer GCC, for example). Every system with that glibc has
# a runtime that is new enough.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

max_glibc=2.36
max_glibcxx=3.4.30 # GCC 12
target=x86_64
build=build/package
sysroot=    # of another target: a folder with its packages
run=()      # what starts a binary of the target
system_libraries='^(ld-linux.*|lib(c|m|pthread|dl|rt|resolv|vulkan|stdc\+\+|gcc_s))\.so'

# What the cross compiler links with, and lavapipe, with which the packed binary is tried. Debian 12's own lavapipe
# crashes on arm64 where it converts halves.
target_packages=(
  libc6-dev libstdc++-12-dev libvulkan-dev libvulkan1 libvulkan-volk-dev glslang-dev glslang-tools
  {mesa-vulkan-drivers,libdrm2,libdrm-amdgpu1}/bookworm-backports spirv-tools libfmt-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev libpugixml-dev libxxhash-dev libssl-dev
  libre2-dev libzstd-dev zlib1g-dev libsqlite3-dev libbenchmark-dev libgtest-dev libgmock-dev libzip-dev
)

# choose_target NAME
choose_target() {
  [[ $1 == aarch64 || $1 == x86_64 ]] || die "--target is '$1'; it must be x86_64 or aarch64." 2
  target=$1
  [[ $target != x86_64 ]] || return 0
  build=build/package-aarch64
  sysroot=$root/build/sysroot-arm64
  run=(qemu-aarch64-static -L "$sysroot")
  scripts/setup.sh --aarch64
  scripts/dev/sysroot.sh arm64 "$sysroot" "${target_packages[@]}"
}

# The same objects as preset release (ccache has them), linked with a runpath of $ORIGIN.
build_binary() {
  local log=build/package.log cross=()
  [[ -z $sysroot ]] || cross=(--toolchain "$root/cmake/$target.cmake" "-DCMAKE_SYSROOT=$sysroot")
  mkdir -p build
  say "Building in $build"
  # shellcheck disable=SC2016  # $ORIGIN is for the dynamic linker
  cmake --preset release -B "$build" "${cross[@]}" -DCMAKE_INSTALL_RPATH='$ORIGIN' -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed \
    >"$log" 2>&1 || { cat "$log" >&2; die "Configuring $build failed; see above."; }
  cmake --build "$build" --target assay --parallel "$(nproc)" >&2 || die "Building the binary to pack failed."
}

# Prints the paths of the shared libraries that FILE needs and that a target system may not have.
libraries_of() {
  local list name path
  if [[ -n $sysroot ]]; then
    libraries_of_target "$1" | sort -u
    return
  fi
  list=$(ldd "$1")
  [[ $list != *"not found"* ]] || die "ldd finds no library for a dependency of $1: $list"
  while read -r name path; do
    [[ $name =~ $system_libraries ]] || echo "$path"
  done < <(awk '$2 == "=>" { print $1, $3 }' <<<"$list")
}

# The same for a file that ldd cannot load: what it names, and what these name, from the target's packages.
libraries_of_target() {
  local name path
  while read -r name; do
    [[ ! $name =~ $system_libraries ]] || continue
    path=$sysroot/usr/lib/$target-linux-gnu/$name
    [[ -e $path ]] || die "$1 needs $name, which is not in $sysroot."
    echo "$path"
    libraries_of_target "$path"
  done < <(objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }')
}

# Third-party code that is packed, or linked into the binary, comes with its licence.
copy_licences() {
  local to=$1/licences library package
  shift
  mkdir -p "$to"
  {
    # The chart library of the HTML page is part of the binary: it is built from these.
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' node-d3 'node-d3-*' libjs-d3-format | sed -n 's/^installed //p'
    printf '%s\n' glslang-dev spirv-tools libvulkan-volk-dev libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libssl-dev libzstd-dev libre2-dev zlib1g-dev libsqlite3-dev
    # By name: another target's libraries are of packages that this machine has, too.
    for library in "$@"; do dpkg-query -S "*/$(basename "$(realpath "$library")")" | cut -d: -f1; done
  } | sort -u | while read -r package; do
    cp "/usr/share/doc/$package/copyright" "$to/$package.txt"
  done
}

# The scripts that a farm runs; farm-up.sh and those outside of farm/ are for trying Slurm out.
copy_scripts() {
  mkdir -p "$1/scripts/farm"
  cp -r scripts/farm/nightly.sh scripts/farm/night scripts/farm/remote_night.sh scripts/farm/farm-up.sh "$1/scripts/farm/"
  install -D -t "$1/scripts/farm/worker" scripts/farm/worker/*.py
  cp scripts/setup.sh scripts/lib.sh "$1/scripts/"
}

write_readme() {
  cat >"$1/README.txt" <<TEXT
assay $2: is a GPU op right, and how fast is it, on every Vulkan device of this machine.

  ./assay devices                               list the devices
  ./assay run --tier smoke --tier ci            run the cases in this folder; reports: assay-out/<device>/
  ./assay run --filter '*pixel_shuffle/small*' --shaders shaders --watch     edit a kernel: it runs at every save
  ./assay judge shaders --help                  judge a folder of changed kernels
  ./assay --help                                everything else
  docs/walks.md                                 questions, and the commands that answer them
  scripts/farm/nightly.sh DIR                   a night: every case on every device, and a verdict (see nightly.sh)
  scripts/farm/remote_night.sh DIR WORKERS      the same on phones and machines over adb and ssh (docs/farm.md)

Needs: $target Linux, glibc $max_glibc or newer, libstdc++ of GCC 12 or newer, a Vulkan loader (libvulkan.so.1:
package libvulkan1 on Debian and Ubuntu, vulkan-loader on Fedora) and a Vulkan driver. Without a GPU, Mesa's
lavapipe will do (package mesa-vulkan-drivers). Everything else is in this folder, which may be moved anywhere.

Exit codes: 0 fine, 1 failures, 2 usage or load errors, 3 infrastructure, 77 no Vulkan device.
Licences of the libraries packed or linked in: licences/.
TEXT
}

# newest_version FILE PREFIX: the highest symbol version FILE asks for, such as 2.34 for GLIBC_.
newest_version() {
  objdump -T "$1" | grep -oE "\($2[0-9.]+\)" | tr -d '()' | sed "s/^$2//" | sort -Vu | tail -1
}

# require_at_most FILE PREFIX LIMIT
require_at_most() {
  local newest
  newest=$(newest_version "$1" "$2") || return 0 # asks for none
  [[ $(printf '%s\n' "$newest" "$3" | sort -V | tail -1) == "$3" ]] ||
    die "$1 needs $2$newest, newer than the $2$3 that the package promises: build it on Debian 12."
}

# Runs a short night, started from another folder.
check_night() {
  local farm
  farm=$(mktemp -d)
  (cd / && "$1/scripts/farm/nightly.sh" "$farm" -- --tier smoke --mode accu --filter '*/pairs/*' --shaders shaders) >"$farm/said" 2>&1 ||
    { cat "$farm/said" >&2 && die "The packed scripts/farm/nightly.sh failed; its night is in $farm."; }
  rm -r "$farm"
}

check_package() {
  local dir=$1 file needed
  for file in "$dir/assay" "$dir"/*.so*; do
    [[ -e $file ]] || continue # a package without libraries
    require_at_most "$file" GLIBC_ "$max_glibc"
    require_at_most "$file" GLIBCXX_ "$max_glibcxx"
  done
  # No `grep -q` after a pipe: it leaves early, and pipefail counts the writer's SIGPIPE as a failure.
  # shellcheck disable=SC2016  # the dynamic linker's own variable
  objdump -p "$dir/assay" | grep -E 'R(UN)?PATH +\$ORIGIN$' >/dev/null || die "$dir/assay has no runpath of \$ORIGIN."
  needed=
  [[ -n $sysroot ]] || needed=$(libraries_of "$dir/assay")
  while read -r file; do
    [[ -z $file || $file == "$dir/"* ]] || die "$dir/assay takes $file from the system: it should be in the package."
  done <<<"$needed"
  (cd / && "${run[@]}" "$dir/assay" --version) || die "The packed binary does not start."
  (cd / && "${run[@]}" "$dir/assay" list >/dev/null) || die "The packed binary cannot load the packed cases."
  (cd / && "${run[@]}" "$dir/assay" devices --as-if vulkan_1_1_minimum >/dev/null) ||
    die "The packed binary finds no packed profile."
  [[ -n $sysroot ]] || check_night "$dir" # an emulator starts no workers: scripts/dev/aarch64.sh
}

main() {
  local version dir needed libraries=() strip=strip
  unset LD_LIBRARY_PATH # the package must not need its help
  scripts/setup.sh
  if [[ ${1:-} == --target ]]; then
    choose_target "${2:-}"
    shift 2
  fi
  [[ -z $sysroot ]] || strip=$target-linux-gnu-strip
  build_binary
  version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
  dir=$(realpath -m "${1:-dist/assay-$version-$target}")
  [[ ! -e $dir || -x $dir/assay ]] || die "$dir exists and is not a package of assay; not replacing it."

  rm -rf "$dir"
  mkdir -p "$dir"
  install -m 755 "$build/assay" "$dir/assay"
  "$strip" "$dir/assay"
  needed=$(libraries_of "$build/assay")
  if [[ -n $needed ]]; then
    mapfile -t libraries <<<"$needed"
    cp -L "${libraries[@]}" "$dir/"
  fi
  cp -r cases profiles tuning shaders docs "$dir/"
  install -D -m 644 reports/README.md "$dir/reports/README.md" # the columns of reports
  copy_scripts "$dir"
  copy_licences "$dir" "${libraries[@]}"
  write_readme "$dir" "$version"
  check_package "$dir"
  say "Packed $(du -sh "$dir" | cut -f1) into $dir"
}

main "$@"
