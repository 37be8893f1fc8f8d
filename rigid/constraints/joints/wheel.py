"""Wheel: a rim rolls on a plane; one row for its height, two against slip. It has no coordinates.

n is the plane's normal, a the spin axis, and h the hub. The point of the rim that is nearest to the plane is
p = h - ρ, with ρ = r (n - (n·a) a)/|n - (n·a) a|. The heading is e = a × n/|a × n|. The rows are

    height  G = (p - p_0)·n, for p_0 in the plane;  dG/dt = n·(v + ω × (p - x)), because (dρ/dt)·n = (ω × ρ)·n
    slip    e·(v + ω × (p - x)) = 0 and (n × e)·(v + ω × (p - x)) = 0: rows of velocities, without a G

v and ω are of the wheel, x is its centre. ω contains the spin and the yaw. Without friction (None) the first row is an
equality and the others are unbounded. With friction μ the first row is a limit G >= 0, and its effort times μ bounds
the slip rows as a vector. Source: [2] of docs/solvers/sources.md, the bicycle, whose e_2 is our e.
"""

import taichi as ti

from rigid.constraints.joints.data import FRAMES, JOINT
from rigid.constraints.rows import write_jacobian


@ti.func
def write_wheel(s: ti.template(), joint, row, c, ends, world):
    """Write the rows of a wheel. Args: see special.py; row: that of the height; ends: the parent's in the plane."""
    n, a, hub = ends[4][0], ends[5][0], ends[1]
    across = n - n.dot(a) * a
    sine = across.norm() + 1e-30
    rho = s.joints.frames[world, joint, FRAMES.length] / sine * across
    e = a.cross(n) / sine
    arm_j = ends[3] - rho
    arm_i = ends[2] + (hub - rho - ends[0])
    slip = s.joints.integers[joint, JOINT.friction_row]
    write_jacobian(s.rows, row, -n, -arm_i.cross(n), arm_j.cross(n), (hub - rho - ends[0]).dot(n), world)
    for k, d in ti.static(enumerate((e, n.cross(e)))):
        write_jacobian(s.rows, slip + k, -d, -arm_i.cross(d), arm_j.cross(d), 0.0, world)
