#!/bin/bash
# Shared by every script of the bundle: sourced, never run. Set PROVISION_STEP before sourcing.
set -euo pipefail

# Where the node's files begin. Only tests set it.
ROOT=${PROVISION_ROOT:-}
LOG_FILE=$ROOT/var/log/provision/provisioning.log
STATE_FOLDER=$ROOT/opt/hyperpod
NODE_FILE=$STATE_FOLDER/node.json
# shellcheck disable=SC2034 # read by the steps
RESOURCE_CONFIG=${SAGEMAKER_RESOURCE_CONFIG_PATH:-$ROOT/opt/ml/config/resource_config.json}
# shellcheck disable=SC2034
PARAMETERS_FILE=${BASH_SOURCE[0]%/lib/*}/parameters.json
# shellcheck disable=SC2034
MOUNTS_FILE=$ROOT/proc/self/mounts

problem=""
remedy=""

mkdir -p "${LOG_FILE%/*}" "$STATE_FOLDER"

# Standard output reaches CloudWatch; the file stays on the node for those who log in.
log() {
  local line
  line="$(date -u +%Y-%m-%dT%H:%M:%SZ) $PROVISION_STEP: $*"
  printf '%s\n' "$line"
  printf '%s\n' "$line" >>"$LOG_FILE"
}

# fail PROBLEM REMEDY: ends the step; the last line of the log names both.
fail() {
  problem=$1
  remedy=$2
  exit 1
}

# The last line of a failed run says what to do. A step that has said it leaves status 70 to whoever called it.
report() {
  local status=$?
  if ((status == 0 || status == 70)); then
    exit "$status"
  fi
  log "FAILED in step '$PROVISION_STEP': ${problem:-status $status}; remedy: ${remedy:-read the lines above}"
  exit 70
}
trap report EXIT

run_step() {
  # With bash: S3 keeps no modes, so no script of the bundle is executable on the node.
  bash "$1"
}

# retry ATTEMPTS PAUSE COMMAND...: for what settles by itself, such as name resolution while a service restarts.
retry() {
  local attempts=$1 pause=$2 attempt
  shift 2
  for ((attempt = 1; attempt < attempts; attempt++)); do
    if "$@"; then
      return 0
    fi
    sleep "$pause"
  done
  "$@"
}

# ensure_file PATH: makes PATH hold standard input. Atomic, and leaves an equal file alone.
ensure_file() {
  local path=$1 temporary
  temporary=$(mktemp "$path.XXXXXX")
  cat >"$temporary"
  if [[ -f $path ]] && cmp -s "$temporary" "$path"; then
    rm -f "$temporary"
    return 0
  fi
  chmod 0644 "$temporary"
  mv -f "$temporary" "$path"
}

only_one_run_at_a_time() {
  # The kernel drops the lock with the process, however it ends.
  exec 9>"$STATE_FOLDER/.lock"
  if ! flock -w "${PROVISION_LOCK_SECONDS:-600}" 9; then
    fail "another run holds $STATE_FOLDER/.lock" "wait for it to end, then run again"
  fi
  # What a killed run left behind.
  rm -f "$NODE_FILE".??????
}
