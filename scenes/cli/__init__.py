"""The command `verletlab`: main.py reads the command line; compare.py and view.py contain the larger commands."""
