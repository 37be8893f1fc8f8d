"""The command `verletlab`: main.py reads the command line; each larger command has a file of its own."""
