"""The live viewer in a browser: `verletlab view SCENE`."""

import importlib.util

if importlib.util.find_spec("viser") is None:
    raise ModuleNotFoundError("viser is not installed: pip install 'verletlab[view]'", name="viser")
