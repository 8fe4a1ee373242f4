"""`python -m locdiff` is the command."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    from ._locdiff import run_command

    for name in ("SIGTERM", "SIGHUP"):  # as Ctrl-C: what is finished is kept
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        return run_command(["locdiff", *sys.argv[1:]])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
