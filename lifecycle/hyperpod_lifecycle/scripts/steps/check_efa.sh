#!/bin/bash
# Says in words whether the node's EFA interfaces are there. HyperPod's own check runs before any script and leaves no
# line in their log; a job on a node without EFA goes over TCP, at a fraction of the speed, and says nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

# The PCI vendor of EFA. Names of devices vary: rdmap79s0, efa_0.
AMAZON=0x1d0f

count_interfaces() {
  local vendor count=0
  for vendor in "$ROOT"/sys/class/infiniband/*/device/vendor; do
    if [[ -r $vendor && $(<"$vendor") == "$AMAZON" ]]; then
      count=$((count + 1))
    fi
  done
  printf '%s\n' "$count"
}

type=$(node_fact instance_type)
found=$(count_interfaces)
expected=$(parameter efa_interfaces "$type")
if [[ -z $expected ]]; then
  note_health ok efa "EFA: $found interfaces; how many ${type:-this node} should have is not known here"
elif [[ ! $expected =~ ^[0-9]+$ ]]; then
  fail "efa_interfaces of $type in $PARAMETERS_FILE is no number: $expected" "render the parameters again, and upload them"
elif ((expected == 0)); then
  note_health ok efa "EFA: $type has none"
elif ((found == 0)); then
  fail "EFA: none of the $expected interfaces of $type is there, so that jobs would go over TCP" \
    "look for the driver (lsmod | grep efa, dmesg | grep efa); if it is loaded, replace the node (Action:Replace)"
elif ((found < expected)); then
  note_health warning efa "EFA: $found of $expected interfaces of $type are there; replace the node if jobs fail or are slow on it"
else
  note_health ok efa "EFA: all $expected interfaces of $type are there"
fi
