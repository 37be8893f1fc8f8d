"""Contact: which shapes of a model's bodies touch, and where. No solver stands here.

data.py     the arrays: shapes of all worlds, points that were found, scratch
polyhedron.py boxes, cylinders and hulls as corners, faces and edges
scratch.py      poses and bounds of all shapes, and the pairs that could touch
narrow.py     find_points, to be called in a solver's kernel: read this; shape_distance, for cloth and the like
rounded.py    spheres and capsules against everything
polyhedra.py  boxes, cylinders and hulls against planes and one another: separating axes, clipping
corners.py     their corners and edges, as kernels read them
manifold.py   the points of one pair: collected, thinned out to eight, handed over
overlaps.py   how deep bodies are in one another, from their poses alone
rigid/constraints/contact_rows.py       three rows for each point (rigid/constraints/rows.py), for solvers that want rows

shapes, points, scratch = tables.upload(models, worlds)
find_points = point_finder(tables.meetings(models))         # of narrow.py, which also has one for everything
find_points(shapes, points, scratch, poses, margin, world)     # in a kernel, by one thread for each world
"""
