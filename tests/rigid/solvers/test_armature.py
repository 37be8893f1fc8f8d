"""Armature of joints with all solvers: closed forms, momenta, energy, states, worlds, errors."""

import numpy as np
import pytest
from described import ZERO, X, Y
from marks import cases

import rigid
from pbd.core.kernels import read, write

EXACT = {
    "impulse": {"iterations": 100, "tolerance": 1e-14}, "articulated": {"iterations": 100, "tolerance": 1e-14},
    "verlet": {"iterations": 100},
}  # fmt: skip
SOLVERS = {**EXACT, "penalty": {}}
SOME = cases(SOLVERS, slow=["verlet", "penalty"])
H = 0.002


def solve(name, model, **options):
    return rigid.solver(name, model, dt=H, contacts=False, **SOLVERS[name], **options)


def driven(armature=0.2, mass=3.0):
    """A wheel with I = 0.4 kg m² on a hinge and a sledge of 2 kg on a slider, with motors, rotors and no gravity."""
    model = rigid.Model(gravity=ZERO)
    wheel = model.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3), position=(0, 3, 0), name="wheel")
    motor = rigid.Motor(torque=0.6)
    model.add_hinge(rigid.GROUND, wheel, (0, 3, 0), Y, motor=motor, armature=armature, name="axle")
    sledge = model.add_box((0.4, 0.2, 0.2), mass=2.0, name="sledge")
    model.add_slider(rigid.GROUND, sledge, None, X, motor=rigid.Motor(torque=-2.0), armature=mass, name="rail")
    return model


def arm(armature=(0.1, 0.05), gravity=(0, 0, -9.81)):
    """Two free bodies on an oblique hinge, the second with a slider, all in motion."""
    model = rigid.Model(gravity=gravity)
    trunk = model.add_box((0.5, 0.3, 0.2), mass=2.0, angular_velocity=(0.3, -0.4, 0.5), name="trunk")
    lower = model.add_box((0.4, 0.1, 0.1), mass=1.0, position=(0.45, 0, 0), angular_velocity=(0.3, 1.1, 0.5),
                          velocity=(0, 0.225, 0.09 - 0.2), name="lower")  # fmt: skip
    model.add_hinge(trunk, lower, (0.25, 0, 0), Y, armature=armature[0], name="elbow")
    tip = model.add_box((0.1, 0.1, 0.1), mass=0.5, position=(0.6, 0, 0), angular_velocity=(0.3, 1.1, 0.5),
                        velocity=(0.4, 0.3, -0.3), name="tip")  # fmt: skip
    model.add_slider(lower, tip, None, X, armature=armature[1], name="rail")
    return model


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["articulated", "verlet"]))
def test_motion_by_a_constant_effort(name):
    # q̈ = T/(I + a). Semi-implicit Euler and Verlet from rest alike: q = h² n (n + 1)/2 q̈ after n steps. With frames
    # an angle of φ in a step is φ (1 + O(φ²)) long. With penalties a spring of stiffness α* I a/(I + a) carries a q̈ to
    # the rotor, which stays behind by G, and I q + a (q - G) = T t²/2: q is larger by a q̈/(α* I) as soon as the
    # damping has ended the spring's oscillation.
    n = 100
    solver = solve(name, driven())
    solver.step(n)
    found = solver.joint_positions()
    for joint, effort, inertia, armature, alpha in (
        ("axle", 0.6, 0.4, 0.2, "angular_stiffness"), ("rail", -2.0, 2.0, 3.0, "stiffness")
    ):  # fmt: skip
        acceleration = effort / (inertia + armature)
        lag = armature / (getattr(solver.options, alpha) * inertia) if name == "penalty" else 0.0
        expected = acceleration * (H**2 * n * (n + 1) / 2 + lag)
        assert found[joint] == pytest.approx(expected, rel={"verlet": 1e-6, "penalty": 1e-4}.get(name, 1e-10))


@pytest.mark.parametrize("name", ["impulse", "penalty"])
def test_rotors_gain_the_momentum_that_bodies_lack(name):
    # I ω + a u = T t in each step to round-off, whatever the spring of a rotor does.
    solver = solve(name, driven())
    solver.step(37)
    velocities, target = solver.joint_velocities(), rigid.constraints.rows.ROW.target
    rotors = {joint: solver.data.rows.numbers.to_numpy()[0, row, target] for joint, row in solver.rotors.items()}
    assert 0.4 * velocities["axle"] + 0.2 * rotors["axle"] == pytest.approx(0.6 * 37 * H, rel=1e-10)
    assert 2.0 * velocities["rail"] + 3.0 * rotors["rail"] == pytest.approx(-2.0 * 37 * H, rel=1e-10)


@pytest.mark.parametrize("name", SOME[:-1])
def test_armature_conserves_the_momentum_of_free_bodies(name):
    # The effort acts on both bodies of a joint with opposite signs, so P is conserved to round-off. The tolerance is
    # that of a hundred steps with the velocities that frames lose by their iterations.
    model = arm(gravity=ZERO)
    solver = solve(name, model)
    P = model.masses @ solver.state().velocity
    solver.step(100)
    assert model.masses @ solver.state().velocity == pytest.approx(P, abs=1e-9)


@pytest.mark.parametrize("name", SOME[:-1])
def test_energy_counts_the_rotor(name):
    # Without forces a hinge keeps its speed: E = (I + a) ω²/2.
    model = driven()
    model.joints.clear()
    model.bodies[0].angular_velocity = np.array([0, 1.5, 0])
    model.add_hinge(rigid.GROUND, 0, (0, 3, 0), Y, armature=0.2, name="axle")
    solver = solve(name, model)
    solver.step(50)
    assert solver.energy().kinetic == pytest.approx(0.5 * (0.4 + 0.2) * 1.5**2, rel=1e-4 if name == "verlet" else 1e-10)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_states_with_rotors_continue(tmp_path, name):
    """With its warm start bit for bit; from poses and velocities alone, rotors have the speeds of their joints."""
    first, second = solve(name, arm()), solve(name, arm())
    first.step(20)
    first.state().save(tmp_path / "state.npz")
    second.set_state(rigid.State.load(tmp_path / "state.npz"))
    for solver in (first, second):
        solver.step(20)
    assert first.digest() == second.digest()
    fresh, start = solve(name, arm()), solve(name, arm()).state()
    fresh.step(5)
    fresh.set_state(rigid.State(start.position, start.rotation, start.velocity, start.angular_velocity))
    again = solve(name, arm())
    if name != "verlet":  # whose velocities are those of the middle of a step
        for solver in (fresh, again):
            solver.step(20)
        assert fresh.state().position == pytest.approx(again.state().position, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases(SOLVERS, slow=["articulated", "verlet", "penalty"]))
def test_each_world_has_its_armature(name):
    pairs = (0.1, 0.05), (0.3, 0.0)
    together = solve(name, [arm(pair) for pair in pairs])
    together.step(20)
    for world, pair in enumerate(pairs):
        alone = solve(name, arm(pair))
        alone.step(20)
        assert together.state().position[world] == pytest.approx(alone.state().position, abs=1e-9)


def test_wrong_armatures_are_refused():
    with pytest.raises(ValueError, match="armature is -1"):
        driven(armature=-1.0)
    with pytest.raises(NotImplementedError, match="'elbow' has an armature"):
        rigid.solver("impulse", arm(), dt=H, integrator="variational")


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_joint_forces_lack_what_accelerates_the_rotor(name):
    # The body alone feels I q̈ of the motor's T = (I + a) q̈: 0.4 of 0.6 N m, and 0.8 of 2 N.
    solver = solve(name, driven())
    solver.step(60)
    forces = solver.joint_forces()
    assert forces["axle"][1] == pytest.approx((0, 0.4, 0), abs=1e-3 if name == "penalty" else 1e-5)
    assert forces["rail"][0] == pytest.approx((-0.8, 0, 0), abs=5e-3 if name == "penalty" else 1e-5)


@pytest.mark.slow
def test_a_tree_may_run_from_child_to_parent():
    """The heavy child is the root of the tree, and the joint's coordinate counts against it. Three solvers agree to the
    order of a step of 1 ms in 0.3 s."""
    model = rigid.Model(gravity=ZERO)
    light = model.add_box((0.1, 0.1, 0.1), mass=0.1)
    heavy = model.add_box((0.4, 0.2, 0.2), mass=5.0, position=(0.3, 0, 0), angular_velocity=(0, 2, 0))
    model.add_hinge(light, heavy, (0.05, 0, 0), Y, armature=0.3, name="hinge")
    found = {}
    for name in EXACT:
        solver = rigid.solver(name, model, dt=0.001, contacts=False, **EXACT[name])
        solver.step(300)
        found[name] = solver.joint_positions()["hinge"]
    assert found["articulated"] == pytest.approx(found["verlet"], abs=1e-5)
    assert found["impulse"] == pytest.approx(found["verlet"], abs=1e-3)


@pytest.mark.slow
def test_the_watch_of_verlet_counts_rotors():
    # A rod that falls by m g L/2 = 4.9 J gives its rotor a/(I + a) = 3/4 of that. Nothing warns until the rotor gets
    # energy from nowhere.
    model = rigid.Model()
    rod = model.add_box((1.0, 0.05, 0.05), mass=1.0, position=(0.5, 0, 0))
    model.add_hinge(rigid.GROUND, rod, ZERO, Y, armature=1.0, name="axle")
    solver = solve("verlet", model)
    kinetic, particles = [], []
    for _ in range(50):
        solver.step(20)
        kinetic.append(solver.energy().kinetic)
        particles.append(solver.particle_system.energy().total)
    assert max(kinetic) > 4.5
    assert np.ptp(particles) > 3.0  # which the watch would take for a rise without the rotor
    constraints = solver.particle_system.constraints
    parameters = read(constraints.arrays.parameters)
    parameters[solver._rotors["axle"]] *= 5.0
    write(constraints.arrays.parameters, parameters)
    with pytest.warns(UserWarning, match="energy has risen"):
        solver.step(5)


@pytest.mark.parametrize("mass", [1.0, 1e-6, 1e-15])
def test_a_damper_brakes_a_body_that_is_lighter_than_its_rotor(mass):
    # Implicit Euler: v' = v/(1 + h d/(m + a)), however light the body is.
    model = rigid.Model(gravity=ZERO)
    sledge = model.add_body(mass=mass, inertia=(mass, mass, mass), velocity=(2.0, 0, 0))
    model.add_slider(rigid.GROUND, sledge, None, X, armature=0.04, spring=rigid.Spring(0.0, 0.5), name="rail")
    solver = solve("articulated", model)
    solver.step(50)
    expected = 2.0 / (1 + H * 0.5 / (mass + 0.04)) ** 50
    assert solver.joint_velocities()["rail"] == pytest.approx(expected, rel=1e-12)
