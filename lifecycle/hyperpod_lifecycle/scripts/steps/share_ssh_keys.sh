#!/bin/bash
# SSH between the nodes, without questions and without turning checks off: each user has a key pair in their home on
# shared storage, which lets them in on every node; each node publishes its host keys on shared storage, where every
# node looks them up.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/users.sh
. "$here/lib/users.sh"

# ensure_user_keys NAME UID HOME: as that user, who may make links in their home, and whom a root squash lets write there.
# Says what is in the way: a user who breaks their own home must not keep nodes from coming up.
ensure_user_keys() {
  local name=$1 uid=$2 home=$3 said
  said=$(home_fault "$uid" "$home")
  if [[ -n $said ]]; then
    printf '%s\n' "$said"
  # Without the descriptors of this run, whose lock would be the user's to hold, and without the terminal of the operator who
  # started it: a user may take over what runs as them (ptrace), and type into that terminal.
  elif ! said=$(setsid --wait timeout --kill-after=5 60 setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    python3 -I -S - "$ROOT$home" "$name@$cluster" "$instance" 2>&1 8>&- 9>&- <"$here/lib/user_keys.py"); then
    said=${said##*$'\n'}
    printf '%s\n' "${said:-$home does not answer}"
  fi
}

publish_host_keys() {
  local shared=$1 address name keys key
  address=$(node_fact ip_address)
  name=$(hostname)
  # Without the domain, as Slurm calls it.
  name=${name%%.*}
  keys=$(cat "$ROOT"/etc/ssh/ssh_host_*_key.pub 2>/dev/null) ||
    fail "this node has no SSH host keys" "make them with ssh-keygen -A, then run again"
  # Slurm's names are such. Whatever else it may be is no name of a file, and may be that of other nodes as well.
  if [[ ! $name =~ ^[[:alnum:]][[:alnum:]_-]*$ || $name == localhost ]]; then
    log "this node is called '$name': others find its host keys by its address only"
    name=""
  fi
  key=$(awk -v names="$address${name:+,$name}" '{ print names, $1, $2 }' <<<"$keys")
  ensure_root_directory "$ROOT$shared"
  ensure_root_directory "$ROOT$shared/host-keys"
  ensure_file "$ROOT$shared/host-keys/$address" <<<"$key"
  if [[ -n $name ]]; then
    ensure_file "$ROOT$shared/host-keys/$name" <<<"$key"
  fi
}

# It must answer with success for hosts that it does not know, else ssh gives up.
look_up_host_keys() {
  local folder=$1/host-keys
  # Within quotes of its own: what the path holds is no code.
  folder=\'${folder//\'/\'\\\'\'}\'
  ensure_file "$STATE_FOLDER/known-host" 0755 <<END
#!/bin/sh
# Prints the host keys of a node of this cluster, for ssh.
case \$1 in
  */* | .*) ;;
  *) timeout 5 cat $folder/"\$1" 2>/dev/null ;;
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
without=""
file=$(parameter users_file)
if [[ -n $file && -e $ROOT$file ]]; then
  users=$(read_users "$file")
  while IFS=, read -r name uid home; do
    if [[ -n $name ]]; then
      fault=$(ensure_user_keys "$name" "$uid" "$home")
      if [[ -n $fault ]]; then
        without+="${without:+; }$name: $fault"
      fi
    fi
  done <<<"$users"
fi
publish_host_keys "$shared"
look_up_host_keys "$shared"
if [[ -n $without ]]; then
  note_health warning ssh "SSH between nodes: host keys of this node are in $shared/host-keys; no keys of $without"
else
  note_health ok ssh "SSH between nodes: host keys of this node are in $shared/host-keys"
fi
