"""The live viewer in a browser: `verletlab view SCENE`."""

from pbd.core.extras import load_extra

load_extra("viser", "view")
