"""Quick kernels: Taichi 1.7.4 reads, compiles and launches them by private functions.

These files need one another, so the mode has all of them or none:

    launch.py          kernels, and launches with arrays that are bound once
    compilation.py     when a kernel is compiled, and at which level
    structures.py      all parameters as one, which `Launch` writes
    storage.py         arrays, of which `Launch` knows the addresses
    reading/quickly.py reading/replacing.py    functions of Taichi are replaced by ours
    reading/builder.py    nodes are read, and counted for compilation.py

Each other file can be deleted, with its own tests and the lines that name it. All other tests of the kernels pass then
(but one of signatures needs functions.py), and the ragdoll with "impulse" has the same bits. unrolling.py gains on two
families of AMD's processors alone, and says how much. On others the first start of the ragdoll took this long, on a
busy machine, where repeated runs differ by 0.3 s [s of processor time]:

    deleted                                          to read its kernels    to the first step
    nothing                                          0.7                    4.5
    functions.py, for public/functions.py            0.6                    6.0
    reading/variables.py                             0.6                    5.2
    reading/subscripts.py                            0.9                    4.6
    reading/source.py                                0.7                    3.8
    reading/vector_methods.py                        1.2                    4.8
    all of these                                     2.1                    7.5

In a quieter hour, medians of five: 5.2 with reading/source.py and 5.8 without, for "articulated" 8.1 and 7.9. Without
reading/definitions.py the import takes 0.5 s instead of 0.4. Only kernel_lookup.py needs signature.py. Without both,
later starts read kernels again.
"""
