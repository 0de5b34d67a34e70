#!/bin/bash
# On the controller of a Slurm cluster: a timer puts the number of running jobs into CloudWatch, by which an alarm tells an
# idle fleet from a busy one. A failing count keeps no node from its work, and leaves its line in the journal.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

UNIT=hyperpod-job-figures
UNITS=$ROOT/etc/systemd/system
COUNTER=$STATE_FOLDER/job_figures.py

group=$(parameter job_figures group)
if [[ -z $group ]]; then
  skip "no job_figures: nobody is told of an idle fleet"
fi
if [[ $(node_fact instance_group) != "$group" ]]; then
  skip "the controller counts running jobs, and this node is in another group"
fi

minutes=$(required_parameter job_figures minutes)
ensure_copy "$LIBRARY/job_figures.py" "$COUNTER" 0755
if ! wanted=$(python3 -I "$LIBRARY/job_figures_parameters.py" "$NODE_FILE" "$PARAMETERS_FILE" 2>&1); then
  fail "cannot tell where to put the number of running jobs: ${wanted##*$'\n'}" \
    "render the parameters from the cluster's specification and upload them again"
fi
ensure_file "$STATE_FOLDER/job_figures.json" <<<"$wanted"
ensure_directory "$UNITS"
ensure_file_of "$UNIT.timer" "$UNITS/$UNIT.service" <<'END'
[Unit]
Description=Put the number of running Slurm jobs into CloudWatch

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -I /opt/hyperpod/job_figures.py /opt/hyperpod/job_figures.json
TimeoutStartSec=300
END
ensure_file_of "$UNIT.timer" "$UNITS/$UNIT.timer" <<END
[Unit]
Description=Count running Slurm jobs

[Timer]
OnCalendar=*:0/$minutes
AccuracySec=1s

[Install]
WantedBy=timers.target
END
ensure_service "$UNIT.timer"
log "running jobs are counted every $minutes minutes: journalctl -u $UNIT"
