"""Lets `python -m viscoil.cli` be the command."""

import sys

from viscoil.cli import main

sys.exit(main())
