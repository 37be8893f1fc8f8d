"""`python -m scenes` runs the command `verletlab`."""

import sys

from scenes.cli.command import command

sys.exit(command())
