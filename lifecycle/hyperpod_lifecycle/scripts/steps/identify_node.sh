#!/bin/bash
# Writes /opt/hyperpod/node.json: which cluster, group and instance this is, and which mounts it needs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROVISION_STEP=identify_node
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

if [[ ! -r $RESOURCE_CONFIG ]]; then
  fail "no readable $RESOURCE_CONFIG" \
    "HyperPod writes it before any lifecycle script; on a node of another kind set SAGEMAKER_RESOURCE_CONFIG_PATH"
fi

read -r -a addresses <<<"${PROVISION_ADDRESSES:-$(hostname -I)}"
if ! node=$(python3 "$here/lib/node_identity.py" "$RESOURCE_CONFIG" "$PARAMETERS_FILE" "${addresses[@]}" 2>&1); then
  fail "cannot tell which node this is: ${node##*$'\n'}" \
    "compare the addresses of this node with CustomerIpAddress in $RESOURCE_CONFIG"
fi
ensure_file "$NODE_FILE" <<<"$node"
log "this node is described in $NODE_FILE"
