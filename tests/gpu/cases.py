"""Small systems that together have every kind of what kernels compute, for tests on a graphics card.

    python tests/gpu/cases.py gpu CASE     run a case for 0.2 s with 32 bits, and print numbers as JSON

A case compiles few kernels, because the time in which a driver compiles one grows faster than its length.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

DURATION, DT = 0.2, 1 / 60

# Changes of positions at the start, in parts of the round-off of the farthest coordinate: that of one operation, and of
# many in sequence. See tests/golden/golden.py.
ROUND_OFFS = (1, 1, 10, 10)


def lying(p, shift=0.0):
    """Six particles in two rows, by which constraints of up to four go. Returns: their indices."""
    points = [(0.3 * k, 0.3 * row + 0.02 * k, 1.0 + 0.05 * k * row) for row in range(2) for k in range(3)]
    return p.add_particles(np.add(points, (0.0, shift, 0.0)), mass=[1.0, 2.0, 1.5, 1.0, 3.0, 1.0])


def sticks(p):
    """Sticks with each bound, and with compliance."""
    a, b, c, d, e, f = lying(p)
    p.pin(a)
    p.add_sticks([(a, b), (b, c), (d, e)])
    p.add_stick(e, f, compliance=1e-4)
    p.add_stick(a, d, bound="at_least")
    p.add_stick(c, f, bound="at_most")


def angles(p):
    """Limits of angles, and of the distance from a plane."""
    a, b, c, d, e, f = lying(p)
    p.pin(a)
    p.add_sticks([(a, b), (b, c), (d, e), (a, d), (e, f)])
    p.add_angle_limit(a, b, c, minimum=2.5)
    p.add_angle_limit(b, e, f, maximum=1.4)
    p.add_plane_limit(f, (a, b, d), distance=-0.2)


def sheets(p):
    """Bending of two kinds, a volume, an attachment, and wind."""
    a, b, c, d, e, f = lying(p)
    p.pin([a, b])
    p.add_sticks([(a, b), (b, c), (d, e), (a, d), (b, e), (d, b)])
    p.add_bending([(b, d, a, e)], compliance=1e-3)
    p.add_flat_bending([(b, e, d, c)], compliance=1e-3)
    tip = p.add_particle((0.3, 0.2, 1.6))
    p.add_volumes([(a, b, d, tip)])
    p.add_attachment((tip,), (1.0,), (e, f), (0.5, 0.5))
    p.add_triangles([(a, b, d), (b, e, d)])
    p.wind = (1.0, 2.0, 0.0)


def colliders(p, shapes):
    """A grain above each of some colliders, with friction and restitution."""
    for k, shape in enumerate(shapes):
        p.add_particle((k, 0.05, 0.62), velocity=(0.3, 0.2, -3.0), radius=0.05)
        p.add_collider(shape(k), friction=0.4, restitution=0.3)


def round_colliders(p):
    """A plane, a sphere, a capsule, and a box around all."""
    import pbd

    colliders(p, [
        lambda k: pbd.Plane(point=(0, 0, 0.2)),
        lambda k: pbd.Sphere(0.5, centre=(k, 0, 0)),
        lambda k: pbd.Capsule(0.5, start=(k, -1, 0), end=(k, 1, 0)),
    ])  # fmt: skip
    p.add_box((-1, -2, 0.25), (9, 2, 3), friction=0.2)


def flat_colliders(p):
    """A box, a cylinder and a mesh."""
    import pbd

    corners = np.array([(-0.4, -0.4, 0), (0.4, -0.4, 0), (0, 0.6, 0), (0, 0, 0.5)])
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    colliders(p, [
        lambda k: pbd.Box((1, 1, 1), centre=(k, 0, 0)),
        lambda k: pbd.Cylinder(0.5, start=(k, -1, 0), end=(k, 1, 0)),
        lambda k: pbd.MeshCollider((corners + (k, 0, 0), faces), resolution=12),
    ])  # fmt: skip


def grains(p):
    """Grains that meet."""
    points = [(0.21 * i, 0.21 * j, 0.3 + 0.05 * (i + j)) for i in range(3) for j in range(3)]
    middle = np.mean(points, axis=0)
    p.add_particles(points, velocity=3.0 * (middle - points), radius=0.1)
    p.add_particle_contacts(friction=0.3)


def surfaces(p):
    """Cloths and a rope that touch as surfaces."""
    import pbd

    for z in (0.0, 0.03):
        pbd.build.cloth(
            p, (z, z, z), (0.1, 0.01, 0), (0, 0.1, 0), (3, 3), thickness=0.02, friction=0.3, contacts="surface",
            pins=() if z else ("left_top", "right_bottom"),
        )  # fmt: skip
    pbd.build.rope(p, [(0, 0.05, 0.07), (0.1, 0.06, 0.08)], 2, mass=0.01, radius=0.005, friction=0.2)


def elements(p):
    """A triangle on a ball, and a point of a stick in a box."""
    import pbd

    triangle = p.add_particles([(0, 0, 0.6), (0.3, 0, 0.6), (0, 0.3, 0.6)], velocity=(0, 0, -3))
    p.add_sticks([triangle[:2], triangle[1:], triangle[::2]])
    p.add_element_contacts([triangle])
    p.add_collider(pbd.Sphere(0.5), friction=0.3)
    rod = p.add_particles([(2, 0, 0.6), (2.5, 0, 0.6)], velocity=(0, 1, -3))
    p.add_stick(*rod)
    p.add_contact_point(rod, (0.5, 0.5), radius=0.1)
    p.add_box((-1, -1, 0.4), (3, 1, 3), friction=0.2)


def cloth(p):
    """A cloth of more constraints than one thread projects, with a corner pinned."""
    import pbd

    pbd.build.cloth(p, origin=(0, 0, 1), right=(0.5, 0, 0), down=(0, 0.5, 0), counts=(12, 12))
    p.pin(0)


PARTICLES = {
    "sticks": (sticks, {}), "angles": (angles, {}), "sheets": (sheets, {}),
    "round_colliders": (round_colliders, {}), "flat_colliders": (flat_colliders, {}), "grains": (grains, {}),
    "surfaces": (surfaces, {}), "elements": (elements, {"schedule": "coloured", "substeps": 1, "iterations": 2}),
    "from_start": (sticks, {"direction": "start"}),
    "cloth": (cloth, {"schedule": "coloured", "substeps": 1, "iterations": 2}), "worlds": (sticks, {"worlds": 100}),
}  # fmt: skip


def joints():
    """A chain of every kind of joint, with gravity."""
    from described import all_joints_in_a_row

    masses = np.array([1.0, 2.0, 1.5, 1.0, 3.0, 1.0, 2.0])
    return all_joints_in_a_row(masses, spin=1.0, drift=0.5, gravity=(0, 0, -9.81))


def falling(**shapes):
    """Bodies that hit the ground with friction. Args: shapes: name of a method of Model, and its arguments."""
    import rigid

    model = rigid.Model()
    for k, (name, arguments) in enumerate(shapes.items()):
        add = getattr(model, f"add_{name}")
        add(*arguments, mass=1.0 + k, position=(k, 0, 0.3), velocity=(0.5, 0.2, -3.0), angular_velocity=(1.0, 2.0, 0.5))
    model.add_ground(friction=0.5, restitution=0.2)
    return model


def balls():
    """A ball and a capsule on the ground."""
    return falling(sphere=(0.2,), capsule=(0.1, 0.3))


def pendulums():
    """A hinge, which swings. See WORLDS."""
    import rigid

    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0, position=(0.5, 0.1, 0), name="bob")
    model.add_hinge(rigid.GROUND, "bob", (0, 0, 0), axis=(0.2, 1, 0.1))
    return model


ALL = ("impulse", "articulated", "penalty", "verlet")

# Not boxes: Mesa's driver compiles their contacts for more than ten minutes.
BODIES = {f"{make.__name__}-{solver}": (make, solver) for make in (joints, balls) for solver in ALL}
BODIES["pendulums-impulse"] = pendulums, "impulse"
WORLDS = {pendulums: 3}

# What solvers need besides a step and substeps.
OPTIONS = {
    "impulse": {"substeps": 2, "iterations": 20}, "articulated": {"substeps": 2, "iterations": 20},
    "penalty": {"substeps": 64}, "verlet": {"substeps": 4, "iterations": 20, "solve": "iterative"},
}  # fmt: skip

CASES = (*PARTICLES, *BODIES)


def system_of(case):
    """A system or solver at its start. Args: case: one of CASES."""
    import pbd
    import rigid

    if case in PARTICLES:
        (fill, options), p = PARTICLES[case], pbd.Particles()
        fill(p)
        return pbd.ParticleSystem(p, **{"dt": DT, "substeps": 2, "iterations": 10, **options})
    make, solver = BODIES[case]
    return rigid.solver(solver, make(), dt=DT, worlds=WORLDS.get(make, 1), **OPTIONS[solver])


def change_by_round_off(system, round_offs, seed):
    """Change the positions of a system by round-off. Args: round_offs: see ROUND_OFFS; seed."""
    particles = hasattr(system, "positions")
    state = system.state() if particles else system.state(warm_start=False)
    part = round_offs * np.finfo(np.float32).eps * np.abs(state.position).max()
    shift = part * np.random.default_rng(seed).uniform(-1, 1, state.position.shape)
    names = ("position", "previous_position") if particles else ("position",)
    system.set_state(replace(state, **{name: getattr(state, name) + shift for name in names}))


def positions_after(system, round_offs, seed):
    """Positions after DURATION from a start that differs by round-off. Args: round_offs: see ROUND_OFFS; seed."""
    if round_offs:
        change_by_round_off(system, round_offs, seed)
    system.step(round(DURATION / DT))
    return np.asarray(system.state().position, float), system.digest()


def run(device, case):
    """Run a case in this process. Args: device: see `initialise`; case: one of CASES.

    Returns: positions; digests of two runs; spread: how far round-off moves positions on a processor [m]. Nothing if
    there is no such device.
    """
    from pbd.core.kernels import on_cpu
    from scenes.simulate.device import initialise

    initialise(device, precision=32, opt_level=0)
    if on_cpu() != (device == "cpu"):
        return {}
    positions, digest = positions_after(system_of(case), 0, 0)
    again = positions_after(system_of(case), 0, 0)[1]
    moved = [
        np.abs(positions_after(system_of(case), each, seed)[0] - positions).max()
        for seed, each in enumerate(ROUND_OFFS if on_cpu() else ())
    ]
    return {"positions": positions.tolist(), "digests": [digest, again], "spread": max(moved, default=0.0)}


if __name__ == "__main__":
    sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])  # tests, and the packages
    print(json.dumps(run(*sys.argv[1:])))
