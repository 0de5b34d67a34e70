#!/bin/bash
# Starts training on the node of a Slurm step. Every node of the step runs it once, from 1 to 10,000 nodes:
#
#   srun --ntasks-per-node=1 /opt/hyperpod/train_entry.sh --processes-per-node 8 -- /fsx/code/train.py --steps 1000
#
# All that a node needs happens here, since only the step is run again after a replacement, and where the processes meet
# comes from Slurm's controller: the environment still names the nodes that the job began with. Options:
#
#   --processes-per-node N   default: what torchrun takes for 'gpu', one for each GPU
#   --venv FOLDER            Python environment on shared storage, which has torchrun
#   --image FILE|URI         container image for enroot: a .sqsh file on shared storage, or docker://REGISTRY#NAME:TAG
#   --mount PATH             folder of the node that the container has too; may be repeated
#   --export NAME            variable that the container gets, besides those of Slurm and torchrun; may be repeated
#   --log-folder FOLDER      output goes to a file for each node, appended; default: where srun sends it
#   --port NUMBER            on the first node, where the processes meet; default: one for each step, 29500 to 30499
#   --command                what follows -- is a whole command, not a script for torchrun
set -euo pipefail

# Where HyperPod's images have Slurm.
PATH=$PATH:/opt/slurm/bin
FIRST_PORT=29500
PORTS=1000
# Of one question to Slurm's controller, which may be restarting.
QUESTION_SECONDS=30
ATTEMPTS=8
PAUSE=${TRAIN_ENTRY_PAUSE:-2}
# The image may come to one node minutes later than to another: the others wait.
JOIN_SECONDS=1800
CONNECT_SECONDS=900

say() {
  TZ=UTC printf '%(%Y-%m-%dT%H:%M:%SZ)T train_entry %s: %s\n' -1 "${SLURMD_NODENAME:-$HOSTNAME}" "$*" >&2
}

# fail PROBLEM REMEDY
fail() {
  say "FAILED: $1; remedy: $2"
  exit 1
}

read_options() {
  processes=gpu venv='' image='' log_folder='' port='' whole_command=false mounts=() exports=()
  while (($#)); do
    case $1 in
      --command) whole_command=true ;;
      --) shift; break ;;
      --processes-per-node | --venv | --image | --mount | --export | --log-folder | --port)
        (($# > 1)) || fail "$1 has no value" "give it one"
        case $1 in
          --processes-per-node) processes=$2 ;;
          --venv) venv=$2 ;;
          --image) image=$2 ;;
          --mount) mounts+=("$2") ;;
          --export) exports+=("$2") ;;
          --log-folder) log_folder=$2 ;;
          --port) port=$2 ;;
        esac
        shift
        ;;
      *) fail "unknown option '$1'" "put -- before the training script" ;;
    esac
    shift
  done
  (($#)) || fail "no training script" "name it after --"
  command=("$@")
  [[ -z $venv || -z $image ]] || fail "both --venv and --image" "train in one of them"
  [[ -n ${SLURM_JOB_ID:-} && -n ${SLURM_STEP_ID:-} ]] || fail "not in a step of Slurm" "start it with srun"
  if ((${SLURM_LOCALID:-0} > 0)); then
    fail "more than one task on this node" "start one a node, with --ntasks-per-node=1: torchrun starts the rest"
  fi
}

append_to_log() {
  [[ -n $log_folder ]] || return 0
  local name=${SLURM_JOB_NAME:-job} folder error
  # The name of a job may hold anything, slashes too.
  folder=$log_folder/${name//[^[:alnum:]._-]/_}-$SLURM_JOB_ID
  if ! error=$(mkdir -p "$folder" 2>&1); then
    fail "cannot make $folder: ${error##*: }" "see that --log-folder is on shared storage and mounted here"
  fi
  say "output goes to $folder/$SLURMD_NODENAME.log"
  exec >>"$folder/$SLURMD_NODENAME.log" 2>&1
}

# raise_limits: Slurm hands down the limits of the shell that submitted the job, often 1024 open files. The first node
# holds a connection to every node and process, and EFA locks memory.
raise_limits() {
  ulimit -Sn "$(ulimit -Hn)"
  ulimit -Sl "$(ulimit -Hl)"
}

# asked WORDS...: what scontrol answers. Never through a pipe to a command that ends early: scontrol would die of SIGPIPE.
asked() {
  local attempt pause=$PAUSE answer
  for ((attempt = 1; ; attempt++)); do
    if answer=$(timeout "$QUESTION_SECONDS" scontrol "$@" 2>&1); then
      printf '%s\n' "$answer"
      return 0
    fi
    if ((attempt == ATTEMPTS)); then
      printf '%s\n' "$answer" >&2
      return 1
    fi
    # Not all nodes at the same moment again.
    sleep "$((pause + RANDOM % (pause + 1)))"
    pause=$((pause * 2))
  done
}

# first_node LIST: the first of the nodes that a list such as 'a-[3-4,7],b' names. A list of 10,000 nodes may be longer
# than the kernel takes as an argument, so no program reads it.
first_node() {
  local rest=$1 name=''
  while [[ $rest =~ ^([^][,]*)\[([0-9]+)[^]]*\](.*)$ ]]; do
    name+=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
    rest=${BASH_REMATCH[3]}
  done
  printf '%s\n' "$name${rest%%,*}"
}

# field NAME TEXT: the value of the first 'NAME=value' in the words of scontrol.
field() {
  if [[ $2 =~ (^|[[:space:]])$1=([^[:space:]]*) ]]; then
    printf '%s\n' "${BASH_REMATCH[2]}"
  fi
}

# record JOB TEXT: the lines about one job. Asked for the first job of an array, scontrol shows all of its jobs.
record() {
  local line inside=false
  while IFS= read -r line; do
    if [[ $line =~ ^JobId=([0-9]+)([[:space:]]|$) ]]; then
      inside=false
      if [[ ${BASH_REMATCH[1]} == "$1" ]]; then
        inside=true
        # The name of a job may hold anything: what counts is in the lines below.
        continue
      fi
    fi
    if [[ $inside == true ]]; then
      printf '%s\n' "$line"
    fi
  done <<<"$2"
}

# find_nodes_of_components: a heterogeneous job is several jobs in Slurm, and a step of it has nodes of one or more.
find_nodes_of_components() {
  local attempt pause=$PAUSE group job answer count
  for ((attempt = 1; ; attempt++)); do
    node_list='' nodes=0
    for ((group = 0; group < SLURM_HET_SIZE; group++)); do
      job=SLURM_JOB_ID_HET_GROUP_$group
      # Slurm refuses to show a step that has no node of this job; it answers nothing while the controller restarts.
      answer=$(timeout "$QUESTION_SECONDS" scontrol --oneliner show step "${!job:-}.$SLURM_STEP_ID" 2>&1) || continue
      count=$(field Nodes "$answer")
      if [[ $count =~ ^[1-9][0-9]*$ ]]; then
        node_list+=${node_list:+,}$(field NodeList "$answer")
        nodes=$((nodes + count))
      fi
    done
    if ((nodes == ${SLURM_STEP_NUM_NODES:-0})); then
      return 0
    elif ((attempt == ATTEMPTS)); then
      fail "Slurm tells $nodes of the ${SLURM_STEP_NUM_NODES:-0} nodes of this step of a heterogeneous job" \
        "see whether slurmctld runs on the controller node and is reachable"
    fi
    sleep "$((pause + RANDOM % (pause + 1)))"
    pause=$((pause * 2))
  done
}

find_nodes() {
  local answer count=${SLURM_STEP_NUM_NODES:-${SLURM_JOB_NUM_NODES:-1}}
  # Thousands of nodes would ask at the same moment.
  if ((count > 500)); then
    sleep "$((RANDOM % (count / 500 + 1)))"
  fi
  heterogeneous=false
  # The variables of a heterogeneous job are handed down to what is submitted from it.
  if [[ -n ${SLURM_HET_SIZE:-} && ${SLURM_JOB_ID_HET_GROUP_0:-} == "$SLURM_JOB_ID" ]]; then
    heterogeneous=true
    find_nodes_of_components
  elif answer=$(asked --oneliner show step "$SLURM_JOB_ID.$SLURM_STEP_ID") && [[ -n $(field NodeList "$answer") ]]; then
    node_list=$(field NodeList "$answer")
    nodes=$(field Nodes "$answer")
  elif answer=$(asked show job "$SLURM_JOB_ID"); then
    answer=$(record "$SLURM_JOB_ID" "$answer")
    node_list=$(field NodeList "$answer")
    nodes=$(field NumNodes "$answer")
    if [[ -n ${SLURM_STEP_NUM_NODES:-} && $nodes != "$SLURM_STEP_NUM_NODES" ]]; then
      fail "Slurm does not tell which of the job's $nodes nodes this step has" "look at slurmctld, and run it again"
    fi
  else
    fail "Slurm's controller does not answer" "see whether slurmctld runs on the controller node and is reachable"
  fi
  if [[ ! $nodes =~ ^[1-9][0-9]*$ || -z $node_list || $node_list == '(null)' ]]; then
    fail "Slurm tells no nodes of step $SLURM_JOB_ID.$SLURM_STEP_ID: '$node_list', '$nodes'" "run the step again"
  fi
  master=$(first_node "$node_list")
  answer=$(asked show node "$master") ||
    fail "Slurm does not tell the address of $master" "see whether slurmctld runs on the controller node and is reachable"
  master_address=$(field NodeAddr "$answer")
  [[ -n $master_address ]] || fail "Slurm knows no address of $master" "see NodeAddr in slurm.conf"
}

# What training code reads, or torchrun: for them too, the nodes are those of now.
export_nodes() {
  local stale=''
  # Slurm writes the nodes of several components as one list, and tells each component's own.
  if [[ ${SLURM_JOB_NODELIST:-$node_list} != "$node_list" && $heterogeneous == false ]]; then
    stale="; the environment names ${SLURM_JOB_NODELIST:0:100}"
  fi
  export SLURM_JOB_NUM_NODES=$nodes SLURM_NNODES=$nodes SLURM_JOB_NODELIST=$node_list SLURM_NODELIST=$node_list
  if ((${#node_list} > 100000)); then
    # No program starts with a longer value of a variable than 131072 bytes.
    unset SLURM_JOB_NODELIST SLURM_NODELIST SLURM_STEP_NODELIST
  fi
  if [[ -z $port ]]; then
    # Steps of one job that run at the same time need a port each.
    port=$((FIRST_PORT + (SLURM_JOB_ID * 31 + SLURM_STEP_ID) % PORTS))
  fi
  local is_host=0
  if [[ ${SLURMD_NODENAME:-} == "$master" ]]; then
    is_host=1
  fi
  # Options of torchrun by environment; those on a command line win.
  export PET_NNODES=$nodes PET_NPROC_PER_NODE=$processes PET_RDZV_BACKEND=c10d
  export PET_RDZV_ENDPOINT=$master_address:$port
  # Another id after each requeue: what may be left of the last run must not join.
  export PET_RDZV_ID=$SLURM_JOB_ID-$SLURM_STEP_ID-${SLURM_RESTART_COUNT:-0}
  # By itself torchrun tells by the host's name whether it is the first node, and the address may be of another kind.
  export PET_RDZV_CONF=is_host=$is_host,join_timeout=$JOIN_SECONDS,read_timeout=$CONNECT_SECONDS
  say "starts $nodes nodes for job $SLURM_JOB_ID, step $SLURM_STEP_ID, restart ${SLURM_RESTART_COUNT:-0}; they meet at" \
    "$PET_RDZV_ENDPOINT on $master$stale"
}

use_venv() {
  [[ -n $venv ]] || return 0
  # Not by activate, which reads variables that may not be set.
  export VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH
  unset PYTHONHOME
  [[ -x $venv/bin/python ]] || fail "no $venv/bin/python" "see that the environment is on shared storage and mounted here"
}

# find_image_folder: of this user alone: whoever could write here would choose what the user runs.
find_image_folder() {
  local parent
  IMAGE_FOLDER=${HYPERPOD_IMAGE_FOLDER:-}
  # Where the lifecycle scripts have enroot's data: on the large volume.
  for parent in /opt/dlami/nvme/enroot/cache /opt/sagemaker/enroot/cache /tmp; do
    if [[ -z $IMAGE_FOLDER && -w $parent ]]; then
      IMAGE_FOLDER=$parent/hyperpod-$UID
    fi
  done
  (umask 077 && mkdir -p "$IMAGE_FOLDER") ||
    fail "cannot make $IMAGE_FOLDER" "name a large folder of the node in HYPERPOD_IMAGE_FOLDER"
  [[ -O $IMAGE_FOLDER && ! -L $IMAGE_FOLDER ]] ||
    fail "$IMAGE_FOLDER is not this user's own folder" "remove it, or name another in HYPERPOD_IMAGE_FOLDER"
}

# image_file IMAGE: the image as a file; one of a registry is imported once a node.
image_file() {
  local file=$1
  if [[ $1 != docker://* ]]; then
    [[ -r $file ]] || fail "no readable $file" "see that the image is on shared storage and mounted here"
  else
    file=$IMAGE_FOLDER/$(printf '%s' "$1" | sha256sum | cut -c1-16).sqsh
    if [[ ! -e $file ]]; then
      rm -f "$file.part"
      enroot import --output "$file.part" "$1" >&2 ||
        fail "cannot import $1" "look at the lines above, and at the registry's password in enroot's .credentials"
      mv -f "$file.part" "$file"
    fi
  fi
  printf '%s\n' "$file"
}

# remove_containers: those of jobs that are over. What they wrote is of no other job.
remove_containers() {
  local name said
  for name in $(enroot list); do
    if [[ $name =~ ^hyperpod-([0-9]+)$ && ${BASH_REMATCH[1]} != "$SLURM_JOB_ID" ]]; then
      said=$(timeout "$QUESTION_SECONDS" squeue --noheader --jobs="${BASH_REMATCH[1]}" 2>&1) || true
      if [[ -z $said || $said == *'Invalid job id'* ]]; then
        rm -f "$IMAGE_FOLDER/$name.ready"
        enroot remove --force "$name" >&2 || say "cannot remove the container $name of a former job"
      fi
    fi
  done
}

# container_of IMAGE: unpacks the image once a job and node, and names the container.
container_of() {
  local name=hyperpod-$SLURM_JOB_ID file
  command -v enroot >/dev/null || fail "no enroot on this node" "have the lifecycle scripts install it, or use --venv"
  find_image_folder
  # Steps that start at the same time unpack one after the other.
  exec 7>"$IMAGE_FOLDER/.lock"
  flock 7
  if [[ ! -e $IMAGE_FOLDER/$name.ready ]]; then
    remove_containers 7>&-
    file=$(image_file "$1" 7>&-) || exit 1
    # What an unpacking that was killed has left.
    enroot remove --force "$name" >/dev/null 2>&1 || true
    enroot create --name "$name" "$file" >&2 || fail "cannot unpack $file" "look at the lines above, and at df -h"
    : >"$IMAGE_FOLDER/$name.ready"
  fi
  exec 7>&-
  printf '%s\n' "$name"
}

enter_image() {
  [[ -n $image ]] || return 0
  local container mount name
  container=$(container_of "$image") || exit 1
  # As in Kubernetes, a job may write into its container.
  local start=(enroot start --rw)
  for mount in "${mounts[@]}"; do
    [[ -d $mount ]] || fail "no folder $mount" "see that it is mounted on this node"
    start+=(--mount "$mount:$mount")
  done
  for name in "${exports[@]}" $(compgen -e PET_) $(compgen -e SLURM_) SLURMD_NODENAME; do
    start+=(--env "$name")
  done
  command=("${start[@]}" "$container" "${command[@]}")
}

main() {
  read_options "$@"
  append_to_log
  raise_limits
  find_nodes
  export_nodes
  use_venv
  if [[ $whole_command == false ]]; then
    command=(torchrun "${command[@]}")
  fi
  enter_image
  # In place of this shell: signals reach the launcher.
  exec "${command[@]}"
}

main "$@"
