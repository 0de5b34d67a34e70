"""For training code: checkpoints that are complete or not there, and jobs that go on where they were.

Needs the standard library only; PyTorch, boto3 and fsspec are imported by what uses them.
"""
