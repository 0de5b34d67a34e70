#!/bin/bash
# On the controller of a Slurm cluster: a timer puts figures of jobs into CloudWatch, by which alarms tell of an idle fleet,
# of long waits and of preemptions. A failing check keeps no node from its work, and leaves its line in the journal.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

UNIT=hyperpod-job-figures
SCRIPT=$STATE_FOLDER/job_figures.py

group=$(parameter job_figures group)
if [[ -z $group ]]; then
  skip "no job_figures: nobody is told of an idle fleet or of long waits"
fi
if [[ $(node_fact instance_group) != "$group" ]]; then
  skip "the controller measures jobs, and this node is in another group"
fi

minutes=$(required_parameter job_figures minutes)
ensure_copy "$LIBRARY/job_figures.py" "$SCRIPT" 0755
if ! wanted=$(python3 -I "$LIBRARY/job_figures_parameters.py" "$NODE_FILE" "$PARAMETERS_FILE" 2>&1); then
  fail "cannot tell where to put figures of jobs: ${wanted##*$'\n'}" \
    "render the parameters from the cluster's specification and upload them again"
fi
ensure_file "$STATE_FOLDER/job_figures.json" <<<"$wanted"
ensure_timer "$UNIT" "*:0/$minutes" "Measure Slurm jobs" <<'END'
[Unit]
Description=Put figures of Slurm jobs into CloudWatch

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -I /opt/hyperpod/job_figures.py /opt/hyperpod/job_figures.json
TimeoutStartSec=300
END
log "jobs are measured every $minutes minutes: journalctl -u $UNIT"
