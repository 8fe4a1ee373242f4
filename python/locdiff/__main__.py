"""`python -m locdiff` is the command."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    from ._locdiff import run_command

    return run_command(["locdiff", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
