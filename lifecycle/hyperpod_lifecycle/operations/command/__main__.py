"""`python -m hyperpod_lifecycle.operations.command` is `hyperpod-nodes`."""

import sys

from hyperpod_lifecycle.operations.command import main

if __name__ == "__main__":
    sys.exit(main())
