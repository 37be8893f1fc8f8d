"""The live viewer, in a browser: what `verletlab view` runs. It needs viser, which `verletlab[view]` brings."""
