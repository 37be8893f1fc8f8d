"""Kernels as plain Python: a debugger stops in them, and compiled kernels are compared with them.

With `VERLETLAB_KERNELS=plain` the functions of a kernel are ordinary functions on numpy's arrays. Each is made of its
own source text, with the lines and names that a reader and a debugger know, and with three changes, because Taichi's
values are not Python's:

    found = value     copies a vector or matrix, and makes a number of it in the precision of `ti.init`
    f(x)              calls what stands here for a function of Taichi, such as `Vector`, `ti.sqrt`, or another of ours
    ti.atomic_add     and its kind get an array and an index, in place of the element's value

Operations are those of IEEE 754 in the order of the text, as in compiled kernels. It is a thousand times as slow.

Limitations: on the processor, on one thread, worlds one after another. A variable that begins as an integer stays one
in Taichi, here it becomes what it is assigned. On Windows `ti.sin` and its kind are Python's, which round otherwise in
32 bits.

    storage.py      arrays of numpy, with the interface of Taichi's
    values.py       numbers, vectors, matrices, structures, arrays
    functions.py    functions in place of Taichi's own; plain functions, made of the source text of ours
    launch.py       kernels and launches
"""
