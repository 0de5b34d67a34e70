#!/bin/bash
# Writes /opt/hyperpod/node.json: which cluster, group and instance this is, and which mounts it needs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

own_addresses() {
  hostname -I 2>/dev/null || ip -4 -o addr show | awk '{ sub("/.*", "", $4); print $4 }' | tr '\n' ' '
}

# cannot_tell PROBLEM REMEDY: fails where a later step depends on the identity, else warns. On EKS, where AWS documents no
# such file for nodes, all steps do without.
cannot_tell() {
  if [[ -e $PARAMETERS_FILE && $(parameter orchestrator) != eks ]]; then
    fail "$1" "$2"
  fi
  rm -f "$NODE_FILE"
  warn "$1; nothing depends on it, so this node goes on without $NODE_FILE"
  exit 0
}

# Before anything else: a fault of this file would look like one of the node's identity.
parameter orchestrator >/dev/null

if [[ ! -r $RESOURCE_CONFIG ]]; then
  cannot_tell "no readable $RESOURCE_CONFIG" \
    "HyperPod writes it before any lifecycle script; on a node of another kind set SAGEMAKER_RESOURCE_CONFIG_PATH"
fi

read -r -a addresses <<<"${PROVISION_ADDRESSES:-$(own_addresses)}"
# Isolated: no module that lies beside the script is imported, and nothing that packages of the node start Python with.
if ! node=$(python3 -I -S "$here/lib/node_identity.py" "$RESOURCE_CONFIG" "$PARAMETERS_FILE" "${addresses[@]}" 2>&1); then
  remedy="it must be the JSON that HyperPod writes: see whether it is whole"
  if [[ $node == *"no instance has"* ]]; then
    remedy="compare the addresses of this node with CustomerIpAddress in $RESOURCE_CONFIG"
  fi
  cannot_tell "cannot tell which node this is by $RESOURCE_CONFIG: ${node##*$'\n'}" "$remedy"
fi
ensure_file "$NODE_FILE" <<<"$node"
log "this node is described in $NODE_FILE"
