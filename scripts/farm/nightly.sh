#!/usr/bin/env bash
# Runs a farm's night: every case on every device, in a new folder, with a verdict in the morning (docs/farm.md).
#
#   scripts/farm/nightly.sh [OPTIONS] DIR [-- OPTIONS OF assay run]
#                                 e.g. from cron: 0 1 * * *  /opt/assay/scripts/farm/nightly.sh /srv/assay
#   scripts/farm/nightly.sh [OPTIONS] --resume NIGHT      runs what a night of DIR has not finished, and concludes it again
#
#   --device D            a device to run on: index, UUID or part of the name; repeatable (default: all)
#   --shards N            tasks for each device (default 1)
#   --time-limit MINUTES  of the night; with --slurm of each task, each time that it runs (default 480)
#   --fuzz SECONDS        also draw points that no case has for so long on each device (docs/fuzz.md), with the date as seed
#   --keep N              remove all nights of DIR except the newest N and the last good ones; in older nights that
#                         stay, remove the folders of tasks once they are merged
#   --slurm               submit jobs to Slurm: an array of tasks for each device, then a job that concludes the night
#   --gres [D=]SPEC       the generic resource of Slurm that a task holds; with D only on the device whose name, UUID or
#                         slug contains D; repeatable (default vulkan:1)
#   --sbatch OPTION       one more option for each sbatch, such as --sbatch=--partition=gpus; repeatable
#   --wait                with --slurm too, return only when the night is over, with its exit code
#
# DIR gets DIR/<UTC date and time>, and the link DIR/latest. Without --slurm the tasks run here, one after the other.
# In a package it runs the package's binary; in a source tree it builds one first; ASSAY names another binary.
# Relative paths among the options of assay run start at the root of the package or the source tree.
# The exit code is that of assay verdict: 0 fine, 1 failures or regressions, 2 usage, 3 infrastructure, 77 no device.
set -euo pipefail
# shellcheck source=scripts/farm/night/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/night/lib.sh"
# shellcheck source=scripts/farm/night/times.sh
source "$here/night/times.sh"
trap one_is_an_answer EXIT

how_to_use() {
  sed -n '2,/^# DIR gets/p' "$here/nightly.sh" | sed '$d; s/^# \{0,1\}//'
}

usage() {
  say "nightly: $1"
  how_to_use >&2
  exit 2
}

parse() {
  slurm=0 waits=0 resumed='' farm='' shards=1 minutes=480 fuzz=0 keep='' shards_given='' devices=() resources=() sbatch_options=() options=()
  while (($#)); do
    case $1 in
      --slurm) slurm=1 ;;
      --wait) waits=1 ;;
      --device=* | --shards=* | --time-limit=* | --fuzz=* | --keep=* | --gres=* | --sbatch=* | --resume=*)
        set -- "${1%%=*}" "${1#*=}" "${@:2}"
        continue
        ;;
      --device | --shards | --time-limit | --fuzz | --keep | --gres | --sbatch | --resume)
        (($# > 1)) || usage "$1 needs a value"
        take "$1" "$2"
        shift
        ;;
      --help | -h)
        how_to_use
        exit 0
        ;;
      --) options=("${@:2}") && break ;;
      -*) usage "there is no option $1; options of assay run come after --" ;;
      *)
        [[ -z $farm ]] || usage "there are two folders, $farm and $1"
        farm=$1
        ;;
    esac
    shift
  done
  [[ -n $farm || -n $resumed ]] || usage "DIR is missing"
  [[ -z $farm || -z $resumed ]] || usage "--resume names a night; DIR is not given as well"
  [[ -z $resumed || -z $keep$shards_given && $fuzz == 0 && ${#devices[@]} -eq 0 ]] ||
    usage "--resume uses the options the night was started with: no --keep, --shards, --fuzz or --device"
  [[ -z $resumed || ${#options[@]} -eq 0 ]] ||
    usage "--resume uses the options the night was started with: no options of assay run"
}

take() {
  case $1 in
    --device) devices+=(--device "$2") ;;
    --gres) resources+=("$2") ;;
    --sbatch) sbatch_options+=("$2") ;;
    --resume) resumed=$2 ;;
    *) [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || usage "$1 takes a number of at least 1, not '$2'" ;;&
    --shards) shards=$2 shards_given=1 ;;
    --time-limit) minutes=$2 ;;
    --fuzz) fuzz=$2 ;;
    --keep) keep=$2 ;;
  esac
}

# The lock is held as long as this script runs; the jobs of a night with --slurm are in Slurm's queue.
never_two_at_once() {
  if ! mkdir -p "$farm" || ! exec 9>"$farm/lock"; then
    die "nightly: $farm, the folder of the nights, cannot be written, see above. Not starting a night." 3
  fi
  flock --nonblock 9 || die "nightly: another nightly.sh holds $farm/lock; not starting a second night." 3
  local jobs before
  for jobs in "$farm"/2*/jobs; do # also of an older night that was resumed
    before=$(dirname "$jobs")
    [[ -s $jobs && ! -s $before/exit_code ]] || continue
    ! is_queued "$(<"$jobs")" || die "nightly: the night $before is still running: its jobs are in Slurm's \
queue ($(paste -sd ' ' "$jobs")), or Slurm does not answer. Not starting another night. To give that night up, cancel
its jobs, or remove $jobs." 3
  done
}

# Sets `assay` to the binary; in a source tree it is built first.
find_binary() {
  assay=${ASSAY:-$root/assay}
  [[ -z ${ASSAY:-} ]] || assay=$(cd "$caller" && realpath -m "$ASSAY")
  [[ ! -x $assay ]] || { assay=$(realpath "$assay") && return; }
  [[ -z ${ASSAY:-} ]] || die "nightly: ASSAY=$ASSAY is not an executable." 2
  "$here/../setup.sh" || exit 3
  # shellcheck disable=SC2016 # expanded by the other shell: the names in the two lib.sh would collide in this one
  bash -c 'source "$1/lib.sh" && build_preset release assay' - "$here/.." || exit 3
  assay=$root/build/release/assay
}

# Refuses options of assay run that every task would refuse: a night of them looks like a broken machine. Case files
# with errors do not stop a night, as long as rows are left.
check_options() {
  local rows said status=0
  said=$(mktemp)
  rows=$("$assay" run --dry-run --shard "1/$shards" --out "$night" --overwrite "${options[@]}" 2>"$said" </dev/null 9>&-) ||
    status=$?
  ((status == 0)) || cat "$said" >&2
  rm -f "$said"
  ((status != 2)) || [[ -n $rows ]] || die "nightly: assay run refuses its options (${options[*]}), see above. Not starting a night." 2
}

# Lists the devices of the machine that will run the tasks; with Slurm that may be another machine than this one.
known_devices() {
  local ask=("$assay" devices --json "${devices[@]}")
  ((!slurm)) || ask=(srun --quiet --ntasks=1 --job-name=assay-devices --chdir="$root" "${sbatch_options[@]}" "${ask[@]}")
  "${ask[@]}" 9>&-
}

# different_uuids JSON: ends the script if two devices have one UUID, by which tasks name them.
different_uuids() {
  local line twice
  twice=$(grep '^{' <<<"$1" | while IFS= read -r line; do json_field uuid "$line"; done | sort | uniq -d | paste -sd ' ') || true
  [[ -z $twice ]] || die "nightly: several devices have the UUID $twice, by which tasks name them. Leave one driver for each GPU (VK_DRIVER_FILES). Not starting a night." 2
}

# Writes the input of the tasks: NIGHT/plan as bash assignments, NIGHT/devices.tsv with slug, UUID, name and driver, and
# for shards the times of the device's last good night. The times are copied, because all shards of a device must be
# balanced by the same report, even a shard that starts when the night is resumed and the last good night is gone.
plan_night() {
  local known line slug status=0
  known=$(known_devices) || status=$?
  ((status == 0)) || die "nightly: listing the devices with \`assay devices\` failed with exit code $status; its message is above." "$status"
  different_uuids "$known"
  mkdir "$night" "$night"/{console,shards}
  grep '^{' <<<"$known" | while IFS= read -r line; do
    slug=$(json_field slug "$line")
    printf '%s\t%s\t%s\t%s\n' "$slug" "$(json_field uuid "$line")" "$(json_field name "$line")" \
      "$(json_field driver "$line")"
    ((shards == 1)) || keep_times "$slug"
  done >"$night/devices.tsv"
  write_plan "$night"
  reserve_exit_code
  ln -sfn "$night" "$farm/latest"
}

# Writes the file that becomes exit_code when the night ends: writing over it then needs no space on a full disk.
reserve_exit_code() {
  rm -f "$night/exit_code"
  echo 3 >"$night/exit_code.new"
}

begin() {
  if [[ -n $resumed ]]; then
    night=$(cd "$caller" && realpath "$resumed")
    [[ -f $night/plan ]] || die "nightly: $resumed is not the folder of a night." 2
    farm=$(dirname "$night")
    never_two_at_once
    read_plan "$night"
    reserve_exit_code
    mend_times
  else
    farm=$(cd "$caller" && realpath -m "$farm")
    never_two_at_once
    find_binary
    night=$farm/$(date -u +%Y-%m-%dT%H%M%SZ)
    check_options
    plan_night
  fi
}

parse "$@"
begin
say "nightly: $night: $(wc -l <"$night/devices.tsv") devices, $shards tasks each"
if ((slurm)); then
  # shellcheck source=scripts/farm/night/with_slurm.sh
  source "$here/night/with_slurm.sh"
  run_with_slurm
else
  # shellcheck source=scripts/farm/night/here.sh
  source "$here/night/here.sh"
  run_here
fi
