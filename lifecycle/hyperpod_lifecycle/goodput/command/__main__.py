"""`python -m hyperpod_lifecycle.goodput.command` is `hyperpod-goodput`."""

import sys

from hyperpod_lifecycle.goodput.command import main

if __name__ == "__main__":
    sys.exit(main())
