"""Sequential impulses over rows (rigid/constraints/rows.py), whatever the coordinates in which a solver moves.

    data.py     a row's columns: softness, bias, impulse
    prepare.py    what a step's sweeps need of each group, once a step
    relax.py      one group solved: read this
    contacts.py    impulses of contacts, kept from one step to the next

What impulses do to velocities is the solver's: its `s.space`, a module with the functions

    hold(s, i, j, stage, world)                     velocities of two bodies, or of what carries them
    rate(s, row, i, j, held, stage, world)          J V of a row
    push(s, row, i, j, change, held, stage, world)  V + M⁻¹ Jᵀ change: held anew
    release(s, i, j, held, stage, world)            write them back
    renew(s, row, i, j, world)                      M⁻¹ Jᵀ of a row that has been written
    follow(s, row, i, j, world)                     the same in stage 1, where bodies have moved on
    matrix(s, row, other, i, j, world)              an entry of J M⁻¹ Jᵀ, of two rows of the same bodies
    gear_matrix(s, group, first, world)             J M⁻¹ Jᵀ of a gear
    afresh(s, kind, i, j, world)                    whether a joint's matrix is made anew in stage 1

as rigid/solvers/impulse/maximal.py has them for bodies each on its own, rigid/solvers/articulated/reduced.py for trees. `stage` is 0
for velocities, 1 for the pseudo-velocities that mend positions.
"""
