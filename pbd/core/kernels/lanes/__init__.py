"""Kernels in lanes: one thread runs L worlds, one in each lane of the processor's vectors.

The text of a Taichi function says what one world does. Read by `read_in_lanes`, the same text does it for L worlds:

    a real number      is a vector of L numbers, one lane for each world; so is a truth value
    a vector           is a LaneVector, whose components are such numbers
    an integer         is common to all lanes: indices and loops do not differ between worlds
    if                 stores only in the lanes in which the condition is true; a long body is skipped if there are none
    while              goes on while `any_world` needs it, with an `if` in it: a world that is done waits for the others

Each lane has the bits that its world has alone, because each operation is that of scalar code, or has its exact result.
Arrays with an axis of worlds have vectors as elements (layout.py): a processor loads and stores them whole.

Taichi evaluates the expressions of a function on Python objects. So a few of its functions are replaced while it reads
a function in lanes (values.py, statements.py). Its vectors are then compiled as vectors of the processor
(`real_matrix_scalarize=False`). 16 lanes of sticks take 0.6 of the time that they take as numbers which LLVM puts
together. Taichi 1.7.4 supports few operations on such vectors, the others are made lane by lane.

Functions `in_packs` (packs.py) put items of one world into lanes, within a kernel that runs one world.

Source: Pharr, Mark, ispc: A SPMD compiler for high-performance CPU programming (2012), for the masks.
"""
