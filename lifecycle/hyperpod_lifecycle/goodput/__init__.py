"""What failures cost a training run: estimated before it, measured after it.

Goodput is the share of paid time in which training made progress that was kept.
"""
