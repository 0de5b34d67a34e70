"""`python -m hyperpod_policy.command` is `hyperpod-review`."""

import sys

from hyperpod_policy.command import main

if __name__ == "__main__":
    sys.exit(main())
