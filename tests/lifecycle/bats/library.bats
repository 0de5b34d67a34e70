#!/usr/bin/env bats
# The shared library: each ensure verb from every state that it may find, twice, and what it says when it cannot.

load node

@test "ensure_file writes a file whole, and leaves an equal one alone" {
  provision 'ensure_file "$FILE" <<<"one"'
  succeeds
  holds "$FILE" 'one\n'
  before=$(stat -c '%i %Y %a' "$FILE")
  provision 'ensure_file "$FILE" <<<"one"'
  [ "$(stat -c '%i %Y %a' "$FILE")" = "$before" ]
  provision 'ensure_file "$FILE" 0600 <<<"one"'
  [ "$(stat -c %a "$FILE")" = 600 ]
  [ "$(ls -A "$PROVISION_ROOT/etc")" = file ]
}

@test "ensure_file clears what a killed run left" {
  echo half >"$FILE.hyperpod-new.aB3xYz"
  provision 'ensure_file "$FILE" <<<"one"'
  succeeds
  [ "$(ls -A "$PROVISION_ROOT/etc")" = file ]
}

@test "ensure_file writes the file that a link leads to, and keeps the link" {
  ln -s elsewhere "$FILE"
  provision 'ensure_file "$FILE" <<<"one"'
  succeeds
  [ -L "$FILE" ]
  holds "$PROVISION_ROOT/etc/elsewhere" 'one\n'
}

@test "ensure_file in the place of a folder ends the step" {
  mkdir "$FILE"
  provision 'ensure_file "$FILE" <<<"one"'
  fails_with "/etc/file: Is a directory; remedy: something else is in the way"
}

@test "ensure_file in a folder that is not there ends the step" {
  provision 'ensure_file "$ROOT/none/file" <<<"one"'
  fails_with "No such file or directory"
}

@test "ensure_line adds a line once, and mends a last line without an end" {
  printf 'first' >"$FILE"
  provision 'ensure_line "$FILE" "second line"'
  succeeds
  holds "$FILE" 'first\nsecond line\n'
  provision 'ensure_line "$FILE" "second line"'
  holds "$FILE" 'first\nsecond line\n'
}

@test "ensure_line finds the line where it is the last and has no end" {
  printf 'first\nsecond' >"$FILE"
  provision 'ensure_line "$FILE" second'
  succeeds
  holds "$FILE" 'first\nsecond\n'
}

@test "ensure_line takes a line that looks like a pattern or an option for what it is" {
  printf 'axb\n' >"$FILE"
  provision 'ensure_line "$FILE" "a.b"; ensure_line "$FILE" "-e"; ensure_line "$FILE" "back\slash"'
  succeeds
  holds "$FILE" 'axb\na.b\n-e\nback\\slash\n'
}

@test "ensure_line keeps the mode, and makes a file that is not there" {
  provision 'ensure_line "$FILE" one'
  [ "$(stat -c %a "$FILE")" = 644 ]
  chmod 600 "$FILE"
  provision 'ensure_line "$FILE" two'
  succeeds
  [ "$(stat -c %a "$FILE")" = 600 ]
}

@test "ensure_block replaces what is between its marks, and nothing else" {
  printf 'before' >"$FILE"
  provision 'ensure_block "$FILE" x <<<"one"; ensure_block "$FILE" y <<<"other"; ensure_block "$FILE" x <<<"two"'
  succeeds
  grep -qx before "$FILE"
  grep -qx other "$FILE"
  grep -qx two "$FILE"
  lacks one "$FILE"
  cp "$FILE" "$BATS_TEST_TMPDIR/once"
  provision 'ensure_block "$FILE" y <<<"other"; ensure_block "$FILE" x <<<"two"; ensure_block "$FILE" y <<<"other"'
  grep -c 'BEGIN hyperpod' "$FILE" | grep -qx 2
}

@test "ensure_block without content takes the block out" {
  printf 'before\n' >"$FILE"
  provision 'ensure_block "$FILE" x <<<"one"; ensure_block "$FILE" x </dev/null'
  succeeds
  holds "$FILE" 'before\n'
}

@test "ensure_directory follows a link, sets a mode, and says what is in the way" {
  mkdir "$PROVISION_ROOT/real"
  ln -s real "$PROVISION_ROOT/link"
  provision 'ensure_directory "$ROOT/link"; ensure_directory "$ROOT/new/deep" 0750'
  succeeds
  [ -L "$PROVISION_ROOT/link" ]
  [ "$(stat -c %a "$PROVISION_ROOT/new/deep")" = 750 ]
  touch "$FILE"
  provision 'ensure_directory "$FILE/below"'
  fails_with "something else is in the way"
}

@test "ensure_block whose end mark somebody took out leaves what follows alone" {
  printf 'a\n# BEGIN hyperpod x\nold\nb\n' >"$FILE"
  provision 'ensure_block "$FILE" x <<<"new"; ensure_block "$FILE" x <<<"new"'
  succeeds
  holds "$FILE" 'a\nold\nb\n# BEGIN hyperpod x\nnew\n# END hyperpod x\n'
}

@test "a line of the log is one line, and steers no terminal" {
  provision 'log "one"$'"'"'\ntwo\r2026: FAILED\033[2J'"'"'"é"'
  succeeds
  [ "${#lines[@]}" -eq 1 ]
  [[ ${lines[0]} == *" tried: one; two 2026: FAILED [2Jé" ]]
}

@test "nobody but root may hold the lock of a run" {
  provision 'log "run"'
  [ "$(stat -c %a "$PROVISION_ROOT/opt/hyperpod/.lock")" = 600 ]
  chmod 644 "$PROVISION_ROOT/opt/hyperpod/.lock"
  provision 'log "run"'
  [ "$(stat -c %a "$PROVISION_ROOT/opt/hyperpod/.lock")" = 600 ]
}

@test "ensure_directory leaves the mode of a folder alone that is there, unless asked" {
  mkdir -m 1777 "$PROVISION_ROOT/open"
  provision 'ensure_directory "$ROOT/open"'
  succeeds
  [ "$(stat -c %a "$PROVISION_ROOT/open")" = 1777 ]
  provision 'ensure_directory "$ROOT/open" 0700'
  [ "$(stat -c %a "$PROVISION_ROOT/open")" = 700 ]
}

@test "not_roots_alone says what others than root can write, and takes a sticky folder on the way" {
  mkdir -p "$PROVISION_ROOT"/{closed,group,all,sticky}/in
  chmod 775 "$PROVISION_ROOT/group"
  chmod 777 "$PROVISION_ROOT/all"
  chmod 1777 "$PROVISION_ROOT/sticky"
  provision 'for name in closed closed/in closed/none/yet group group/in all/in sticky sticky/in; do
    if not_roots_alone "$ROOT/$name"; then log "$name"; fi; done
    not_roots_alone "$ROOT/sticky" sticky && log "below sticky"
    not_roots_alone "$ROOT/all" sticky || true'
  succeeds
  [ "$(sed 's/.*: //' <<<"$output" | paste -sd ,)" = "closed,closed/in,closed/none/yet,run chmod go-w on it,\
run chmod +t on it,run chmod +t on it,run chmod go-w on it,sticky/in,below sticky,run chmod +t on it" ]
}

@test "not_roots_alone follows links, and takes none of another user" {
  mkdir -p "$PROVISION_ROOT"/{closed,all/in,sticky}
  chmod 777 "$PROVISION_ROOT/all"
  chmod 1777 "$PROVISION_ROOT/sticky"
  ln -s ../all/in "$PROVISION_ROOT/closed/out"
  ln -s circle "$PROVISION_ROOT/closed/circle"
  ln -s "$PROVISION_ROOT/closed" "$PROVISION_ROOT/sticky/own"
  provision 'not_roots_alone "$ROOT/closed/out" || true; not_roots_alone "$ROOT/closed/circle" || true
    not_roots_alone "$ROOT/sticky/own/none" && log fine'
  succeeds
  [[ ${lines[0]} == "/all can be written by others than root: "* ]]
  [[ ${lines[1]} == "/closed/circle is a link in a circle" ]]
  [[ ${lines[2]} == *": fine" ]]
  if [ "$(id -u)" = 0 ]; then
    chown -h 4242 "$PROVISION_ROOT/sticky/own"
    provision 'not_roots_alone "$ROOT/sticky/own/none"'
    [[ ${lines[0]} == "/sticky/own belongs to user 4242: make it root's (chown root)" ]]
  fi
}

@test "ensure_link makes and moves a link, and removes no file or folder" {
  provision 'ensure_link one "$FILE"; ensure_link two "$FILE"; ensure_link two "$FILE"'
  succeeds
  [ "$(readlink "$FILE")" = two ]
  rm "$FILE"
  mkdir "$FILE"
  provision 'ensure_link one "$FILE"'
  fails_with "something else is in the way"
  [ -d "$FILE" ]
}

@test "ensure_link replaces a link to a folder, and puts nothing into the folder" {
  mkdir "$PROVISION_ROOT/etc/folder"
  ln -s folder "$FILE"
  provision 'ensure_link other "$FILE"'
  succeeds
  [ "$(readlink "$FILE")" = other ]
  [ -z "$(ls -A "$PROVISION_ROOT/etc/folder")" ]
}

@test "a service is restarted after a change of its file, and only then" {
  provision 'ensure_file_of docker "$FILE" <<<"one"; ensure_service docker'
  succeeds
  first=$(cat "$PROVISION_ROOT/var/lib/stand-ins/systemd/docker.running")
  provision 'ensure_file_of docker "$FILE" <<<"one"; [[ ! -e $RESTARTS_FOLDER/docker ]]; ensure_service docker'
  succeeds
  provision 'ensure_file_of docker "$FILE" <<<"two"; [[ -e $RESTARTS_FOLDER/docker ]]; ensure_service docker'
  succeeds
  lacks "$first" "$PROVISION_ROOT/var/lib/stand-ins/systemd/docker.running"
}

@test "a service is restarted when the run was killed between change and restart" {
  provision 'ensure_file_of docker "$FILE" <<<"one"; ensure_service docker'
  old=$(cat "$PROVISION_ROOT/var/lib/stand-ins/systemd/docker.running")
  provision 'ensure_file_of docker "$FILE" <<<"two"; kill -KILL $$'
  [ "$status" -eq 137 ]
  provision 'ensure_file_of docker "$FILE" <<<"two"; ensure_service docker'
  succeeds
  [ "$(cat "$PROVISION_ROOT/var/lib/stand-ins/systemd/docker.running")" != "$old" ]
}

@test "a service that does not start ends the step" {
  mkdir -p "$PROVISION_ROOT/var/lib/stand-ins/systemd"
  touch "$PROVISION_ROOT/var/lib/stand-ins/systemd/docker.broken"
  provision 'ensure_service docker'
  fails_with "the service docker does not start: Job for docker.service failed.; remedy: read journalctl -u docker"
}

@test "a service that is not in the image ends the step" {
  mkdir -p "$PROVISION_ROOT/var/lib/stand-ins/systemd"
  touch "$PROVISION_ROOT/var/lib/stand-ins/systemd/docker.missing"
  provision 'ensure_service docker'
  fails_with "the service docker cannot be enabled: Failed to enable unit: Unit file docker.service does not exist.; remedy: see"
}

@test "retry runs a command again until it succeeds" {
  provision 'count=0; third() { count=$((count + 1)); ((count == 3)); }; retry 5 1 third; log "ran $count times"'
  succeeds
  [[ $output == *"ran 3 times"* ]]
}

@test "retry gives up with the status of the command, and does not pause after the last time" {
  export PROVISION_RETRY_ATTEMPTS=3
  provision 'nine() { log tried; return 9; }; retry 100 1 nine || log "status $?"'
  succeeds
  [ "$(grep -c ': tried$' <<<"$output")" -eq 3 ]
  [[ $output == *"status 9" ]]
}

@test "retry pauses for twice as long each time, up to a minute" {
  unset PROVISION_RETRY_PAUSE
  provision 'sleep() { log "slept $1"; }; RANDOM=0; retry 7 5 false || true'
  succeeds
  pauses=$(sed -n 's/.*slept //p' <<<"$output" | paste -sd ' ')
  set -- $pauses
  [ $# -eq 6 ]
  for least in 5 10 20 40 60 60; do
    [ "$1" -ge "$least" ] && [ "$1" -le $((least + least / 2)) ]
    shift
  done
}

@test "fail within a command substitution says so once, and ends the step" {
  provision 'value=$(fail "no value" "set one"); log "went on with $value"'
  fails_with "no value; remedy: set one"
  [ "${#lines[@]}" -eq 1 ]
}

@test "what nobody foresaw names command, file and line" {
  provision 'log before; ls "$ROOT/none"; log after'
  fails_with "status 2 of 'ls \"\$ROOT/none\"' in tried.sh, line 3; remedy: read the lines above"
}

@test "a program that ends as fail does is not taken for it" {
  provision 'log before; bash -c "exit 70"'
  fails_with "status 70 of 'bash -c"
  [ "${#lines[@]}" -eq 2 ]
}

@test "an unset variable does not pass for an empty one" {
  provision 'rm -rf "$ROOT/$never_set"; log after'
  [ "$status" -eq 70 ]
  [[ $output == *"never_set: unbound variable"* ]]
  [ -d "$PROVISION_ROOT/etc" ]
}

@test "a value may be absent, and one that must be there ends the step" {
  printf '{"a": {"b.c": [1, "two", {"z": 1}]}, "no": false}' >"$BUNDLE/parameters.json"
  provision 'log "[$(parameter a b.c | paste -sd ,)] [$(parameter no)] [$(parameter a none)] [$(parameter none deep)]"'
  succeeds
  [[ $output == *'[1,two,{"z": 1}] [false] [] []' ]]
  provision 'value=$(required_parameter a none)'
  fails_with "no a.none in $BUNDLE/parameters.json"
}

@test "apt_install installs what is pinned, once" {
  provision 'apt_install tree=2.0.2-1; apt_install tree=2.0.2-1'
  succeeds
  [ "$(grep -c installed <<<"$output")" -eq 1 ]
  [ "$(cat "$PROVISION_ROOT/var/lib/stand-ins/packages")" = "tree 2.0.2-1" ]
  provision 'apt_install tree=2.1.0-1'
  [ "$(cat "$PROVISION_ROOT/var/lib/stand-ins/packages")" = "tree 2.1.0-1" ]
}

@test "apt_install refuses a package without a version" {
  provision 'apt_install tree'
  fails_with "got the package tree without a version; remedy: pin it"
}

@test "apt_install says who keeps the lock, and installs once it is free" {
  export PROVISION_RETRY_ATTEMPTS=2
  mkdir -p "$PROVISION_ROOT/var/lib/stand-ins"
  touch "$PROVISION_ROOT/var/lib/stand-ins/apt-locked"
  provision 'apt_install tree=2.0.2-1'
  fails_with "another process kept the lock of apt: E: Could not get lock"
  rm "$PROVISION_ROOT/var/lib/stand-ins/apt-locked"
  provision 'apt_install tree=2.0.2-1'
  succeeds
}

@test "apt_install waits while another process keeps the lock" {
  mkdir -p "$PROVISION_ROOT/var/lib/stand-ins"
  touch "$PROVISION_ROOT/var/lib/stand-ins/apt-locked"
  provision 'sleep() { rm -f "$ROOT/var/lib/stand-ins/apt-locked"; }; apt_install tree=2.0.2-1'
  succeeds
}

@test "apt_install waits for the lock of dpkg too, which does not wait itself" {
  mkdir -p "$PROVISION_ROOT/var/lib/stand-ins"
  touch "$PROVISION_ROOT/var/lib/stand-ins/dpkg-locked"
  provision 'sleep() { rm -f "$ROOT/var/lib/stand-ins/dpkg-locked"; }; apt_install tree=2.0.2-1'
  succeeds
  export PROVISION_RETRY_ATTEMPTS=2
  touch "$PROVISION_ROOT/var/lib/stand-ins/dpkg-locked"
  provision 'apt_install tree=2.1.0-1'
  fails_with "another process kept the lock of apt: dpkg: error: dpkg frontend lock was locked by another process with pid 1234; remedy"
}

@test "apt_install says that names do not resolve" {
  export PROVISION_RETRY_ATTEMPTS=1
  mkdir -p "$PROVISION_ROOT/var/lib/stand-ins"
  touch "$PROVISION_ROOT/var/lib/stand-ins/dns-down"
  provision 'apt_install tree=2.0.2-1'
  fails_with "cannot resolve the package mirror"
}

@test "fetch_verified takes what was pinned, and leaves nothing of anything else" {
  content=$BATS_TEST_TMPDIR/content
  echo right >"$content"
  sha256=$(sha256sum <"$content" | cut -d ' ' -f 1)
  provision "download() { cp '$content' \"\$2\"; }; fetch_verified https://host/file $sha256 \"\$FILE\""
  succeeds
  holds "$FILE" 'right\n'
  provision "download() { exit 1; }; fetch_verified https://host/file $sha256 \"\$FILE\""
  succeeds
  rm "$FILE"
  echo wrong >"$content"
  provision "download() { cp '$content' \"\$2\"; }; fetch_verified https://host/file $sha256 \"\$FILE\""
  fails_with "https://host/file is not what was pinned"
  [ -z "$(ls -A "$PROVISION_ROOT/etc")" ]
  provision "fetch_verified http://host/file $sha256 \"\$FILE\""
  fails_with "cannot fetch http://host/file; remedy: name an https:// or s3:// address"
}

@test "a second run waits for the first, and then says so" {
  mkdir -p "$PROVISION_ROOT/opt/hyperpod"
  exec 7>"$PROVISION_ROOT/opt/hyperpod/.lock"
  flock 7
  export PROVISION_LOCK_SECONDS=0
  provision 'log went on'
  exec 7>&-
  fails_with "another run holds"
}

@test "is_mounted and mounted_on go by the whole path and the last mount" {
  mkdir -p "$PROVISION_ROOT/proc/self"
  printf '/dev/a /fsx ext4 rw 0 0\n10.1.2.3@tcp:/x /fsx lustre rw 0 0\n/dev/b /fsx2 ext4 rw 0 0\n' \
    >"$PROVISION_ROOT/proc/self/mounts"
  provision 'for path in /fsx /fs /fsx/below /fsx2; do is_mounted "$path" && log "$path"; done; log "[$(mounted_on /fsx)] [$(mounted_on /none)]"'
  succeeds
  [ "$(sed 's/.*: //' <<<"$output" | paste -sd ' ')" = "/fsx /fsx2 [lustre 10.1.2.3@tcp:/x] []" ]
}
