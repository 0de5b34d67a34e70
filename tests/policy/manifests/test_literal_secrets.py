from __future__ import annotations

import pytest
from job_manifests import container_of, set_variable

ID = "LiteralSecrets"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_SECRET_ACCESS_KEY", "abc"),
        ("AWS_ACCESS_KEY_ID", "abc"),
        ("WANDB_API_KEY", "abc"),
        ("HF_TOKEN", "abc"),
        ("DB_PASSWORD", "abc"),
        ("CREDENTIALS", "x AKIA" + "ABCDEFGH" * 2),
    ],
)
def test_a_credential_fails(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    (finding,) = judge(ID, kubeflow).failures
    assert f"a value for {name}, which looks like a credential" in finding.message
    assert value not in finding.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "${HF_TOKEN}"),
        ("HF_TOKEN", ""),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token"),
        ("DB_PASSWORD", "/run/secrets/password"),
        ("TOKENIZER", "gpt2"),
        ("MAX_TOKENS", "4096"),
    ],
)
def test_what_is_none_complies(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_secret_elsewhere_complies(judge, hyperpod):
    container_of(hyperpod)["env"].append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {}}})
    assert judge(ID, hyperpod).outcome(ID) == "pass"


HUGGING_FACE = "hf_" + "aB3dE6gH" * 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MLFLOW_PASSWD", "abc"),
        ("HUB", HUGGING_FACE),
        ("GIT", "ghp_" + "a1B2c3D4e5F6" * 3),
        ("DATABASE_URL", "postgres://reader:abcdef@db.internal/runs"),
    ],
)
def test_a_value_that_shows_what_it_is_fails(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    (finding,) = judge(ID, kubeflow).failures
    assert value not in finding.message


@pytest.mark.parametrize(
    ("command", "args", "name"),
    [
        (["torchrun"], ["a.py", "--wandb-api-key", "abcdef"], "wandb-api-key"),
        (["torchrun"], ["a.py", "--api-key=abcdef"], "api-key"),
        (["torchrun"], ["a.py", "logger.api_key=AKIA" + "ABCDEFGH" * 2], None),
        (["bash", "-c", f"export HF_TOKEN={HUGGING_FACE}\nexec torchrun a.py"], [], "HF_TOKEN"),
        (["bash", "-c", "AWS_SECRET_ACCESS_KEY=abc exec torchrun a.py"], [], "AWS_SECRET_ACCESS_KEY"),
        (["bash", "-c", f"hub login {HUGGING_FACE}; exec torchrun a.py"], [], None),
        (["bash", "-c", f"echo 'open {HUGGING_FACE}"], [], None),
    ],
)
def test_a_credential_in_a_command_fails(judge, kubeflow, command, args, name):
    container_of(kubeflow).update(command=command, args=args)
    (finding,) = judge(ID, kubeflow).failures
    said = "text that looks like" if name is None else f"a value for {name}, which looks like"
    assert said in finding.message
    assert HUGGING_FACE not in finding.message


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (["torchrun"], ["a.py", "--hf-token=$(HF_TOKEN)", "--eos-token", "</s>", "--max-token", "4096"]),
        (["torchrun"], ["a.py", "--use-auth-token", "--token", "true", "--api-key", "/run/secrets/key"]),
        (
            ["bash", "-c", 'export HF_TOKEN="$(cat /run/secrets/hf)"\nexec torchrun a.py --token=$HF_TOKEN'],
            [],
        ),
        (["torchrun"], ["a.py", "--store", "s3://bucket/a@b", "--url", "https://host:8080/a@b"]),
    ],
)
def test_a_command_without_credentials_complies(judge, kubeflow, command, args):
    container_of(kubeflow).update(command=command, args=args)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


@pytest.mark.parametrize("name", ["EOS_TOKEN", "PAD_TOKEN", "IMAGE_TOKEN"])
def test_tokens_of_text_comply(judge, kubeflow, name):
    set_variable(kubeflow, name, "</s>")
    assert judge(ID, kubeflow).outcome(ID) == "pass"
