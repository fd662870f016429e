"""Run the command line as ``python -m neverempty``."""

import sys

from neverempty.cli import main

if __name__ == "__main__":
    sys.exit(main())
