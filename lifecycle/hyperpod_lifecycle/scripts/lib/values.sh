#!/bin/bash
# Values of the cluster (parameters.json, rendered from its specification) and of this node (node.json).

# parameter KEY...: what is under these keys in turn. Nothing where there is none; a list one item a line, objects as JSON.
parameter() {
  read_value "$PARAMETERS_FILE" "$@"
}

# required_parameter KEY...: as parameter, and ends the step where there is none.
required_parameter() {
  local value keys
  value=$(parameter "$@")
  if [[ -z $value ]]; then
    keys=$(IFS=.; printf '%s' "$*")
    fail "no $keys in $PARAMETERS_FILE" "render the parameters from the cluster's specification and upload them again"
  fi
  printf '%s\n' "$value"
}

# node_fact KEY: of node.json, such as instance_group or instance_type.
node_fact() {
  read_value "$NODE_FILE" "$@"
}

read_value() {
  local value error
  if ! value=$(python3 -I -S "$LIBRARY/values.py" "$@" 2>&1); then
    error=${value##*$'\n'}
    fail "cannot read $1: $error" "it must be JSON: compare it with what was uploaded"
  fi
  printf '%s\n' "$value"
}
