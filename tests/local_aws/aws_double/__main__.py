"""``python -m aws_double --port 5601``: serves the double until it is stopped."""

from __future__ import annotations

import argparse

from aws_double.server import serve


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="aws_double", description="A double of AWS on this machine")
    parser.add_argument("--port", type=int, required=True, help="port to listen on; 0 for a free one")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds before each resource of a stack")
    parser.add_argument("--stops-with-input", action="store_true", help="end when standard input does")
    given = parser.parse_args()
    serve(port=given.port, pace=given.pace, stops_with_input=given.stops_with_input)


if __name__ == "__main__":
    main()
