"""Files for other programs: USD, glTF, and meshes of a moment."""
