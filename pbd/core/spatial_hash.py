"""Spatial hash: cells of a grid, and their buckets in a table.

Source: Teschner et al., Optimized Spatial Hashing for Collision Detection of Deformable Objects (2003).
"""

import taichi as ti


@ti.func
def cell_of(x, size):
    """The cell (three integers) that contains a point. Args: x: the point [m]; size: of a cell [m]."""
    return ti.Vector([ti.cast(ti.floor(x[k] / size), ti.i32) for k in ti.static(range(3))])


@ti.func
def bucket_of(cell, buckets):
    """Bucket of a cell (three integers). Cells in a row along x have consecutive buckets; `buckets` is a power of 2."""
    mixed = (cell[1] * 19349663) ^ (cell[2] * 83492791)
    return (cell[0] + mixed) & (buckets - 1)


@ti.func
def bucket_of_pair(cell, buckets):
    """Bucket of a cell, for searches of two by two by two cells; `buckets` is a power of 2, eight or more.

    The two cells of a row along x have consecutive buckets. The four rows have no bucket in common, because rows begin
    at 0, 2, 4 and 6 modulo 8 from the first: so a search finds no particle twice.
    """
    return (cell[0] + cell[1] * 19349666 + cell[2] * 83492796) & (buckets - 1)
