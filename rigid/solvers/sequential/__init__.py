"""Sequential impulses over rows (rigid/constraints/rows.py), in maximal or generalised coordinates.

    data.py       columns of a row, arrays
    options.py    options of both solvers
    contacts.py   contact points and rows, with their impulses from the last step
    prepare.py    softness, bias and effective mass of each group, once a step; warm starting
    solve.py      the iterations, and the solution of one group: read this first
    sleep.py      bodies at rest that are left alone; kept_contacts.py: their contacts
    energy_of_rows.py  what soft rows store; gained_energy.py: the bound of the energy for both variational integrators
    solver.py     the base class of both solvers

How impulses change velocities is the solver's: `s.formulation`, a module with the functions

    load_velocities(s, i, j, stage, world)                  velocities of two bodies, or a placeholder
    store_velocities(s, i, j, velocities, stage, world)     write them
    row_velocity(s, row, i, j, velocities, stage, world)    J V of a row
    apply_impulse(s, row, i, j, impulse, velocities, stage, world)   V + M⁻¹ Jᵀ λ
    compute_response(s, row, i, j, world)                   M⁻¹ Jᵀ of a row that has been written
    update_response(s, row, i, j, world)                    the same for position correction, after bodies have moved
    matrix_entry(s, row, other, i, j, world)                an entry of J M⁻¹ Jᵀ, for two rows of the same bodies
    gear_matrix_entry(s, group, first, world)               J M⁻¹ Jᵀ of a gear
    needs_new_matrix(s, kind, i, j, world)                  whether position correction needs J M⁻¹ Jᵀ anew

rigid/solvers/impulse/maximal.py has them for single bodies, rigid/solvers/articulated/generalised.py for trees. `stage`
is known when the kernel is compiled: 0 for velocities, 1 for the pseudo-velocities that correct positions.
"""
