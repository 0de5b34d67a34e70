#!/bin/bash
# What the steps found out, for the summary at the end of a run.

HEALTH_FOLDER=$STATE_FOLDER/health

# note_health ok|warning NAME WORDS: one finding a NAME. Write what stays the same when nothing has changed.
note_health() {
  local state=$1 name=$2
  shift 2
  if [[ $state == ok ]]; then
    log "$*"
  else
    warn "$*"
  fi
  ensure_directory "$HEALTH_FOLDER"
  ensure_file "$HEALTH_FOLDER/$name" <<<"$state $*"
}
