"""The command `verletlab`: command.py is its process, main.py reads the command line; larger commands have files."""

import os

# Numpy's matrix products on one thread. Ours are small, and threads that wait for more of them took a fifth of the
# processor time of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
