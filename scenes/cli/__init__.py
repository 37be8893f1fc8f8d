"""The command `verletlab`: main.py reads the command line; compare.py and view.py contain the larger commands."""

import os

# Numpy's matrix products on one thread. Ours are small, and threads that wait for more of them took a fifth of the
# processor time of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
