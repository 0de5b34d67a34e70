#!/bin/bash
# Users and their home folders from a file on shared storage, a line each: NAME,UID,HOME. The same number on every node
# makes files on shared storage belong to the same user everywhere. Who is no longer in the file stays: taking away an
# account is for a person to decide.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=../lib/users.sh
. "$here/lib/users.sh"

# change_accounts COMMAND...: others change accounts too while a node boots, and some changes wait for processes to end.
change_accounts() {
  local said
  if ! said=$(retry 3 5 "$@" 2>&1); then
    fail "$1 does not change ${*: -1}: ${said##*$'\n'}" \
      "see who uses the account (ps -u ${*: -1}) or changes accounts as well (fuser /etc/passwd.lock), then run again"
  fi
}

# ensure_user NAME UID HOME
ensure_user() {
  local name=$1 uid=$2 home=$3 account
  if account=$(getent passwd "$name"); then
    if [[ $(cut -d : -f 3 <<<"$account") != "$uid" ]]; then
      fail "the user $name has number $(cut -d : -f 3 <<<"$account") on this node, and $uid in $file" \
        "give $name the number that owns their files, in the file or on the node"
    fi
    if [[ $(cut -d : -f 6 <<<"$account") != "$home" ]]; then
      change_accounts usermod --home "$home" "$name"
    fi
    return 0
  fi
  if account=$(getent passwd "$uid"); then
    fail "number $uid of $name belongs to ${account%%:*} on this node" "choose another number in $file"
  fi
  if ! account=$(getent group "$name"); then
    if account=$(getent group "$uid"); then
      fail "number $uid of $name is that of the group ${account%%:*} on this node" "choose another number in $file"
    fi
    change_accounts groupadd --gid "$uid" "$name"
  elif [[ $(cut -d : -f 3 <<<"$account") != "$uid" ]]; then
    fail "the group $name has number $(cut -d : -f 3 <<<"$account") on this node, and needs $uid" "choose another name in $file"
  fi
  change_accounts useradd --uid "$uid" --gid "$uid" --home-dir "$home" --no-create-home --shell /bin/bash "$name"
}

# ensure_home UID HOME: there as a whole or not at all, also when two nodes make it at once.
ensure_home() {
  local uid=$1 home=$ROOT$2 new
  if [[ -d $home ]]; then
    return 0
  fi
  # Another node may be making the same one: a name of this node's own.
  new=$home$NEW_FILE.$(node_fact instance_id)
  rm -rf "$new"
  ensure_directory "${home%/*}"
  # A folder that was not there, which root alone may enter until it is complete: others may write the one above.
  if mkdir --mode=0700 "$new" 2>/dev/null; then
    if [[ -d $ROOT/etc/skel ]]; then
      cp -rT "$ROOT/etc/skel" "$new"
    fi
    chown -R --no-dereference "$uid:$uid" "$new"
    mv -T "$new" "$home" 2>/dev/null || rm -rf "$new"
  fi
  if [[ ! -d $home && ! -L $home ]]; then
    fail "cannot make the home folder $2" "see whether its file system is full or read-only"
  fi
}

file=$(parameter users_file)
if [[ -z $file ]]; then
  skip "no users_file: this cluster adds no users"
fi
if [[ ! -e $ROOT$file ]]; then
  note_health warning users "$file is not there yet, so no user was added: put it there and run sudo bash \
/opt/hyperpod/scripts/steps/add_users.sh on each node"
  exit 0
fi
users=$(read_users "$file")
count=0
left_out=""
while IFS=, read -r name uid home; do
  [[ -n $name ]] || continue
  fault=$(home_fault "$uid" "$home")
  if [[ -n $fault ]]; then
    left_out+="${left_out:+; }$name, since $fault"
    continue
  fi
  ensure_user "$name" "$uid" "$home"
  ensure_home "$uid" "$home"
  # Where all may make names, somebody may have been faster.
  fault=$(home_fault "$uid" "$home")
  if [[ -n $fault ]]; then
    left_out+="${left_out:+; }$name, since $fault"
    continue
  fi
  count=$((count + 1))
done <<<"$users"
if [[ -n $left_out ]]; then
  note_health warning users "users of $file on this node: $count; left out: $left_out"
else
  note_health ok users "users of $file on this node: $count"
fi
