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
  check_mounted "$path"
done <<<"$required"
note_health ok file_systems "mounted and writable: ${required//$'\n'/, }"
