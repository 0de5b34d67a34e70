from __future__ import annotations

from plain_jobs import Case, table_tests

DIGEST = "sha256:" + "0" * 64
CASES = [
    Case(
        {"image": "train:1.0"},
        ("image",),
        "must be an image with registry and tag or digest, such as .*got 'train:1.0'",
    ),
    Case({"image": "pytorch/pytorch:2.7.1"}, ("image",), "with registry"),
    Case({"image": "111122223333.dkr.ecr.us-west-2.amazonaws.com/train"}, ("image",), "tag or digest"),
    Case(
        {"image": "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:latest"},
        ("image",),
        "must not have the tag 'latest'",
    ),
    Case({"image": ""}, ("image",), "got ''"),
]
LEGAL = [
    {"image": "nvcr.io/nvidia/pytorch:25.04-py3"},
    {"image": f"registry.example.com:5000/a/b@{DIGEST}"},
    {"image": f"registry.example.com/a:latest@{DIGEST}"},
    {"image": "registry.example.com/a:latest-gpu"},
]


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
