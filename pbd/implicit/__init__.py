"""Elements solved together: membranes and plates by one sparse matrix of all their particles in each substep.

    tables.py   which elements, in which order their particles are eliminated, and the lists of the factor (on the host)
    solve.py    the algorithm, in kernels; open it first
    blocks.py   the factor of 3 x 3 blocks
"""
