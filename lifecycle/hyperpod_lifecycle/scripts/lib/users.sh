#!/bin/bash
# Users of the cluster and their homes on shared storage. Sourced after common.sh. What a user can bring about in the
# folders that they may write must neither make them root nor keep a node from coming up.

# read_users FILE: NAME,UID,HOME a line.
read_users() {
  local file=$1 said
  # Whoever writes this file makes accounts on every node.
  if ! said=$(not_roots_alone "$ROOT$file") || ! said=$(python3 -I -S "$LIBRARY/users.py" "$ROOT$file" 2>&1); then
    fail "$file is not right: ${said//$'\n'/; }" "correct it and run again"
  fi
  printf '%s\n' "$said"
}

# home_fault UID HOME: why this cannot be the home of this user, or nothing.
home_fault() {
  local uid=$1 home=$2 owner said
  if [[ -L $ROOT$home ]]; then
    printf '%s is a link\n' "$home"
  elif [[ -d $ROOT$home ]]; then
    owner=$(stat -c %u "$ROOT$home")
    if [[ $owner != "$uid" && $owner != 0 && $owner != "$EUID" ]]; then
      printf '%s belongs to user %s\n' "$home" "$owner"
    fi
  elif [[ -e $ROOT$home ]]; then
    printf '%s is no folder\n' "$home"
  # Below a folder of another's, or in one that all may write, a link could be in the way at any moment.
  elif ! said=$(not_roots_alone "$ROOT${home%/*}" sticky); then
    printf '%s\n' "$said"
  fi
}
