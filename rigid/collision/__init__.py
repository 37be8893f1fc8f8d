"""Contact detection: which shapes of a model's bodies touch, and where. It knows no solver.

    data.py           the arrays: shapes of all worlds, contact points, scratch memory
    setup.py          fills these arrays from models
    broad_phase.py    placements and bounds of all shapes, and the pairs that could touch
    narrow_phase.py   find_points, which solvers call in their kernels: the file to read first
    rounded.py        spheres and capsules against all shapes
    polyhedra.py      boxes, cylinders and hulls against planes and one another: separating axes, clipping
    meshes.py         shapes on meshes; triangles.py, rounded_on_triangle.py, polyhedron_on_triangle.py: on one triangle
    mesh_tables.py    the tree of a mesh and the neighbours of its triangles, in numpy
    polyhedron.py     their corners, faces and edges in numpy; corners.py: the same in kernels
    manifold.py       the contact points of one pair: collected, reduced, emitted
    contact_cache.py  impulses of contacts, stored for the same contacts of the next step
    lanes.py          what contacts need if worlds lie in the lanes of vectors
    overlaps.py       how deep bodies overlap, from their poses alone

    shapes, points, scratch = collision_arrays(models, worlds)
    find_points = point_finder(pair_types(models))
    find_points(shapes, points, scratch, poses, margins, world)     # in a kernel, one thread for each world

rigid/constraints/contact_rows.py writes constraint rows for each contact point, for the solvers that use rows.
"""
