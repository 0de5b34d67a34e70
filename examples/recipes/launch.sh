#!/usr/bin/env bash
# Launches one of AWS's recipes, which are another thing than the job specifications of this project, on a cluster of it.
#
#   git clone https://github.com/aws/sagemaker-hyperpod-recipes && cd sagemaker-hyperpod-recipes
#   python3 -m venv venv && venv/bin/pip install --requirement requirements.txt
#   RECIPES=. IMAGE=111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-recipes:llmft-v1.0.0 bash .../launch.sh
#
# The launcher applies a manifest of its own with helm and kubectl: have both, and a context of the cluster. Judge it with
# kubectl get pytorchjobs --namespace kubeflow --output yaml | hyperpod-jobs validate -
set -euo pipefail

# Where aws/sagemaker-hyperpod-recipes is checked out.
recipes="${RECIPES:?the folder of aws/sagemaker-hyperpod-recipes}"
# AWS's image of these recipes, copied to your own registry: a tag there does not change under a job.
image="${IMAGE:?the image of the recipes in your registry}"
recipe="${RECIPE:-fine-tuning/llama/llmft_llama3_1_8b_instruct_seq4k_gpu_sft_lora}"
name="${NAME:-llama-sft}"
nodes="${NODES:-2}"
# As in the cluster's specification: training_pods, the FSx claim, and the instance type of the workers.
namespace="${NAMESPACE:-kubeflow}"
service_account="${SERVICE_ACCOUNT:-trainer}"
claim="${CLAIM:-fsx}"
instance_type="${INSTANCE_TYPE:-ml.p5.48xlarge}"
results="${RESULTS:-$PWD/results}"
python="${PYTHON:-$recipes/venv/bin/python}"

# use_hyperpod_pytorch_job=false asks the Kubeflow operator, whose jobs HyperPod resumes by these annotations. For a
# team under task governance give true, the team's namespace, and cluster.queue_name=hyperpod-ns-<team>-localqueue.
HYDRA_FULL_ERROR=1 exec "$python" "$recipes/main.py" \
    "recipes=$recipe" \
    cluster=k8s \
    cluster_type=k8s \
    "container=$image" \
    "base_results_dir=$results" \
    "recipes.run.name=$name" \
    "recipes.trainer.num_nodes=$nodes" \
    "recipes.training_config.training_args.training_dir=/fsx/$name" \
    "recipes.training_config.datasets.train_data.name=train" \
    "recipes.training_config.datasets.train_data.file_path=/fsx/data/train.jsonl" \
    "recipes.training_config.datasets.val_data.name=val" \
    "recipes.training_config.datasets.val_data.file_path=/fsx/data/val.jsonl" \
    "cluster.namespace=$namespace" \
    "cluster.service_account_name=$service_account" \
    cluster.use_hyperpod_pytorch_job=false \
    cluster.restartPolicy=OnFailure \
    cluster.pullPolicy=IfNotPresent \
    cluster.cleanPodPolicy=Running \
    "cluster.persistent_volume_claims=[{claimName:$claim,mountPath:fsx}]" \
    "cluster.label_selector={required:{node.kubernetes.io/instance-type:[$instance_type],sagemaker.amazonaws.com/node-health-status:[Schedulable]}}" \
    'cluster.annotations={sagemaker.amazonaws.com/enable-job-auto-resume:"true",sagemaker.amazonaws.com/job-max-retry-count:"10"}' \
    git.entry_module=amzn_awsllm_fine_tuning.train_hp \
    git.use_default=false \
    "$@"
