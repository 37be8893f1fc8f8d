"""`python -m scenes` is the command `verletlab`."""

import sys

from scenes.cli.main import main

sys.exit(main())
