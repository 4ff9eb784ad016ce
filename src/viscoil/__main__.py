"""Lets `python -m viscoil` be the command."""

import sys

from viscoil.cli import main

sys.exit(main())
