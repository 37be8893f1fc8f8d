"""`python -m verletlab` runs the command `verletlab`."""

import sys

from scenes.cli.command import command

sys.exit(command())
