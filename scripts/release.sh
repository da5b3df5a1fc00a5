#!/usr/bin/env bash
# Makes a folder with what a release has: the package, the published reports, notes, and the checksums of all of them.
#
#   scripts/release.sh [--draft] [INTO]     INTO: default dist/release-<version>; an older one is replaced
#
#   assay-<version>-x86_64.tar.xz     the folder of scripts/package.sh
#   assay-<version>-reports.tar.xz    reports/published, for `assay pivot`, `compare` and `show`, without reports that were
#                                     made by other kernels, references or cases, or by another harness, than the commit's
#   notes.md                          the version's part of CHANGELOG.md, and what was measured, where
#   SHA256SUMS                        for `sha256sum --check SHA256SUMS`
#
# notes.md says which reports are left out. Archives of one commit by one compiler are the same byte for byte. A release
# is refused, with every reason at once, if a file is not committed, if CHANGELOG.md does not close the version with a
# date, or if no report is left. With --draft these are warnings that notes.md repeats. The exit code is 0, 1 if the
# release is refused, 2 for a usage error.
set -euo pipefail
caller=$PWD
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What the figures of a report depend on.
measured=(CMakeLists.txt cmake harness ops references shaders cases tuning)
reasons=()  # why there is no release
reports=()  # folders of reports/published that the release has
left_out=() # why it does not have the others

version_of_tree() { sed -n 's/^project(assay VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# field FILE NAME: a text of a report's run.json. assay alone writes it, one field a line.
field() { sed -n 's/^ *"'"$2"'": "\(.*\)",\{0,1\}$/\1/p' "$1" | sed -n 1p; }

# commit_of RUN_JSON: the commit in a version such as 0.1.0+6679f44eced5.
commit_of() {
  local made_by
  made_by=$(field "$1" version)
  echo "${made_by##*+}"
}

check_tree() {
  [[ -z $(git status --porcelain) ]] || reasons+=("files are not committed (git status)")
}

check_changelog() {
  grep -qE "^## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
    reasons+=("CHANGELOG.md has no heading '## $version - YYYY-MM-DD'")
}

# Sorts the published reports into `reports` and `left_out`.
check_reports() {
  local run folder commit changed
  for run in reports/published/*/run.json; do
    [[ -e $run ]] || break
    folder=$(dirname "$run")
    commit=$(commit_of "$run")
    if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
      left_out+=("$folder was made by $commit, a commit that is not in this repository")
      continue
    fi
    changed=$(git diff --name-only "$commit" HEAD -- "${measured[@]}" | wc -l)
    if ((changed)); then
      left_out+=("$folder was made by $commit: files that its figures depend on have changed since, $changed in all")
    else
      reports+=("$folder")
    fi
  done
  ((${#reports[@]})) ||
    reasons+=("no published report was made by the code of this commit: run and publish one (reports/published/README.md)")
}

# The version's part of CHANGELOG.md without its heading.
changes() { awk -v heading="## $version - " 'index($0, "## ") == 1 { on = index($0, heading) == 1; next } on' CHANGELOG.md; }

notes() {
  local folder run reason
  printf '# assay %s\n\n' "$version"
  if ((${#reasons[@]})); then
    printf 'This is a draft, no release:\n\n'
    for reason in "${reasons[@]}"; do printf -- '- %s\n' "$reason"; done
    printf '\n'
  fi
  printf 'Commit %s of %s.\n\n| published report | device | driver | commit |\n|---|---|---|---|\n' \
    "$(git rev-parse HEAD)" "$(git show -s --format=%cs HEAD)"
  for folder in "${reports[@]}"; do
    run=$folder/run.json
    printf '| %s | %s | %s | %s |\n' "$(basename "$folder")" "$(field "$run" name)" "$(field "$run" driver_info)" \
      "$(commit_of "$run")"
  done
  ((${#left_out[@]} == 0)) || printf '\nLeft out:\n\n'
  for reason in "${left_out[@]}"; do printf -- '- %s\n' "$reason"; done
  changes
}

# archive FOLDER: FOLDER.tar.xz, which depends on the content and the commit's date alone.
archive() {
  tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --mtime="@$(git show -s --format=%ct HEAD)" \
    -C "$(dirname "$1")" -cJf "$1.tar.xz" "$(basename "$1")"
}

# is_replaceable FOLDER: whether it does not exist, or holds an older release and nothing else.
is_replaceable() {
  local file
  [[ -e $1 ]] || return 0
  [[ -d $1 && -f $1/SHA256SUMS ]] && grep -q '^# assay ' "$1/notes.md" 2>/dev/null || return 1
  for file in "$1"/* "$1"/.[!.]*; do
    [[ ! -e $file || $(basename "$file") =~ ^(assay-[0-9.]+-(x86_64|reports)\.tar\.xz|notes\.md|SHA256SUMS)$ ]] || return 1
  done
}

main() {
  local draft=no into reason package archived run folder
  if [[ ${1:-} == --draft ]]; then
    draft=yes
    shift
  fi
  if (($# > 1)) || [[ ${1:-} == -* ]]; then die "Usage: scripts/release.sh [--draft] [INTO]" 2; fi
  version=$(version_of_tree)
  into=$(cd "$caller" && realpath -m "${1:-$root/dist/release-$version}")
  is_replaceable "$into" || die "$into exists and is not a release of assay alone; not replacing it."

  check_tree
  check_changelog
  check_reports
  for reason in "${left_out[@]}"; do say "Left out: $reason."; done
  for reason in "${reasons[@]}"; do say "Not a release: $reason."; done
  ((${#reasons[@]} == 0)) || [[ $draft == yes ]] || die "Nothing was made. --draft makes the files all the same."

  staging=$(mktemp -d)
  trap 'rm -rf "$staging"' EXIT
  package=assay-$version-x86_64
  archived=assay-$version-reports
  scripts/package.sh "$staging/$package"
  archive "$staging/$package"
  # By git: `assay report` may have left files there that are not committed.
  git archive --prefix="$archived/" HEAD:reports/published | tar -x -C "$staging"
  for run in "$staging/$archived"/*/run.json; do
    folder=reports/published/$(basename "$(dirname "$run")")
    [[ " ${reports[*]} " == *" $folder "* ]] || rm -rf "$(dirname "$run")"
  done
  archive "$staging/$archived"
  mkdir "$staging/made"
  mv "$staging"/*.tar.xz "$staging/made/"
  notes >"$staging/made/notes.md"
  (cd "$staging/made" && sha256sum -- *.tar.xz notes.md >SHA256SUMS)
  rm -rf "$into"
  mkdir -p "$into"
  mv "$staging/made"/* "$into/"
  say "Made the files of assay $version in $into"
}

main "$@"
