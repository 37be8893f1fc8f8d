"""Direct projection: all constraints of a rope, a frame or a mechanism at once, by a sparse factorisation."""
