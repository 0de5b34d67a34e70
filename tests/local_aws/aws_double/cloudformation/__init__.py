"""The double's own CloudFormation: templates, stacks, change sets and their API.

It departs from AWS in one way on purpose: it works on one resource at a time, in the order that is worst for
a template that forgot to say what depends on what (`order`).
"""
