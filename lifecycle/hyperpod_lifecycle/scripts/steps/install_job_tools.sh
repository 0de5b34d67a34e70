#!/bin/bash
# Puts what the steps of jobs start, and what operators call, into /opt/hyperpod of every node of a Slurm cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

if [[ $(parameter orchestrator) == eks ]]; then
  skip "jobs on EKS come in their images"
fi
for tool in train_entry.sh recover_node.sh; do
  # A job that runs the former one keeps it: the file is replaced, not changed.
  ensure_copy "$BUNDLE/job/$tool" "$STATE_FOLDER/$tool" 0755
done
log "train_entry.sh and recover_node.sh are in $STATE_FOLDER"
