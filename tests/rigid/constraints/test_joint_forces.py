"""Forces in joints against closed forms: statics, a motor's torque, swings; and between solvers.

In the tests with contacts only balls touch the ground, so that these tests share a kernel for each solver.
"""

import itertools

import numpy as np
import pytest
from described import FAR, ZERO, X, Y, Z, g, model_of, rod_on_a_pivot
from marks import cases, slow

import rigid

# Impulses converge to 1e-12 N s. Penalties oscillate, and are damped by exp(-β* t/2) at least. Sticks converge by a
# part per iteration: what 1000 iterations leave of the fall g h² of a step is a force, too.
SOLVERS = {
    "impulse": {"dt": 0.01, "iterations": 500, "tolerance": 1e-12},
    "articulated": {"dt": 0.01, "iterations": 500, "tolerance": 1e-12},
    "penalty": {"dt": 0.003, "angular_damping": 25.0},
    "verlet": {"dt": 0.01, "iterations": 1000, "damping": 0.1},
}
CLOSE = {"impulse": 1e-8, "articulated": 1e-8, "penalty": 1e-4, "verlet": 1e-4}
# Motors of hinges of a chain.
MOTORS = {3: rigid.Motor(speed=1.0, max_effort=0.5)}
# Those whose joints are closed after each step.
CLOSED = ["impulse", "articulated", "verlet"]


SETTLED = {"impulse": 3.0, "articulated": 3.0, "penalty": 30.0, "verlet": 3.0}  # [s]


def add_ball_aside(model):
    """Add a ball on a hinge with limits, far away. Models with two balls and rows share a kernel of "articulated"."""
    ball = model.add_sphere(0.1, mass=1.0, position=(0, 0, FAR))
    model.add_hinge(rigid.GROUND, ball, (0, 0, FAR), Y, limits=(-1.0, 1.0), name="aside")


def settled(name, model, contacts=False, **options):
    """A solver of a model that has come to rest."""
    solver = rigid.solver(name, model, contacts=contacts, **{**SOLVERS[name], **options})
    solver.step(round(SETTLED[name] / solver.dt))
    return solver


@pytest.mark.parametrize("name", SOLVERS)
def test_weld_of_a_cantilever(name):
    # At rest F = (0, 0, m g), and the torque about the joint balances the weight at r: T = -r × (0, 0, -m g).
    model = rigid.Model(gravity=(0, 0, -g))
    beam = model.add_box((0.6, 0.1, 0.1), mass=2.0, position=(0.3, 0, 0))
    model.add_fixed(rigid.GROUND, beam, ZERO, name="weld")
    solver = settled(name, model)
    force, torque = solver.joint_forces()["weld"]
    arm = solver.state().position[0]
    assert force == pytest.approx((0, 0, 2.0 * g), abs=CLOSE[name])
    assert torque == pytest.approx(-np.cross(arm, (0, 0, -2.0 * g)), abs=10 * CLOSE[name])


@pytest.mark.parametrize("name", SOLVERS)
def test_upper_joint_of_a_hanging_chain_carries_both_bodies(name):
    model = rigid.Model(gravity=(0, 0, -g))
    for k, mass in enumerate((1.0, 3.0)):
        body = model.add_box((0.1, 0.1, 0.5), mass=mass, position=(0, 0, -0.25 - 0.5 * k))
        model.add_ball(body - 1, body, (0, 0, -0.5 * k), name=f"ball {k}")
    forces = settled(name, model).joint_forces()
    assert forces["ball 0"][0] == pytest.approx((0, 0, 4.0 * g), abs=10 * CLOSE[name])
    assert forces["ball 1"][0] == pytest.approx((0, 0, 3.0 * g), abs=10 * CLOSE[name])
    assert np.abs([forces["ball 0"][1], forces["ball 1"][1]]).max() < CLOSE[name]


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_torque_of_a_motor_is_included(name):
    # It holds a level rod: the torque about y balances the weight at 0.25 m. A motor of "penalty" gives way a little.
    solver = settled(name, rod_on_a_pivot(motor=rigid.Motor(speed=0.0)))
    force, torque = solver.joint_forces()["pivot"]
    assert force == pytest.approx((0, 0, g), abs=1e-3)
    assert torque == pytest.approx((0, -0.25 * g, 0), abs=1e-2)


def swing_reference(time):
    """Force of the pivot on `rod_on_a_pivot` that fell from the level for a time: m (a - g) of its centre [N].

    I θ'' = m g r cos θ, by the classical Runge-Kutta method, whose error with 2000 steps is below 1e-10.
    """
    r, inertia = 0.25, (0.5**2 + 0.05**2) / 12 + 0.25**2

    def rates(y):
        return np.array([y[1], g * r * np.cos(y[0]) / inertia])

    y, h = np.zeros(2), time / 2000
    for _ in range(2000):
        a = rates(y)
        b = rates(y + h / 2 * a)
        c = rates(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rates(y + h * c))
    towards, onward = np.array([-np.cos(y[0]), 0, np.sin(y[0])]), np.array([-np.sin(y[0]), 0, -np.cos(y[0])])
    return r * (y[1] ** 2 * towards + rates(y)[1] * onward) + (0, 0, g)


@pytest.mark.parametrize("name", CLOSED)
def test_pivot_of_a_swing_has_the_order_of_the_scheme(name):
    # At the start of the last substep, m (a - g), with m g cos and m r w² along the rod. Half the step: half the error
    # of semi-implicit Euler, a quarter of the error of Verlet.
    errors = []
    for h in (4e-3, 2e-3):
        solver = rigid.solver(name, rod_on_a_pivot(), dt=h, contacts=False, iterations=1000)
        solver.step(round(0.3 / h))
        force, torque = solver.joint_forces()["pivot"]
        errors.append(np.linalg.norm(force - swing_reference(0.3 - h)))
        assert abs(torque[1]) < 1e-4
    order = 2 if name == "verlet" else 1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


@pytest.mark.slow
def test_pivot_of_a_swing_with_the_variational_integrator():
    # The mean over the last substep is the force in its middle, of second order.
    errors = []
    for h in (4e-3, 2e-3):
        solver = rigid.solver("articulated", rod_on_a_pivot(), dt=h, contacts=False, integrator="variational")
        solver.step(round(0.3 / h))
        errors.append(np.linalg.norm(solver.joint_forces()["pivot"][0] - swing_reference(0.3 - h / 2)))
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.4)


@pytest.mark.slow
def test_pivot_of_a_swing_with_the_variational_integrator_of_impulse():
    # The impulses of the last substep act at its start, in second order.
    errors = []
    for h in (4e-3, 2e-3):
        solver = rigid.solver(
            "impulse", rod_on_a_pivot(), dt=h, contacts=False, iterations=1000, integrator="variational"
        )
        solver.step(round(0.3 / h))
        errors.append(np.linalg.norm(solver.joint_forces()["pivot"][0] - swing_reference(0.3 - h)))
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.4)


def test_articulated_solver_converges_to_the_impulse_solver():
    # Both are of first order and share no code for joint forces, so their difference halves with the step.
    def forces(name, h):
        model = rigid.Model(gravity=(0, 0, -g))
        for k in range(2):
            body = model.add_box((0.5, 0.1, 0.06), mass=1.0 + k, position=(0.25 + 0.5 * k, 0, 0))
            model.add_hinge(body - 1, body, (0.5 * k, 0, 0), (0, 1, 0.2), name=f"hinge {k}")
        solver = rigid.solver(name, model, dt=h, contacts=False, iterations=500, tolerance=1e-12)
        solver.step(round(0.4 / h))
        return np.array(list(solver.joint_forces().values()))

    differences = [np.abs(forces("articulated", h) - forces("impulse", h)).max() for h in (2e-3, 1e-3)]
    assert np.log2(differences[0] / differences[1]) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(
    ("support", "name"),
    [
        *itertools.product(["spring", "grab"], CLOSED[:2]), slow("spring", "verlet"), slow("grab", "verlet"),
        *(slow("contact", each) for each in CLOSED),
    ],
)
def test_pivot_carries_what_another_support_leaves(name, support):
    # A level rod whose other end is held up by m g/2, as its spring is stretched at the start: the pivot carries the
    # rest, without a torque. The ball at the end of the rod that stands on the ground is light.
    model, stiffness, grabs = rigid.Model(gravity=(0, 0, -g)), 1000.0, int(support == "grab")
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0), mask=0)
    model.add_hinge(rigid.GROUND, rod, ZERO, Y, name="pivot")
    stretch = 0.5 * g / stiffness
    if support == "spring":
        model.add_spring(rigid.GROUND, rod, (0.5, 0, 1.0), (0.5, 0, 0), stiffness=stiffness, rest_length=1.0 - stretch)
    elif support == "contact":
        model.add_shape(rod, rigid.Sphere(0.1, centre=(0.5, 0, 0)))
        model.add_ground(-0.1, friction=0.0)
        if name == "articulated":
            add_ball_aside(model)
    solver = rigid.solver(name, model, contacts=support == "contact", grabs=grabs, **SOLVERS[name])
    if support == "grab":
        solver.grab(0, rod, (0.25, 0, 0), (0.5, 0, stretch), stiffness)
    solver.step(100)
    force, torque = solver.joint_forces()["pivot"]
    assert force == pytest.approx((0, 0, 0.5 * g), abs=1e-3)
    assert np.abs(torque).max() < 1e-3


@pytest.mark.slow
def test_articulated_balance_is_exact_for_the_discrete_step():
    # What rows do not exert along a hinge's axis, the balance has as zero to round-off: only if all impulses on all
    # bodies beyond are in it, at the poses of the substep's start. 1e-9 of the forces, which are about 100 N.
    model = rigid.Model(gravity=(0, 0, -g))
    carrier = rigid.GROUND
    for k in range(4):
        position = (0.25 + 0.5 * k, 0, 0)
        body = model.add_box((0.5, 0.1, 0.1), mass=1.0 + k, position=position, angular_velocity=(0, k, 0), mask=0)
        model.add_shape(body, rigid.Sphere(0.05, centre=position))
        model.add_hinge(carrier, body, (0.5 * k, 0, 0), (0, 1, 0), name=f"hinge {k}", motor=MOTORS.get(k))
        carrier = body
    model.add_distance(0, 3, (0.3, 0, 0), (1.8, 0, 0.1), name="rope")
    model.add_spring(rigid.GROUND, 2, (1, 0, 1), (1.2, 0, 0.1), stiffness=300.0, damping=5.0)
    model.add_gear("hinge 1", "hinge 2", -0.5)
    model.add_ground(-0.2, friction=0.5)
    solver = rigid.solver("articulated", model, dt=5e-3, iterations=20)
    counted = 0
    for _ in range(40):
        solver.step(1)
        counted += solver.statistics().contacts
        forces = solver.joint_forces()
        assert np.abs([forces[f"hinge {k}"][1][1] for k in range(3)]).max() < 1e-9
        assert abs(forces["hinge 3"][1][1]) < 0.5 + 1e-9  # by its motor
    assert counted > 0


@pytest.mark.parametrize("name", cases(CLOSED, slow=CLOSED[1:]))
def test_upper_body_gains_the_momentum_that_its_joint_passes_on(name):
    # m Δv = h (F + m g) in every step, to round-off, when the lower body hits the ground and rebounds. Positions of 1 m
    # round by 1e-16, which is a force of 1e-16 m/h².
    h, m = 0.01, 2.0
    model = model_of(restitution=0.5)
    lower = model.add_box((0.4, 0.4, 0.4), mass=1.0, position=(0, 0, 0.25), velocity=(0.5, 0, -1.0), restitution=0.5)
    upper = model.add_box((0.2, 0.3, 0.4), mass=m, position=(0.1, 0, 0.7), velocity=(0.5, 0, -1.0), mask=0)
    model.add_ball(lower, upper, (0.05, 0, 0.45), name="neck")
    solver = rigid.solver(name, model, dt=h, iterations=50)
    largest = 0.0
    solver.step(1)
    for _ in range(20):
        before = solver.state().velocity[upper]
        solver.step(1)
        force, _ = solver.joint_forces()["neck"]
        largest = max(largest, np.linalg.norm(force))
        assert m * (solver.state().velocity[upper] - before) / h - force == pytest.approx((0, 0, -m * g), abs=1e-8)
    assert largest > 10 * m * g  # the impact


def test_beam_in_a_loop_shares_its_weight():
    # A level beam on a hinge at one end and a hanger at the other: each carries half.
    for name in ("impulse", "articulated"):
        forces = settled(name, beam_with_a_hanger()).joint_forces()
        assert forces["hinge"][0] == pytest.approx((0, 0, g), abs=1e-6)
        assert forces["hanger"][0] == pytest.approx((0, 0, g), abs=1e-6)


def beam_with_a_hanger():
    """A level beam of 2 kg on a hinge at one end, with a distance to a point above the other end."""
    model = rigid.Model(gravity=(0, 0, -g))
    beam = model.add_box((1.0, 0.1, 0.1), mass=2.0, position=(0.5, 0, 0))
    model.add_hinge(rigid.GROUND, beam, ZERO, Y, name="hinge")
    model.add_distance(rigid.GROUND, beam, (1.0, 0, 1.0), (1.0, 0, 0), name="hanger")
    return model


@pytest.mark.parametrize("name", CLOSED)
def test_hinge_supplies_the_centripetal_force(name):
    # m ω² r towards the axis, in the middle of a step that turns the arm by ω h: to first order in ω h.
    h, m, w, r = 1e-4, 1.5, 4.0, 0.5
    model = rigid.Model(gravity=ZERO)
    motion = {"velocity": (0, w * r, 0), "angular_velocity": (0, 0, w)}
    body = model.add_box((0.1, 0.1, 0.1), mass=m, position=(r, 0, 0), **motion)
    model.add_hinge(rigid.GROUND, body, ZERO, Z, name="hinge")
    solver = rigid.solver(name, model, dt=h, iterations=500, contacts=False)
    solver.step(100)
    force, torque = solver.joint_forces()["hinge"]
    towards = -solver.state().position[0] / r
    assert force == pytest.approx(m * w**2 * r * towards, abs=2 * m * w**2 * r * w * h)
    assert np.abs(torque).max() < 1e-3


@pytest.mark.parametrize("name", cases(CLOSED, slow=["verlet"]))
def test_child_of_a_joint_between_bodies_gets_the_opposite_of_its_parent(name):
    # A spring pulls two free bodies together; a slider between them cannot hold it, and a weld holds all of it.
    model = rigid.Model(gravity=ZERO)
    for x in (0.0, 1.0):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(x, 0, 0))
    model.add_fixed(0, 1, (0.5, 0, 0), name="weld")
    model.add_spring(0, 1, ZERO, (1.0, 0, 0), stiffness=100.0, rest_length=0.9)
    force, torque = settled(name, model).joint_forces()["weld"]
    assert force == pytest.approx(10.0 * np.array(X), abs=10 * CLOSE[name])  # the spring pulls the child towards -x
    assert np.abs(torque).max() < 10 * CLOSE[name]


@pytest.mark.parametrize("name", cases(CLOSED, slow=CLOSED[:2]))
def test_worlds_have_their_own_forces(name):
    models = [rigid.Model(gravity=(0, 0, -g)) for _ in range(3)]
    for k, model in enumerate(models):
        body = model.add_box((0.1, 0.1, 0.1), mass=1.0 + k, position=(0.1 * k, 0, 0))
        model.add_fixed(rigid.GROUND, body, ZERO, name="weld")
    forces = settled(name, models).joint_forces()["weld"]
    assert forces.shape == (3, 2, 3)
    assert forces[:, 0, 2] == pytest.approx(g * np.arange(1, 4), abs=10 * CLOSE[name])
    assert forces[:, 1, 1] == pytest.approx([-0.1 * k * g * (1.0 + k) for k in range(3)], abs=10 * CLOSE[name])


@pytest.mark.parametrize("name", ["articulated", "verlet"])
def test_forces_are_zero_before_a_step(name):
    solver = rigid.solver(name, rod_on_a_pivot(), contacts=False)
    assert not solver.joint_forces()["pivot"].any()
    solver.step(3)
    assert solver.joint_forces()["pivot"].any()
    solver.set_state(solver.state())
    assert not solver.joint_forces()["pivot"].any()


def test_joint_forces_of_frames_need_trees_without_gears():
    with pytest.raises(NotImplementedError, match="joint 'hanger' closes a loop"):
        settled("verlet", beam_with_a_hanger()).joint_forces()
    model = rigid.Model()
    for k in range(2):
        body = model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(k, 0, 0))
        model.add_hinge(rigid.GROUND, body, (k, 0, 0), Z, name=f"hinge {k}")
    model.add_gear("hinge 0", "hinge 1", 2.0)
    with pytest.raises(NotImplementedError, match="gears"):
        rigid.solver("verlet", model, contacts=False).joint_forces()


def test_articulated_solver_has_forces_of_joints_outside_its_trees():
    model = rigid.Model(gravity=(0, 0, -g))
    body = model.add_box((0.1, 0.1, 0.1), mass=2.0, position=(0, 0, 0))
    model.add_fixed(rigid.GROUND, body, ZERO, name="weld", soft=rigid.Soft(frequency=5.0, damping_ratio=1.0))
    solver = rigid.solver("articulated", model, dt=0.01, contacts=False)
    solver.step(300)
    assert solver.joint_forces()["weld"][0] == pytest.approx((0, 0, 2.0 * g), abs=1e-6)
