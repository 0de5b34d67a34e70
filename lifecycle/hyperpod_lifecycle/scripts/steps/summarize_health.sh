#!/bin/bash
# The last step: says in words what the others found, and writes /opt/hyperpod/health.json for whoever looks at the node.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

# A volume this full leaves no room for a container image or a core dump.
FULL_PERCENT=90

check_space() {
  local path=$1 name=$2 used
  used=$(timeout 60 df --output=pcent "$ROOT$path" 2>/dev/null | tail -n 1 | tr -dc 0-9) || used=""
  if [[ -z $used ]]; then
    note_health warning "$name" "cannot tell how full $path is: df gave no answer"
  elif ((used >= FULL_PERCENT)); then
    note_health warning "$name" "$path is at least $FULL_PERCENT % full"
  else
    note_health ok "$name" "$path has room"
  fi
}

check_accelerators() {
  local listed expected count
  expected=$(parameter gpus "$(node_fact instance_type)")
  if ! command -v nvidia-smi >/dev/null; then
    count=0
  elif ! listed=$(timeout 120 nvidia-smi -L 2>&1); then
    note_health warning gpus "nvidia-smi fails: ${listed##*$'\n'}; replace the node if a reboot does not help"
    return 0
  else
    count=$(grep -c '^GPU ' <<<"$listed") || true
  fi
  if [[ -n $expected ]] && ((count < expected)); then
    note_health warning gpus "$count of $expected GPUs are there; replace the node (Action:Replace)"
  else
    note_health ok gpus "GPUs: $count"
  fi
}

check_space / root_volume
if is_mounted /opt/sagemaker; then
  check_space /opt/sagemaker secondary_volume
fi
check_accelerators
summary=$(python3 -I -S "$here/lib/health_summary.py" "$HEALTH_FOLDER" "$NODE_FILE")
ensure_file "$STATE_FOLDER/health.json" <<<"$summary"
warnings=$(grep -c '"state": "warning"' <<<"$summary") || true
if ((warnings == 0)); then
  log "health: nothing to see to; details in $STATE_FOLDER/health.json"
else
  warn "health: $warnings of the checks ask for a look, see the warnings above or $STATE_FOLDER/health.json"
fi
