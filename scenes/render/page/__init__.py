"""HTML pages of scenes, drawn by viser (extra `view`): nodes of a page, and replays in one file."""
