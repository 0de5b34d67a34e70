#!/bin/bash
# What a run says: to standard output, which HyperPod sends to CloudWatch, and to a file on the node.

# How long a failed run waits before it ends: HyperPod takes the node away then, and lines that were not shipped with it.
SHIPPING_SECONDS=${PROVISION_SHIPPING_SECONDS:-30}

# The status of a script whose last line says what failed and what to do.
SAID=70

# Standard output as it was: log within $(...) must not end up in a value.
exec 8>&1

# One line a call, whatever a program said: the last line of a failed run must name step and remedy, and what others than
# root had a hand in must neither look like a line of its own nor steer the terminal of who reads the log.
log() {
  local line words=$*
  words=${words//$'\n'/; }
  TZ=UTC printf -v line '%(%Y-%m-%dT%H:%M:%SZ)T %s: %s' -1 "$PROVISION_STEP" "${words//[[:cntrl:]]/ }"
  # On a full disk the lines in CloudWatch are all there is, and they say why.
  if ! { printf '%s\n' "$line" >>"$LOG_FILE"; } 2>/dev/null && [[ $log_is_lost == false ]]; then
    log_is_lost=true
    printf '%s WARNING: %s takes no writes, so that these lines are not in it\n' "${line%%: *}:" "$LOG_FILE" >&8
  fi
  printf '%s\n' "$line" >&8
}

warn() {
  log "WARNING: $*"
}

# fail PROBLEM REMEDY: ends the step, from within $(...) too; the last line of the log names both.
fail() {
  log "FAILED in step '$PROVISION_STEP': $1; remedy: $2"
  exit "$SAID"
}

# skip WORDS: ends the step, which has nothing to do here.
skip() {
  log "$*"
  exit 0
}

note_unforeseen_failure() {
  failed_at="'$2' in ${3##*/}, line $1"
}

# was_said STATUS: whether a script that ends so has told why. Some other program may end with the same status.
was_said() {
  local last
  (($1 == SAID)) || return 1
  last=$(tail -n 1 "$LOG_FILE" 2>/dev/null) || return 0
  [[ $last == *": FAILED in step '"* ]]
}

# Runs as the last thing of every script. A script that was started by another leaves waiting to that one.
end_script() {
  local status=$?
  trap - EXIT ERR
  if ((status != 0)) && ! was_said "$status"; then
    log "FAILED in step '$PROVISION_STEP': status $status of ${failed_at:-a command}; remedy: read the lines above"
    status=$SAID
  fi
  if ((status != 0)) && [[ $is_outermost == true ]]; then
    sleep "$SHIPPING_SECONDS"
  fi
  exit "$status"
}

is_outermost=false
log_is_lost=false
failed_at=""
