#!/bin/bash
# HyperPod mounts the file systems of the instance group. This step makes sure that each is there and takes writes
# before a job finds out: without it a job would write to the root volume, which goes with the node.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROVISION_STEP=check_file_systems
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

is_mounted() {
  awk -v path="$1" '$2 == path { found = 1 } END { exit !found }' "$MOUNTS_FILE"
}

takes_writes() {
  local probe status=0
  # A file system that hangs must not hang the node. Created and written through one descriptor: users who may
  # write here could swap a name for a link before it is opened again.
  probe=$(timeout 60 python3 -I -c '
import os, sys, tempfile
descriptor, path = tempfile.mkstemp(prefix=".provision-probe.", dir=sys.argv[1])
print(path, flush=True)
os.write(descriptor, b"probe")
os.fsync(descriptor)
os.close(descriptor)
' "$1") || status=$?
  if [[ -n $probe ]]; then
    timeout 60 rm -f "$probe" || status=$?
  fi
  return "$status"
}

required=""
if [[ -e $NODE_FILE ]]; then
  required=$(python3 -I -c '
import json, sys
for path in json.load(open(sys.argv[1], encoding="utf-8"))["required_mounts"]:
    print(path)
' "$NODE_FILE")
fi

if [[ -z $required ]]; then
  log "this group needs no file system"
  exit 0
fi

attempts=${PROVISION_MOUNT_ATTEMPTS:-30}
while IFS= read -r path; do
  if ! retry "$attempts" "${PROVISION_MOUNT_PAUSE:-10}" is_mounted "$path"; then
    fail "nothing is mounted on $path" \
      "look at the instance group's file systems, at TCP 988 and 1018-1023 in the security groups, and at dmesg"
  fi
  if ! takes_writes "$ROOT$path"; then
    fail "$path is mounted and takes no writes" \
      "look for a read-only mount, a full file system or a root squash of the file system"
  fi
  log "$path is mounted and takes writes"
done <<<"$required"
