"""Who asks, and whether policies let them: IAM's documented logic, apart from ``hyperpod_policy``.

The rule core judges templates with an evaluation of its own; this one judges requests, so that either shows
the other's mistakes.
"""
