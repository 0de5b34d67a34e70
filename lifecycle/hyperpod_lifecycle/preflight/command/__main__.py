"""`python -m hyperpod_lifecycle.preflight.command` is `hyperpod-preflight`."""

import sys

from hyperpod_lifecycle.preflight.command import main

if __name__ == "__main__":
    sys.exit(main())
