#!/usr/bin/env bash
# Makes a folder with Debian packages of another architecture and what they need, unpacked: what a cross compiler builds
# against, and what an emulator runs with. Nothing is installed on this machine, and an older folder is replaced.
#
#   scripts/dev/sysroot.sh ARCHITECTURE FOLDER PACKAGE...      such as: arm64 build/arm64 libc6-dev libfmt-dev
#
# Packages are of the release and the sources that this machine's apt has. PACKAGE/SUITE takes one of the release's
# backports, where SUITE is such as bookworm-backports. They are kept in FOLDER.apt.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

(($# >= 3)) || die "Usage: scripts/dev/sysroot.sh ARCHITECTURE FOLDER PACKAGE..." 2
architecture=$1
folder=$(realpath -m "$2")
apt=$folder.apt
shift 2

mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/sources"
: >"$apt/status" # nothing is installed there
options=(
  -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Install-Recommends=0
  -o APT::Sandbox::User=root -o Debug::NoLocking=1
  -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
  -o "Dir::Etc::sourceparts=$apt/sources"
)

# The machine's sources, and the backports of its release from the same place: apt prefers the former.
write_sources() {
  local site release keys=/usr/share/keyrings/debian-archive-keyring.gpg
  cp -r /etc/apt/sources.list.d/. "$apt/sources/"
  # shellcheck disable=SC2016  # apt's own variables
  read -r site release < <(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Component: main')
  printf 'deb [signed-by=%s] %s %s-backports main\n' "$keys" "$site" "$release" >"$apt/sources/backports.list"
}

write_sources
say "Fetching $* for $architecture, and what they need"
fetch() {
  apt-get "${options[@]}" update && apt-get "${options[@]}" --yes --download-only install "$@"
}
fetch "$@" >"$apt/log" 2>&1 || { cat "$apt/log" >&2 && die "Fetching the packages failed; see above."; }
rm -rf "$folder"
mkdir -p "$folder"
for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$folder"; done
