#!/bin/bash
# HyperPod mounts the file systems of the instance group. This step makes sure that each is there and takes writes
# before a job finds out: without it a job would write to the root volume, which goes with the node.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

required=$(node_fact required_mounts)
if [[ -z $required ]]; then
  skip "this group needs no file system"
fi

while IFS= read -r path; do
  if ! retry 12 5 is_mounted "$path"; then
    fail "nothing is mounted on $path" \
      "look at the instance group's file systems, at TCP 988 and 1018-1023 in the security groups, and at dmesg"
  fi
  if ! takes_writes "$ROOT$path"; then
    fail "$path is mounted and takes no writes" \
      "look for a read-only mount, a full file system or a root squash of the file system"
  fi
  log "$path is mounted and takes writes"
done <<<"$required"
