"""Wrong arguments of all functions: the error has the name, the value and what is expected.

Single cases are in test_rigid_refusals.py (the model), test_rigid_state.py and test_mass_properties.py.
"""

import math

import numpy as np
import pytest

import pbd
import rigid
from rigid.build import load_mjcf, ragdoll

NAN, INF = math.nan, math.inf
X, Y, Z = np.eye(3).tolist()
ZERO = (0.0, 0.0, 0.0)


def two(**options):
    """A model with two separate bodies, torso (0) and head (1)."""
    model = rigid.Model(**options)
    model.add_box((0.2, 0.2, 0.2), mass=1.0, name="torso")
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0.5, 0, 0), name="head")
    return model


def refusal(act, error):
    """The message of the error, which must be one line."""
    with pytest.raises(error) as caught:
        act()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Wrong numbers --------------------------------------------------------------------------------------------------------

PLACED = {"position": ZERO, "rotation": (1.0, 0.0, 0.0, 0.0), "velocity": ZERO, "angular_velocity": ZERO}
TOUCHING = {"friction": 0.5, "restitution": 0.0, "rolling_friction": 0.01, "spinning_friction": 0.01}
JOINED = {"parent": 0, "child": 1, "friction": 0.0}
SOLID = np.vstack([np.eye(3), -np.eye(3)]), [(0, 1, 2), (3, 4, 5), (0, 1, 5)]

# Each method with valid arguments.
VALID = {
    "add_body": {"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **PLACED},
    "add_box": {"size": (1.0, 1.0, 1.0), "mass": 1.0, **PLACED, **TOUCHING},
    "add_sphere": {"radius": 1.0, "density": 1.0, **PLACED, **TOUCHING},
    "add_capsule": {"radius": 1.0, "length": 1.0, "mass": 1.0, **PLACED},
    "add_cylinder": {"radius": 1.0, "start": ZERO, "end": (0.0, 0.0, 1.0), "mass": 1.0},
    "add_mesh": {"mesh": SOLID, "mass": 1.0, **PLACED},
    "add_shape": {"body": 0, "shape": rigid.Sphere(radius=1.0), "mass": 1.0, **TOUCHING},
    "add_ground": {"height": 0.0, **TOUCHING},
    "add_ball": {**JOINED, "point": ZERO, "axis": (1.0, 0.0, 0.0), "cone_axis": (1.0, 0.0, 0.0), "swing_limit": 1.0,
                 "twist_limits": (-1.0, 1.0)},
    "add_hinge": {**JOINED, "point": ZERO, "axis": (0.0, 1.0, 0.0), "limits": (-1.0, 1.0)},
    "add_universal": {**JOINED, "point": ZERO, "parent_axis": (1.0, 0.0, 0.0), "child_axis": (0.0, 1.0, 0.0),
                      "parent_limits": (-1.0, 1.0), "child_limits": (-1.0, 1.0)},
    "add_slider": {**JOINED, "axis": (1.0, 0.0, 0.0), "point": ZERO, "limits": (-1.0, 1.0)},
    "add_cylindrical": {"parent": 0, "child": 1, "axis": (1.0, 0.0, 0.0), "point": ZERO, "shift_limits": (-1.0, 1.0),
                        "angle_limits": (-1.0, 1.0), "shift_friction": 0.0, "angle_friction": 0.0},
    "add_planar": {"parent": 0, "child": 1, "normal": (1.0, 0.0, 0.0), "point": ZERO, "axis": (0.0, 1.0, 0.0),
                   "first_limits": (-1.0, 1.0), "second_limits": (-1.0, 1.0), "angle_limits": (-1.0, 1.0),
                   "shift_friction": 0.0, "angle_friction": 0.0},
    "add_fixed": {"parent": 0, "child": 1, "point": ZERO},
    "add_distance": {"parent": 0, "child": 1, "parent_point": ZERO, "child_point": (1.0, 0.0, 0.0),
                     "limits": (-0.5, 0.5)},
    "add_spring": {"a": 0, "b": 1, "point_a": ZERO, "point_b": (1.0, 0.0, 0.0), "stiffness": 1.0, "damping": 0.0,
                   "rest_length": 1.0},
}  # fmt: skip
NUMBERS = [
    (method, name)
    for method, options in VALID.items()
    for name, value in options.items()
    if isinstance(value, (float, tuple)) and name != "mesh"
]


@pytest.mark.parametrize(("method", "name"), NUMBERS)
def test_nan_and_infinity_are_refused(method, name):
    getattr(two(), method)(**VALID[method])
    given = VALID[method][name]
    for bad in (NAN, INF):
        if bad == INF and "limits" in name:
            continue  # infinite limits are allowed
        wrong = bad if isinstance(given, float) else (*given[:-1], bad)
        message = refusal(lambda: getattr(two(), method)(**{**VALID[method], name: wrong}), ValueError)  # noqa: B023
        for word in (name, str(bad)):
            assert word in message, message


@pytest.mark.parametrize("name", ["mass", "inertia", "size", "radius", "length", "density", "stiffness", "damping"])
def test_negative_values_are_refused(name):
    method = next(method for method, options in VALID.items() if name in options)
    given = VALID[method][name]
    wrong = -1.0 if isinstance(given, float) else (*given[:-1], -1.0)
    message = refusal(lambda: getattr(two(), method)(**{**VALID[method], name: wrong}), ValueError)
    assert name in message
    assert "-1" in message


@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method, name in NUMBERS if "axis" in name or name == "rotation"]
)
def test_directions_of_length_zero_are_refused(method, name):
    zero = (0.0,) * len(VALID[method][name])
    message = refusal(lambda: getattr(two(), method)(**{**VALID[method], name: zero}), ValueError)
    assert name in message
    assert "0, 0, 0" in message


@pytest.mark.parametrize(("inertia", "words"), [
    ((1, 2, 4), ["1, 2, 4", "4 > 3", "triangle inequality"]),
    ((1, 1, 0), ["0, 1, 1", "above zero"]),
    (((1, 0.5, 0), (0, 1, 0), (0, 0, 1)), ["symmetric", "0.5"]),
    ((1, 1), ["inertia has shape (2,)", "(3,)"]),
])  # fmt: skip
def test_impossible_inertias_are_refused(inertia, words):
    message = refusal(lambda: two().add_body(mass=1.0, inertia=inertia), ValueError)
    for word in words:
        assert word in message, message


# Bodies ---------------------------------------------------------------------------------------------------------------

PAIRS = [(method, "parent", "child") for method in VALID if "parent" in VALID[method]] + [("add_spring", "a", "b")]


@pytest.mark.parametrize(("method", "first", "second"), PAIRS)
def test_joints_with_unknown_bodies_are_refused(method, first, second):
    model, other = two(), two()
    third = other.add_sphere(0.1, mass=1.0, name="third")

    def message(error, **changed):
        return refusal(lambda: getattr(model, method)(**{**VALID[method], **changed}), error)

    assert f"{first} and {second} are both 'head'" in message(ValueError, **{first: "head", second: 1})
    there = f"{second} is {third}: expected 0 to 1, or rigid.GROUND; there are 2 bodies"
    assert there in message(IndexError, **{second: third})
    assert f"{second} is 'third': expected the name of a body of this model" in message(ValueError, **{second: "third"})
    assert "did you mean 'head'?" in message(ValueError, **{second: "haed"})
    assert f"{second} is the Body 'third', not of this model" in message(TypeError, **{second: other.bodies[third]})
    # A body of another model is not mistaken for a body with the same name.
    assert f"{first} is the Body 'torso', not of this model" in message(TypeError, **{first: other.bodies[0]})
    assert "of this model: expected its index, 1, or its name" in message(TypeError, **{second: model.bodies[1]})
    assert not model.joints
    assert not model.springs


def test_gears_with_joints_of_another_model_are_refused():
    model, other = two(), two()
    model.add_hinge(0, 1, ZERO, Y, name="neck")
    other.add_slider(0, 1, None, X, name="rail")
    message = refusal(lambda: model.add_gear("neck", "rail", 2), ValueError)
    assert "joint_b is 'rail': expected the name of a joint" in message
    message = refusal(lambda: model.add_gear("neck", other.joints[0], 2), TypeError)
    assert "joint_b is the Slider 'rail', not of this model" in message
    assert "a and b are both 'torso'" in refusal(lambda: model.exclude_contact(0, "torso"), ValueError)


# Limits ---------------------------------------------------------------------------------------------------------------

# Limits that the starting pose violates, and by how much. Positions are zero in that pose.
VIOLATED = [
    ("add_hinge", {"limits": (0.25, 1)}, "limits", 0.25),
    ("add_hinge", {"limits": (-1, -0.125)}, "limits", 0.125),
    ("add_universal", {"parent_limits": (0.25, 1)}, "parent_limits", 0.25),
    ("add_universal", {"child_limits": (-1, -0.5)}, "child_limits", 0.5),
    ("add_slider", {"limits": (0.125, 1)}, "limits", 0.125),
    ("add_slider", {"limits": (-INF, -0.25)}, "limits", 0.25),
    ("add_distance", {"limits": (0.25, INF)}, "limits", 0.25),
    ("add_distance", {"limits": (-0.5, -0.25)}, "limits", 0.25),
    ("add_ball", {"twist_limits": (0.5, 1)}, "twist_limits", 0.5),
    ("add_ball", {"twist_limits": (-1, -0.25)}, "twist_limits", 0.25),
    ("add_ball", {"cone_axis": (math.cos(0.75), math.sin(0.75), 0), "swing_limit": 0.5}, "swing_limit", 0.25),
]


@pytest.mark.parametrize(("method", "changed", "name", "by"), VIOLATED)
def test_limits_violated_by_the_starting_pose_are_refused(method, changed, name, by):
    message = refusal(lambda: getattr(two(), method)(**{**VALID[method], **changed}), ValueError)
    assert message.startswith(name)
    assert "the starting pose violates" in message
    assert f"by {by:g}" in message


@pytest.mark.parametrize(("method", "name"), [(method, name) for method, name in NUMBERS if name.endswith("limits")])
def test_limits_in_the_wrong_order_are_refused(method, name):
    message = refusal(lambda: getattr(two(), method)(**{**VALID[method], name: (0.5, -0.5)}), ValueError)
    assert f"{name} are 0.5 to -0.5, the wrong way round: expected low <= high" in message
    message = refusal(lambda: getattr(two(), method)(**{**VALID[method], name: 0.5}), TypeError)
    assert f"{name} are 0.5: expected (low, high)" in message


# Solvers --------------------------------------------------------------------------------------------------------------


SOLVING = {
    "zero steps": (lambda m: rigid.solver("verlet", m).step(0), ValueError, ["count is 0", "1 or more"]),
    "steps back": (lambda m: rigid.solver("verlet", m).step(-1), ValueError, ["count is -1", "1 or more"]),
    "half a step": (lambda m: rigid.solver("verlet", m).step(0.5), TypeError, ["count is 0.5", "whole number"]),
    "no time": (lambda m: rigid.solver("verlet", m, dt=0), ValueError, ["dt is 0", "above zero"]),
    "endless time": (lambda m: rigid.solver("verlet", m, dt=INF), ValueError, ["dt is inf", "finite"]),
    "no worlds": (lambda m: rigid.solver("verlet", m, worlds=0), ValueError, ["worlds is 0", "1 or more"]),
    "name": (lambda m: rigid.solver("verlett", m), ValueError, ["solver is 'verlett'", "did you mean 'verlet'?"]),
    "option": (lambda m: rigid.solver("verlet", m, iteration=3), ValueError,
               ["option of solver \"verlet\" is 'iteration'", "did you mean 'iterations'?"]),
    "direction": (lambda m: rigid.solver("verlet", m, direction="strat"), ValueError,
                  ["direction is 'strat'", "did you mean 'start'?"]),
    "capacity": (lambda m: rigid.solver("verlet", m, contact_capacity=0), ValueError, ["contact_capacity is 0"]),
    "attachment": (lambda m: rigid.solver("verlet", m, attachments=[([0], "trso")]), ValueError,
                   ["body of an attachment is 'trso'", "did you mean 'torso'?"]),
    "no model": (lambda m: rigid.solver("verlet", "torso"), TypeError, ["model is 'torso'", "rigid.Model"]),
    "no models": (lambda m: rigid.solver("verlet", []), ValueError, ["empty list", "rigid.Model"]),
    "one of none": (lambda m: rigid.solver("verlet", [m, None]), TypeError, ["model is None", "rigid.Model"]),
    "of two kinds": (lambda m: rigid.solver("verlet", [m, rigid.Model()]), ValueError, ["different structure"]),
    "more worlds": (lambda m: rigid.solver("verlet", [m, two()], worlds=3), ValueError, ["2 models for 3 worlds"]),
    "massless": (lambda m: [m.add_body(name="ghost"), rigid.solver("verlet", m)], ValueError, ["'ghost' has no mass"]),
    "flat": (lambda m: [m.add_body(mass=1, inertia=(1, 1, 2), name="disc"), rigid.solver("verlet", m)], ValueError,
             ["'disc' is flat", "thickness"]),
    "state of others": (lambda m: rigid.solver("verlet", m).set_state(rigid.Model().initial_state()), ValueError,
                        ["state's position has shape (0, 3)", "(2, 3)"]),
    "no state": (lambda m: rigid.solver("verlet", m).set_state(None), TypeError, ["state is NoneType", "rigid.State"]),
}  # fmt: skip


@pytest.mark.parametrize("case", SOLVING)
def test_solver_arguments_are_refused(case):
    act, error, words = SOLVING[case]
    message = refusal(lambda: act(two()), error)
    for word in words:
        assert word in message, message


def test_divergence_names_the_step_and_the_particle():
    model = two()
    solver = rigid.solver("verlet", model, dt=0.01, contacts=False)
    solver.step(2)
    velocities = solver.particle_system.velocities()
    velocities[5] = 1e308
    solver.particle_system.set_velocities(velocities)
    with pytest.raises(pbd.Diverged, match=r"(?=.*step)(?=.*particle)"):
        solver.step(20)


# Overlaps -------------------------------------------------------------------------------------------------------------

SHAPES = {
    "box": lambda m, at: m.add_box((0.2, 0.2, 0.2), mass=1.0, position=at),
    "sphere": lambda m, at: m.add_sphere(0.1, mass=1.0, position=at),
    "capsule": lambda m, at: m.add_capsule(0.08, 0.2, mass=1.0, position=at),
    "hull": lambda m, at: m.add_mesh((0.1 * SOLID[0], SOLID[1]), mass=1.0, position=at),
}


@pytest.mark.parametrize("apart", [ZERO, (0.01, 0.02, 0.03)])
@pytest.mark.parametrize(
    "kinds",
    [("box", "box"), ("sphere", "sphere"), ("capsule", "hull")],
)
@pytest.mark.slow
def test_bodies_that_overlap_at_the_start_separate_slowly(kinds, apart):
    # They separate with at most 2 cm/s: ½ μ v² = 1e-4 J for two bodies of 1 kg, and at most as much for the rotation.
    # Overlapping by 20 cm, they need ten seconds.
    model = rigid.Model(gravity=ZERO)
    for kind, at in zip(kinds, (ZERO, apart)):
        SHAPES[kind](model, at)
    for k, kind in enumerate(2 * ("box", "sphere")):  # far away, so that all cases have the same kernel
        SHAPES[kind](model, (0, 0, 100.0 * (k + 1)))
    solver = rigid.solver("verlet", model, dt=1 / 60, iterations=10)
    most = 0.0
    for _ in range(180):
        solver.step(5)
        most = max(most, solver.energy().kinetic)
    assert most < 2e-4
    first, second, *_ = solver.state().position
    assert np.linalg.norm(second - first) > 0.15


# Files ----------------------------------------------------------------------------------------------------------------


def test_missing_and_wrong_mesh_files_are_refused(tmp_path):
    for name, text in (("notes.txt", "notes"), ("broken.obj", "v 1 2\nf 1 2 9\n"), ("empty.stl", "")):
        (tmp_path / name).write_text(text)

    def mesh(name):
        return lambda: two().add_mesh(str(tmp_path / name), mass=1.0)

    assert "no mesh file" in refusal(mesh("there.obj"), FileNotFoundError)
    assert "file type of notes.txt is '.txt': expected one of '.obj'" in refusal(mesh("notes.txt"), ValueError)
    for name in ("broken.obj", "empty.stl"):
        assert name in refusal(mesh(name), ValueError)


def test_load_mjcf_arguments_are_refused():
    for path in (None, 3, ["model.xml"]):
        pytest.importorskip("mujoco")
        assert f"path is {path!r}: expected the path of an MJCF file" in refusal(lambda: load_mjcf(path), TypeError)  # noqa: B023
    assert "model is 'torso': expected a rigid.Model" in refusal(lambda: load_mjcf("a.xml", "torso"), TypeError)


RAGDOLLS = {
    "mass": ({"mass": -1.0}, ["mass is -1", "above zero"]),
    "height": ({"height": NAN}, ["height is nan", "finite"]),
    "joint": ({"pose": {"left kne": 1.0}}, ["joint of a pose is 'left kne'", "did you mean 'left knee'?"]),
    "pose": ({"pose": {"left knee": -1.0}}, ["pose of left knee is -1", "0 to 2.4 rad"]),
    "position": ({"position": (0, 0)}, ["position", "(2,)", "(3,)"]),
    "friction": ({"joint_friction": -1.0}, ["friction is -1", "zero or more"]),
}


@pytest.mark.parametrize("case", RAGDOLLS)
def test_ragdoll_arguments_are_refused(case):
    options, words = RAGDOLLS[case]
    message = refusal(lambda: ragdoll(rigid.Model(), **options), ValueError)
    for word in words:
        assert word in message, message
