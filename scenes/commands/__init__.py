"""Commands of `verletlab` that want more than a page, a file each; scenes/cli.py has the others, and calls all."""
