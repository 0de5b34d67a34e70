#!/bin/bash
# SSH between the nodes, without questions and without turning checks off: each user has a key pair in their home on
# shared storage, which lets them in on every node; each node publishes its host keys on shared storage, where every
# node looks them up.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"

# ensure_user_keys NAME UID HOME: as that user, who may make links in their home, and whom a root squash lets write there.
ensure_user_keys() {
  local name=$1 uid=$2 home=$3 said
  if ! said=$(cd "$ROOT$home" && setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    python3 -I -S - "$ROOT$home" "$name@$cluster" "$instance" 2>&1 <"$here/lib/user_keys.py"); then
    fail "cannot make SSH keys of $name in $home: ${said##*$'\n'}" "see who owns $home/.ssh and what is in it"
  fi
}

publish_host_keys() {
  local shared=$1 address name keys key folder
  address=$(node_fact ip_address)
  name=$(hostname)
  # Without the domain, as Slurm calls it.
  name=${name%%.*}
  keys=$(cat "$ROOT"/etc/ssh/ssh_host_*_key.pub 2>/dev/null) ||
    fail "this node has no SSH host keys" "make them with ssh-keygen -A, then run again"
  key=$(awk -v names="$address,$name" '{ print names, $1, $2 }' <<<"$keys")
  ensure_directory "$ROOT$shared"
  ensure_directory "$ROOT$shared/host-keys"
  for folder in "$shared" "$shared/host-keys"; do
    if ! only_root_writes "$ROOT$folder"; then
      fail "$folder can be written by others than root, who could then pretend to be a node" \
        "make it root's (chown root:root $folder; chmod go-w $folder), or name another shared_folder"
    fi
  done
  ensure_file "$ROOT$shared/host-keys/$address" <<<"$key"
  ensure_file "$ROOT$shared/host-keys/$name" <<<"$key"
}

# It must answer with success for hosts that it does not know, else ssh gives up.
look_up_host_keys() {
  local shared=$1
  ensure_file "$STATE_FOLDER/known-host" 0755 <<END
#!/bin/sh
# Prints the host keys of a node of this cluster, for ssh.
case \$1 in
  */* | .*) ;;
  *) timeout 5 cat "$shared/host-keys/\$1" 2>/dev/null ;;
esac
exit 0
END
  ensure_directory "$ROOT/etc/ssh/ssh_config.d"
  # Before version 8.5 ssh would refuse the option, and with it every connection.
  ensure_file "$ROOT/etc/ssh/ssh_config.d/10-hyperpod.conf" <<'END'
Host ip-* 10.* 172.* 192.168.*
    IgnoreUnknown KnownHostsCommand
    KnownHostsCommand /opt/hyperpod/known-host %H
END
}

shared=$(parameter shared_folder)
if [[ -z $shared ]]; then
  skip "no shared_folder: the nodes share no SSH keys"
fi
cluster=$(node_fact cluster_name)
instance=$(node_fact instance_id)
file=$(parameter users_file)
if [[ -n $file && -e $ROOT$file ]]; then
  if ! users=$(python3 -I -S "$here/lib/users.py" "$ROOT$file" 2>&1); then
    fail "$file is not right: ${users//$'\n'/; }" "correct it and run again"
  fi
  while IFS=, read -r name uid home; do
    if [[ -n $name ]]; then
      ensure_user_keys "$name" "$uid" "$home"
    fi
  done <<<"$users"
fi
publish_host_keys "$shared"
look_up_host_keys "$shared"
note_health ok ssh "SSH between nodes: host keys of this node are in $shared/host-keys"
