"""A scene as an HTML page, drawn by viser (extra `view`): nodes of a page, and replays as one file."""
