"""Quick kernels: Taichi 1.7.4 reads, compiles and launches them by private functions.

These files need one another, so the mode has all of them or none:

    launch.py          kernels, and launches with arrays that are bound once
    compilation.py     when a kernel is compiled, and at which level
    structures.py      all parameters as one, which `Launch` writes
    storage.py         arrays, of which `Launch` knows the addresses
    reading/quickly.py reading/replacing.py    functions of Taichi are replaced by ours
    reading/builder.py    nodes are read, and counted for compilation.py

Each other file can be deleted, with its own tests and the lines that name it. All other fast tests of pbd/core pass
then, and the ragdoll with "impulse" and drape have the same bits. The table has the processor time of a start of the
ragdoll, in parts of that with all files, which is 4.5, 5.4 and 10.6 s at first and 2.1 s later. These are medians of
three with 64 bits and one thread, on an Intel Xeon (family 6, model 207). They repeat within 5 %.

    deleted                                 first start: "impulse"   "articulated"   "verlet"    later: "impulse"
    functions.py, for public/functions.py                1.17        1.23            1.17        1.01
    kernel_lookup.py and signature.py                    1.00                                    1.27
    reading/definitions.py                               1.12                                    1.20
    reading/variables.py                                 1.05        1.00            1.11        1.01
    reading/source.py                                    1.09        1.04            1.09        0.98
    reading/vector_methods.py                            1.04        0.98            1.05        1.00
    unrolling.py                                         1.00                                    1.02
    all of these                                         1.58        1.60            1.66        2.15

Only kernel_lookup.py needs signature.py. unrolling.py gains on two families of AMD's processors alone, and says how
much. The last row is without quick subscripts, too, which gained 1.01, 0.94 and 1.05, and are gone.

reading/source.py and reading/vector_methods.py save the same time in part: if both are gone, a start takes 1.2 as
long. Without reading/vector_methods.py a kernel counts up to 1.7 times as many expressions, so the limits in
compilation.py would have to change.
"""
