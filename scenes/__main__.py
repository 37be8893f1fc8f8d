"""`python -m scenes` is the command `verletlab`."""

import sys

from scenes.cli import main

sys.exit(main())
