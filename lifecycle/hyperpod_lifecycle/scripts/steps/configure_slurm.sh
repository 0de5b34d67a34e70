#!/bin/bash
# Adds to what HyperPod wrote of Slurm on the controller: the specification's settings, accounting, GRES. Nodes get these
# files from the controller.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/slurm.sh
. "$here/lib/slurm.sh"

GRES_HEADER='# hyperpod: of the nodes in slurm.conf'

slurm_file() {
  local content
  if ! content=$(python3 -I -S "$LIBRARY/slurm_files.py" "$@" 2>&1); then
    fail "cannot read Slurm's configuration: ${content##*$'\n'}" "compare $SLURM_CONF_FILE with what was uploaded"
  fi
  printf '%s\n' "$content"
}

if ! scripts_configure_slurm; then
  skip "HyperPod configures Slurm"
fi
if [[ $(slurm_role) != controller ]]; then
  skip "Slurm is configured on the controller"
fi

address=$(controller_address)
names_this_controller() {
  python3 -I -S "$LIBRARY/slurm_files.py" names-controller "$SLURM_CONF_FILE" "$address"
}
if ! retry 12 5 names_this_controller; then
  fail "$SLURM_CONF_FILE does not name the controller $address" \
    "HyperPod makes it of provisioning_parameters.json at the top of the scripts in S3: see whether that is there"
fi

accounting=$(parameter slurm accounting)
if [[ $accounting == true ]] && is_slurmctld_running && [[ $(timeout 60 scontrol show config) != *accounting_storage/slurmdbd* ]]; then
  # Its jobs are filed under an id that the database does not know: with it, slurmctld would not start again.
  fail "slurmctld runs without accounting, and accounting cannot be added to a running cluster" \
    "render accounting from the start, or drain the nodes, stop slurmctld, remove clustername in its StateSaveLocation and run again"
fi

included=$SLURM_ETC/$INCLUDED_FILE
content=$(slurm_file settings "$SLURM_CONF_FILE" "$PARAMETERS_FILE" "$address" "$included")
ensure_slurm_file "$included" "$content"
content=$(slurm_file with-settings "$SLURM_CONF_FILE" "$included")
ensure_slurm_file "$SLURM_CONF_FILE" "$content"

gres=$(slurm_file gres "$SLURM_CONF_FILE")
if [[ -n $gres ]]; then
  if [[ ! -s $SLURM_ETC/gres.conf || $(head -n 1 "$SLURM_ETC/gres.conf") == "$GRES_HEADER" ]]; then
    ensure_slurm_file "$SLURM_ETC/gres.conf" "$GRES_HEADER"$'\n'"$gres"
  fi
else
  log "no node in slurm.conf has GRES: jobs take whole nodes with --exclusive"
fi
log "Slurm's settings are in $included"
