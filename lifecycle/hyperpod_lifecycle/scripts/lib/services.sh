#!/bin/bash
# Services, and files that they read at their start.

RESTARTS_FOLDER=$STATE_FOLDER/restarts

# ensure_file_of SERVICE PATH [MODE]: as ensure_file; ensure_service then restarts SERVICE if the file was changed, also
# when the run is killed in between and repeated.
ensure_file_of() {
  local service=$1 path=$2 mode=${3:-0644} content
  content=$(cat; printf .)
  content=${content%.}
  if [[ -f $path && $(cat "$path"; printf .) == "$content." && $(stat -L -c %04a "$path") == "$mode" ]]; then
    return 0
  fi
  mark_for_restart "$service"
  printf '%s' "$content" | ensure_file "$path" "$mode"
}

# mark_for_restart SERVICE: before what it reads is changed by other means.
mark_for_restart() {
  ensure_directory "$RESTARTS_FOLDER"
  ensure_file "$RESTARTS_FOLDER/$1" </dev/null
}

# ensure_service SERVICE: started at every boot, and running with what its files say now.
ensure_service() {
  local service=$1
  if ! systemctl is-enabled --quiet "$service"; then
    start_or_say enable "$service"
  fi
  if [[ -e $RESTARTS_FOLDER/$service ]]; then
    systemctl daemon-reload
    start_or_say restart "$service"
    rm -f "$RESTARTS_FOLDER/$service"
  elif ! systemctl is-active --quiet "$service"; then
    start_or_say start "$service"
  fi
}

# ensure_timer UNIT WHEN WORDS: a timer, which WORDS describe, runs UNIT at each WHEN (OnCalendar); standard input is the
# file of the service.
ensure_timer() {
  local unit=$1 when=$2 words=$3 units=$ROOT/etc/systemd/system
  ensure_directory "$units"
  ensure_file_of "$unit.timer" "$units/$unit.service"
  ensure_file_of "$unit.timer" "$units/$unit.timer" <<END
[Unit]
Description=$words

[Timer]
OnCalendar=$when
AccuracySec=1s

[Install]
WantedBy=timers.target
END
  ensure_service "$unit.timer"
}

# start_or_say enable|restart|start SERVICE
start_or_say() {
  local said
  if said=$(systemctl --quiet "$1" "$2" 2>&1); then
    return 0
  elif [[ $1 == enable ]]; then
    fail "the service $2 cannot be enabled: ${said:-no reason given}" \
      "see whether the image has it (systemctl cat $2) and whether somebody masked it (systemctl unmask $2)"
  fi
  fail "the service $2 does not start: ${said:-no reason given}" "read journalctl -u $2 on the node"
}
