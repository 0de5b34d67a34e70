#!/bin/bash
# slurmctld stops, or refuses every job, where its configuration asks for a topology that no file describes. HyperPod writes
# such a configuration before it knows the topology, so the guard runs before each start of slurmctld from now on.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/slurm.sh
. "$here/lib/slurm.sh"

GUARD=$STATE_FOLDER/slurm_files.py
DROP_IN=$ROOT/etc/systemd/system/slurmctld.service.d

if [[ ! -f $SLURM_CONF_FILE ]]; then
  skip "no slurm.conf, so that no slurmctld runs here"
fi

ensure_copy "$LIBRARY/slurm_files.py" "$GUARD" 0755
ensure_directory "$DROP_IN"
ensure_file "$DROP_IN/10-hyperpod-topology.conf" <<'EOF'
# A guard that fails does not keep slurmctld from its start.
[Service]
ExecStartPre=-+/usr/bin/python3 -I -S /opt/hyperpod/slurm_files.py guard-topology /opt/slurm/etc/slurm.conf
EOF
systemctl daemon-reload

if ! wanted=$(python3 -I -S "$GUARD" without-empty-topology "$SLURM_CONF_FILE" 2>&1); then
  fail "cannot read $SLURM_CONF_FILE: ${wanted##*$'\n'}" "it must be text in UTF-8"
fi
if [[ $(cat "$SLURM_CONF_FILE") == "$wanted" ]]; then
  skip "the topology is described, or none is asked for"
fi
# First: once slurm.conf asks for no topology, nothing says that this file is in the way.
ensure_absent "$SLURM_ETC/topology.yaml"
ensure_slurm_file "$SLURM_CONF_FILE" "$wanted"
if is_slurmctld_running; then
  warn "a topology was asked for that no file describes: it is out of $SLURM_CONF_FILE, from the next start of slurmctld on"
else
  log "a topology was asked for that no file describes: it is out of $SLURM_CONF_FILE"
fi
