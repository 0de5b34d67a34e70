"""What examples/recipes/launch.sh asks of AWS's launcher, which is not here: a stand-in notes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_model.catalog.jobs import AUTO_RESUME_ANNOTATION, RETRIES_ANNOTATION, auto_resumes_in
from hyperpod_model.catalog.labels import INSTANCE_TYPE, NODE_HEALTH_STATUS

SCRIPT = Path(__file__).parents[2] / "examples" / "recipes" / "launch.sh"
STAND_IN = """
import json, os, sys
print(json.dumps({"words": sys.argv[1:], "HYDRA_FULL_ERROR": os.environ["HYDRA_FULL_ERROR"]}))
"""
GIVEN = {"IMAGE": "111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod-recipes:llmft-v1.0.0"}


def launch(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a folder that has a stand-in for AWS's ``main.py``."""
    (folder / "main.py").write_text(STAND_IN)
    return subprocess.run(
        ["bash", SCRIPT, *args],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def overrides(folder: Path, *args: str, **environment: str) -> dict[str, str]:
    """Return the settings that the script gives; the last one of a name wins, as in Hydra."""
    ran = launch(folder, *args, RECIPES=str(folder), **GIVEN, **environment)
    assert (ran.returncode, ran.stderr) == (0, "")
    said = json.loads(ran.stdout)
    assert said["HYDRA_FULL_ERROR"] == "1"
    return dict(word.partition("=")[::2] for word in said["words"])


def test_a_job_goes_where_the_cluster_resumes_it(tmp_path: Path):
    said = overrides(tmp_path)
    assert auto_resumes_in(said["cluster.namespace"])
    assert said["cluster.restartPolicy"] == "OnFailure"
    # Quoted, since annotations are strings: Hydra reads true and 10 otherwise.
    assert said["cluster.annotations"] == f'{{{AUTO_RESUME_ANNOTATION}:"true",{RETRIES_ANNOTATION}:"10"}}'
    assert said["cluster.label_selector"] == (
        f"{{required:{{{INSTANCE_TYPE.key}:[ml.p5.48xlarge],{NODE_HEALTH_STATUS.key}:[Schedulable]}}}}"
    )
    assert said["cluster.persistent_volume_claims"] == "[{claimName:fsx,mountPath:fsx}]"
    assert said["container"] == GIVEN["IMAGE"]
    assert said["base_results_dir"] == str(tmp_path / "results")


def test_all_of_it_can_be_said_otherwise(tmp_path: Path):
    folder = tmp_path / "with a space"
    folder.mkdir()
    said = overrides(
        folder,
        "cluster.namespace=hyperpod-ns-vision",
        "cluster.queue_name=hyperpod-ns-vision-localqueue",
        NODES="4",
        NAME="mine",
        CLAIM="data",
        INSTANCE_TYPE="ml.p5en.48xlarge",
        SERVICE_ACCOUNT="other",
        RECIPE="training/llama/other",
    )
    assert said["recipes"] == "training/llama/other"
    assert said["recipes.trainer.num_nodes"] == "4"
    assert said["recipes.training_config.training_args.training_dir"] == "/fsx/mine"
    assert said["cluster.namespace"] == "hyperpod-ns-vision"
    assert said["cluster.queue_name"] == "hyperpod-ns-vision-localqueue"
    assert said["cluster.service_account_name"] == "other"
    assert "claimName:data" in said["cluster.persistent_volume_claims"]
    assert "[ml.p5en.48xlarge]" in said["cluster.label_selector"]
    assert said["base_results_dir"] == str(folder / "results")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "RECIPES: the folder of aws/sagemaker-hyperpod-recipes"),
        ({"RECIPES": "."}, "IMAGE: the image of the recipes in your registry"),
    ],
)
def test_what_it_cannot_guess_is_asked_for(tmp_path: Path, environment: dict[str, str], message: str):
    ran = launch(tmp_path, **environment)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert message in ran.stderr
