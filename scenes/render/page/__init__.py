"""HTML pages of scenes, drawn by viser (extra `view`): nodes of a page, and replays in one file."""

from pbd.core.extras import load_extra

load_extra("viser", "view")
