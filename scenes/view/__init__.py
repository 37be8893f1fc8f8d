"""The viewer in a browser, live or as a replay: `verletlab view`, `verletlab render SCENE --out FILE.html`."""

import importlib.util

if importlib.util.find_spec("viser") is None:
    raise ModuleNotFoundError("no viser, which draws in browsers: `pip install 'verletlab[view]'`", name="viser")
