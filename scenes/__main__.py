"""`python -m scenes` runs the command `verletlab`."""

import sys

from scenes.cli.main import main

sys.exit(main())
