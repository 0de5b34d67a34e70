#!/bin/bash
# Makes files, folders and links be as they should. An equal one is left alone, another one is replaced as a whole.
# For places that only root may write: in a user's folder, somebody could swap a name for a link.

# Follows the name of what is being written. What a killed run left under it goes with the next run.
NEW_FILE=.hyperpod-new

remove_left_overs() {
  rm -rf "$1$NEW_FILE."*
}

# cannot PATH ACTION ERROR: ends the step with what helps against the error.
cannot() {
  local remedy="see who owns $1 and which file system it is on"
  case $3 in
    *'No space left'* | *'Disk quota'*) remedy="free space on the file system of $1 (df -h, df -i), or give it a larger volume" ;;
    *'Read-only'*) remedy="the file system of $1 is read-only: look at dmesg, and replace the node if its disk failed" ;;
    *'Not a directory'* | *'File exists'* | *'Is a directory'*) remedy="something else is in the way: move it and run again" ;;
  esac
  fail "cannot $2 $1: ${3##*: }" "$remedy"
}

# ensure_directory PATH [MODE [OWNER]]: a new one has mode 0755 and is root's. One that is there, or a link to one, keeps what
# is not asked for: /fsx may be open to all users on purpose.
ensure_directory() {
  local path=$1 mode=${2:-} owner=${3:-} error
  if [[ ! -d $path ]] && ! error=$(mkdir -p "$path" 2>&1); then
    cannot "$path" "make the folder" "$error"
  fi
  if [[ -n $mode && ! -L $path && $(stat -c %04a "$path") != "$mode" ]]; then
    chmod "$mode" "$path"
  fi
  if [[ -n $owner && $(stat -c %U:%G "$path") != "$owner" ]]; then
    chown "$owner" "$path"
  fi
}

# not_roots_alone PATH [sticky]: fails, and says why, where others than root decide what PATH leads to: on shared storage,
# users may write folders on the way. With `sticky`, others may make names of their own in the folder PATH.
not_roots_alone() {
  python3 -I -S "$LIBRARY/trusted_path.py" "$ROOT" "$1${2:+/.}" 2>&1
}

# ensure_root_directory PATH: a folder where root alone makes names, and that nobody else can replace.
ensure_root_directory() {
  local path=$1 why
  if ! why=$(not_roots_alone "$path"); then
    fail "$why" "chown root and chmod go-w what is named here (who writes there leads root elsewhere), or name another folder"
  fi
  ensure_directory "$path"
  # Where all may write the folder above, somebody may just have made it.
  if ! why=$(not_roots_alone "$path"); then
    fail "$why" "chown root and chmod go-w what is named here (who writes there leads root elsewhere), or name another folder"
  fi
}

# ensure_file PATH [MODE [OWNER]]: makes PATH hold standard input; MODE 0644 by default, OWNER whoever runs this. Where PATH
# is a link, it is the file that the link leads to.
ensure_file() {
  local path=$1 mode=${2:-0644} owner=${3:-} new error
  if [[ -L $path ]]; then
    path=$(readlink -m "$path")
  fi
  if [[ -d $path ]]; then
    cannot "$path" write "Is a directory"
  fi
  remove_left_overs "$path"
  if ! new=$(mktemp "$path$NEW_FILE.XXXXXX" 2>&1); then
    cannot "$path" write "$new"
  fi
  if ! error=$({ cat >"$new" && hand_over "$new" "$owner" && chmod "$mode" "$new"; } 2>&1); then
    rm -f "$new"
    cannot "$path" write "$error"
  fi
  if [[ -f $path ]] && cmp -s "$new" "$path" && [[ $(stat -c %04a "$path") == "$mode" ]] &&
    [[ $(owner_of "$path") == "$(owner_of "$new")" ]]; then
    rm -f "$new"
    return 0
  fi
  mv -fT "$new" "$path"
}

# ensure_line PATH LINE: makes PATH, which may not be there, hold LINE once. Mends a last line that has no end.
ensure_line() {
  local path=$1 line=$2
  [[ -f $path ]] || path=$(readlink -m "$path")
  if [[ -f $path && -z $(tail -c 1 "$path") ]] && grep -qxF -e "$line" "$path"; then
    return 0
  fi
  {
    if [[ -f $path ]]; then
      # awk ends each line, the last one too.
      line=$line awk '$0 != ENVIRON["line"]' "$path"
    fi
    printf '%s\n' "$line"
  } | ensure_file "$path" "$(mode_of "$path")" "$(owner_of "$path")"
}

# ensure_block PATH NAME: makes PATH, which may not be there, hold standard input between two marks that name NAME, in
# place of what was between them. Empty input takes block and marks out.
ensure_block() {
  local path=$1 begin="# BEGIN hyperpod $2" end="# END hyperpod $2" block
  block=$(cat)
  {
    if [[ -f $path ]]; then
      # Without its end mark a block would reach to the end of the file: then only the mark goes.
      begin=$begin end=$end awk '
        $0 == ENVIRON["begin"] { printf "%s", kept; kept = ""; inside = 1; next }
        $0 == ENVIRON["end"] { kept = ""; inside = 0; next }
        inside { kept = kept $0 "\n"; next }
        { print }
        END { printf "%s", kept }
      ' "$path"
    fi
    if [[ -n $block ]]; then
      printf '%s\n%s\n%s\n' "$begin" "$block" "$end"
    fi
  } | ensure_file "$path" "$(mode_of "$path")" "$(owner_of "$path")"
}

mode_of() {
  if [[ -f $1 ]]; then
    stat -L -c %04a "$1"
  else
    printf '0644\n'
  fi
}

# hand_over PATH OWNER: where it is not OWNER's already; nothing without one.
hand_over() {
  if [[ -n $2 && $(owner_of "$1") != "$2" ]]; then
    chown "$2" "$1"
  fi
}

# owner_of PATH: numbers of the owner and the group; nothing where there is no file.
owner_of() {
  if [[ -f $1 ]]; then
    stat -L -c %u:%g "$1"
  fi
}

# ensure_link TARGET PATH: makes PATH a link to TARGET. A file or folder in its place is not removed.
ensure_link() {
  local target=$1 path=$2 error
  if [[ -L $path && $(readlink "$path") == "$target" ]]; then
    return 0
  fi
  if [[ -e $path && ! -L $path ]]; then
    cannot "$path" "make a link of" "File exists"
  fi
  remove_left_overs "$path"
  if ! error=$({ ln -s "$target" "$path$NEW_FILE.link" && mv -fT "$path$NEW_FILE.link" "$path"; } 2>&1); then
    cannot "$path" "make a link of" "$error"
  fi
}

# ensure_copy SOURCE PATH [MODE]
ensure_copy() {
  ensure_file "$2" "${3:-0644}" <"$1"
}

# ensure_absent PATH: for a file or a link, never a folder.
ensure_absent() {
  rm -f "$1"
}
