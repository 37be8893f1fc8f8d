"""Velocities at the time of the poses, for the variational integrator (variational.py), and the bound of the energy."""

import taichi as ti

from pbd.core.kernels import compiled_once, load_quaternion, load_vector, store_vector
from pbd.core.quaternions import rotate, rotate_back
from rigid.constraints.rows import GROUP, Group, bodies_of
from rigid.kernels.matrices import multiply_symmetric
from rigid.kernels.motion import MASS, POSE, PSEUDO, VELOCITY, apply_forces, multiply_inertia
from rigid.solvers.articulated.dynamics import inward_pass, outward_pass
from rigid.solvers.articulated.links import LINK, START
from rigid.solvers.energy_bound import kinetic_energy
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.gained_energy import FREE_ENERGY, bounding_factor


@ti.func
def begin_velocities(s: ti.template(), world):
    """Velocities half a step behind the poses, from those of the last substep's end."""
    sum_energies(s, FREE_ENERGY.before, world)
    for link in range(s.trees.links.shape[0]):
        if s.trees.synchronous[world, s.trees.links[link, LINK.tree]] == 1:
            apply_forces(s, s.trees.links[link, LINK.body], -0.5 * s.step.h, world)


@ti.func
def synchronise(s: ti.template(), groups, last, world):
    """Bring velocities to the time of the poses, those of trees on which no row acts, and project them on joints.

    Args: groups: of rows; last: whether joint forces are read of this substep.
    """
    links = ti.static(s.trees.links)
    find_free_trees(s, groups, world)
    if last:
        add_momenta(s, -1, world)
    for link in range(links.shape[0]):
        if s.trees.synchronous[world, links[link, LINK.tree]] == 1:
            apply_forces(s, links[link, LINK.body], 0.5 * s.step.h, world)
    if last:
        add_momenta(s, 1, world)
    project(s, world)
    bound_energies(s, world)
    if last:
        add_momenta(s, -1, world)
        for link in range(links.shape[0]):
            for k in ti.static(range(PSEUDO)):
                body = links[link, LINK.body]
                value = s.trees.starts[world, body, START.linear + k] + s.bodies.velocity[world, body, k]
                s.trees.starts[world, body, START.linear + k] = value


@ti.func
def sum_energies(s: ti.template(), column: ti.template(), world):
    """Sum the kinetic energies of the links of each tree. Args: column: of FREE_ENERGY."""
    energy = ti.static(s.trees.energy)
    for link in range(s.trees.links.shape[0]):
        energy[world, link, column] = 0.0
    for link in range(s.trees.links.shape[0]):
        tree = s.trees.links[link, LINK.tree]
        kinetic = kinetic_energy(s, s.trees.links[link, LINK.body], world)
        energy[world, tree, column] = energy[world, tree, column] + kinetic


@compiled_once("bodies", "trees", "step")
def bound_energies(s: ti.template(), world):
    """Scale the velocities of trees whose kinetic energy has risen too much without work.

    See rigid/solvers/sequential/gained_energy.py.
    """
    links, energy, v = ti.static(s.trees.links, s.trees.energy, s.bodies.velocity)
    sum_energies(s, FREE_ENERGY.after, world)
    for tree in range(links.shape[0]):
        if links[tree, LINK.tree] == tree:
            free = s.trees.synchronous[world, tree] == 1 and s.step.external == 0
            factor = bounding_factor(energy, tree, free, s.trees.solved[world, tree] == 1, world)
            if factor < 1.0:
                for link in range(tree, links[tree, LINK.tree_end]):
                    for k in ti.static(range(PSEUDO)):
                        body = links[link, LINK.body]
                        v[world, body, k] = factor * v[world, body, k]


@compiled_once("bodies", "trees")
def add_momenta(s: ti.template(), sign, world):
    """Add the bodies' momenta now to what joint_forces.py stores, or subtract them, as velocities at the stored poses.

    For joint forces, bodies would have M_b V' at the end of the substep if they were free: the momenta of its start,
    and what forces add at its start and end. The balance takes M_b of the start, so V' contains the rest.
    """
    starts, velocity = ti.static(s.trees.starts, s.bodies.velocity)
    for link in range(s.trees.links.shape[0]):
        body = s.trees.links[link, LINK.body]
        v = load_vector(starts, body, START.linear, world) + sign * load_vector(velocity, body, VELOCITY.linear, world)
        store_vector(starts, body, START.linear, v, world)
        q = load_quaternion(starts, body, START.rotation, world)
        now = load_quaternion(s.bodies.pose, body, POSE.rotation, world)
        L = multiply_inertia(s.bodies, body, now, load_vector(velocity, body, VELOCITY.angular, world), world)
        w = rotate(q, multiply_symmetric(s.bodies.mass, body, MASS.inverse_inertia, rotate_back(q, L), world))
        store_vector(starts, body, START.angular, load_vector(starts, body, START.angular, world) + sign * w, world)


@compiled_once("bodies", "trees", "rows", "step", "features")
def project(s: ti.template(), world):
    """Find the speeds that have the momenta of the bodies' velocities, and the velocities of these speeds."""
    inward_pass(s, world)
    outward_pass(s, world)


@ti.func
def find_free_trees(s: ti.template(), groups, world):
    """Mark the trees on which no row has acted in the substep."""
    links, rows = ti.static(s.trees.links, s.rows)
    for link in range(links.shape[0]):
        s.trees.synchronous[world, link] = 1
    if ti.static(s.features.rows):
        for group in range(groups):
            if rows.kinds[world, group] != Group.IDLE:
                for k in range(rows.groups[world, group, GROUP.count]):
                    if rows.numbers[world, rows.groups[world, group, GROUP.first] + k, ROW.impulse] != 0.0:
                        for body in ti.static(range(2)):
                            link = s.trees.link_of[bodies_of(rows, group, k, world)[body]]
                            if link >= 0:
                                s.trees.synchronous[world, links[link, LINK.tree]] = 0
