#!/bin/bash
# Has HyperPod replace or reboot a node that it takes for sound and that is not, from the controller node:
#
#   sudo /opt/hyperpod/recover_node.sh replace ip-10-1-2-3
#
# Reboot for software: hung processes, a wedged driver. Replace for hardware: Xid errors that come back, failed DCGM
# diagnostics, low bandwidth after a reboot. HyperPod acts on the reason letter by letter, and a node whose repair is under
# way must be left alone: both are easily got wrong by hand.
set -euo pipefail

PATH=$PATH:/opt/slurm/bin

refuse() {
  printf 'recover_node: %s\n' "$*" >&2
  exit 2
}

(($# == 2)) || refuse "usage: recover_node.sh replace|reboot NODE"
case $1 in
  replace) reason=Action:Replace ;;
  reboot) reason=Action:Reboot ;;
  *) refuse "'$1' is neither replace nor reboot" ;;
esac
[[ $2 =~ ^[[:alnum:]._-]+$ ]] || refuse "'$2' is no name of one node"
if ! node=$(timeout 30 scontrol --oneliner show node "$2" 2>&1) || [[ ! $node =~ ^NodeName=([^[:space:]]+) ]]; then
  refuse "Slurm knows no node $2: ${node##*$'\n'}"
fi
if [[ $node =~ [[:space:]]State=[^[:space:]]*FAIL && $node =~ [[:space:]]Reason=(Action:(Replace|Reboot))([[:space:]]|$) ]]; then
  refuse "${BASH_REMATCH[1]} of $2 is under way; wait, and change neither its state nor restart slurmctld"
fi
timeout 30 scontrol update node="$2" state=fail reason="$reason"
printf 'recover_node: asked for %s of %s; until it is back, change neither its state nor restart slurmctld\n' "$reason" "$2"
