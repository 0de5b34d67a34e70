#!/bin/bash
# How scripts of the bundle start, and start each other.

LOCK_SECONDS=${PROVISION_LOCK_SECONDS:-600}

start_script() {
  trap end_script EXIT
  trap 'note_unforeseen_failure "$LINENO" "$BASH_COMMAND" "${BASH_SOURCE[0]}"' ERR
  is_outermost=false
  if [[ -z ${PROVISION_STARTED_BY:-} ]]; then
    # shellcheck disable=SC2034 # read in log.sh
    is_outermost=true
    export PROVISION_STARTED_BY=$PROVISION_STEP
    ensure_directory "${LOG_FILE%/*}"
    ensure_directory "$STATE_FOLDER"
    only_one_run_at_a_time
    if [[ ${0%/*} != */steps ]]; then
      # A whole run finds everything out anew.
      rm -rf "$HEALTH_FOLDER"
    fi
  fi
}

# The kernel drops the lock with the last process of a run, however that ends. Who may read the file may hold its lock, so
# that is root alone.
only_one_run_at_a_time() {
  local error
  if ! error=$({ (umask 077 && : >>"$STATE_FOLDER/.lock") && chmod 0600 "$STATE_FOLDER/.lock"; } 2>&1); then
    cannot "$STATE_FOLDER/.lock" write "$error"
  fi
  exec 9>"$STATE_FOLDER/.lock"
  if ! flock -w "$LOCK_SECONDS" 9; then
    fail "another run holds $STATE_FOLDER/.lock" "wait for it to end, then run again"
  fi
}

# run_steps NAME...: the scripts of steps/, one after another; the first that fails ends the run.
run_steps() {
  local name
  for name in "$@"; do
    # With bash: S3 keeps no modes, so no script of the bundle is executable on the node.
    bash "$BUNDLE/steps/$name.sh"
  done
}
