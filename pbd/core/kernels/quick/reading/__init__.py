"""Reading kernels from Python: as Taichi does it, in a small part of the time for kernels as long as ours.

Taichi 1.7.4 evaluates the syntax tree of each function on Python objects, as often as the function is called. While it
reads our kernels, functions of Taichi are replaced by these. The kernels' results have the same bits.

    quickly.py         all that is replaced, and the context in which it is
    definitions.py     whether a Taichi function is defined in a class
    source.py          the text of functions and their syntax trees, parsed once
    builder.py         the nodes of a tree, and their places in the text, which errors show
    variables.py       fewer local variables
    vector_methods.py  products and norms of vectors

For the parameters see pbd/core/kernels/quick/structures.py, for vectors of several worlds pbd/core/kernels/lanes.
"""
