"""`python -m benchmarks NAME ...` is `verletlab bench NAME ...`."""

import sys

from scenes.cli.command import command

sys.argv[1:1] = ["bench"]
sys.exit(command())
