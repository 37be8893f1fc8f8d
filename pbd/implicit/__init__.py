"""Elements solved together: membranes, plates and solids by one sparse matrix of all their particles in each substep.

    tables.py       which elements, in which order their particles are eliminated, and the lists (on the host)
    solve.py        the algorithm, in kernels; open it first
    linear.py       solves with the matrix: by its factor, or by conjugate gradients
    blocks.py       the factor of 3 x 3 blocks
    conjugate.py    conjugate gradients
    symmetric.py    elements whose energy stays
    gas.py          gases in closed surfaces, whose stiffness joins the matrix
    recovery.py     bodies that are tangled
"""
