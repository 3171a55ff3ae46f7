"""``python -m pytest_promptfuzz.cli`` is ``promptfuzz``."""

from __future__ import annotations

import sys

from pytest_promptfuzz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
