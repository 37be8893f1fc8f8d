"""Contacts of surfaces and segments: triangles and capsules of particles that keep their distance.

    crossings.py    which edges cross which triangles: the measure
    untangle.py     positions in which none do, before the first step
    neighbours.py   what is near an element because the surface joins it
    tables.py       triangles and segments, and the tree over them, as arrays
    closest.py      closest points of a vertex and a triangle, and of two edges
    regions.py      where particles may move before the next search
    search.py       pairs that could touch there
    projection.py   pairs that touch, moved apart
    bound.py        motions that could make two features cross, cut back

Two surfaces that do not cross begin to cross only where a vertex meets a triangle or an edge meets an edge. So pairs of
these are all that is sought. A pair that shares a particle has no contact.
"""
