"""The command `verletlab`: main.py reads the command line; compare.py and view.py hold the larger commands."""
