#!/bin/bash
# Shared by every script of the bundle: sourced, never run.
#
#   here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
#   . "$here/lib/common.sh"
#
# Whatever a script does, it may be killed after any line and run again from its first: write with the ensure verbs,
# which change a file as a whole or not at all and leave an equal one alone.
set -Eeuo pipefail

# Where the node's files begin. Only tests set it, and then the PATH leads to their stand-ins alone.
ROOT=${PROVISION_ROOT:-}

# A lifecycle script gets whatever environment the agent has: none of it may decide what a node becomes.
if [[ -z $ROOT ]]; then
  PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
fi
export PATH HOME=${HOME:-/root} LC_ALL=C DEBIAN_FRONTEND=noninteractive
umask 022

# shellcheck disable=SC2034 # the constants are read by the other files and by the steps
{
  # What the lines of the log begin with: the script that runs.
  PROVISION_STEP=${0##*/}
  PROVISION_STEP=${PROVISION_STEP%.sh}
  LIBRARY=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
  BUNDLE=${LIBRARY%/lib}
  LOG_FILE=$ROOT/var/log/provision/provisioning.log
  STATE_FOLDER=$ROOT/opt/hyperpod
  NODE_FILE=$STATE_FOLDER/node.json
  RESOURCE_CONFIG=${SAGEMAKER_RESOURCE_CONFIG_PATH:-$ROOT/opt/ml/config/resource_config.json}
  PARAMETERS_FILE=$BUNDLE/parameters.json
  MOUNTS_FILE=$ROOT/proc/self/mounts
}

# The folder that a script starts in is a temporary one of the agent, and goes.
cd /

# shellcheck source=log.sh
. "$LIBRARY/log.sh"
# shellcheck source=retry.sh
. "$LIBRARY/retry.sh"
# shellcheck source=files.sh
. "$LIBRARY/files.sh"
# shellcheck source=values.sh
. "$LIBRARY/values.sh"
# shellcheck source=health.sh
. "$LIBRARY/health.sh"
# shellcheck source=services.sh
. "$LIBRARY/services.sh"
# shellcheck source=packages.sh
. "$LIBRARY/packages.sh"
# shellcheck source=mounts.sh
. "$LIBRARY/mounts.sh"
# shellcheck source=steps.sh
. "$LIBRARY/steps.sh"

start_script
