#!/bin/bash
# HyperPod sends what these scripts print to CloudWatch, and nothing else. Where parameters.json lists further files,
# the CloudWatch agent sends them to the cluster's own log group, which every node's role may write.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

AGENT=amazon-cloudwatch-agent
AGENT_CONTROL=$ROOT/opt/aws/$AGENT/bin/$AGENT-ctl
AGENT_CONFIGURATION=$STATE_FOLDER/log-shipping.json

RECORDS=/opt/hyperpod/records

# gather_records FOLDER: jobs of users write there, so that the agent reads copies.
gather_records() {
  ensure_directory "$ROOT$RECORDS" 0700
  ensure_copy "$LIBRARY/gather_records.py" "$STATE_FOLDER/gather_records.py" 0755
  ensure_file "$STATE_FOLDER/records-folder" <<<"$1"
  ensure_timer hyperpod-records minutely "Gather records of recoveries" <<END
[Unit]
Description=Copy records of recoveries for the CloudWatch agent

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -I -S /opt/hyperpod/gather_records.py /opt/hyperpod/records-folder $RECORDS
TimeoutStartSec=300
END
}

keep_the_log_small() {
  ensure_directory "$ROOT/etc/logrotate.d"
  ensure_file "$ROOT/etc/logrotate.d/hyperpod-provisioning" <<'END'
/var/log/provision/provisioning.log {
    size 10M
    rotate 5
    compress
    missingok
    notifempty
}
END
}

keep_the_log_small
wanted=$(parameter log_shipping files)
records=
# The folder is on a file system that all nodes share, and what several sent would count several times.
if [[ $(node_fact instance_group) == "$(parameter log_shipping records group)" ]]; then
  records=$(parameter log_shipping records folder)
fi
if [[ -z $wanted$records ]]; then
  skip "no log_shipping: CloudWatch gets what these scripts print, and no other log of this node"
fi
if [[ ! -f $NODE_FILE ]]; then
  note_health warning log_shipping "nobody knows which node this is, so that no further log is sent: see identify_node above"
  exit 0
fi
if [[ ! -x $AGENT_CONTROL ]]; then
  note_health warning log_shipping "the CloudWatch agent is not on this node, so that no further log is sent: put it \
into the image ($AGENT), or leave out log_shipping"
  exit 0
fi
if [[ -n $records ]]; then
  gather_records "$records"
  records=$RECORDS
fi
if ! configuration=$(python3 -I -S "$here/lib/log_shipping.py" "$NODE_FILE" "${wanted:-"{}"}" "$records" 2>&1); then
  fail "cannot tell which logs to send: ${configuration##*$'\n'}" "correct log_shipping in the cluster's specification"
fi
ensure_file_of "$AGENT" "$AGENT_CONFIGURATION" <<<"$configuration"
if [[ -e $RESTARTS_FOLDER/$AGENT ]]; then
  # The agent copies the file and starts with it, under systemd, now and at every boot.
  if ! said=$("$AGENT_CONTROL" -a append-config -m auto -s -c "file:$AGENT_CONFIGURATION" 2>&1); then
    fail "the CloudWatch agent takes no configuration: ${said##*$'\n'}" "read /opt/aws/$AGENT/logs on the node"
  fi
  rm -f "$RESTARTS_FOLDER/$AGENT"
fi
note_health ok log_shipping "CloudWatch gets: $(python3 -I -S -c '
import json, sys
print(", ".join(one["file_path"] for one in json.load(sys.stdin)["logs"]["logs_collected"]["files"]["collect_list"]))
' <<<"$configuration")"
