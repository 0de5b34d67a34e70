"""`python -m hyperpod_charts.command` is `hyperpod-jobs`."""

import sys

from hyperpod_charts.command import main

if __name__ == "__main__":
    sys.exit(main())
