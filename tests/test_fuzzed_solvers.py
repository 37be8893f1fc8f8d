"""Methods and settings of systems and solvers with values that nobody should give (nonsense.py), found by hypothesis.

A refused call changes nothing: the state is the same, bit for bit. No step is made.
"""

import inspect
from functools import cache

import numpy as np
import pytest
from calls import OWN, described
from fuzzing import check_clear, content, fuzz, no_foreign_warnings
from hypothesis import given
from hypothesis import strategies as st
from nonsense import values

import pbd
import rigid

COUNT = len(values(described()))
SKIPPED = ("step", "add_hooks")  # any count is right, however long it takes; hooks are made by solvers
ALSO_CALLED = {"masses": "mass", "dt": "step"}

SAMPLES = {
    "grab": 0, "particles": [0], "target": (0, 0, 1), "stiffness": 10.0, "masses": 1.0, "sticks": [0], "joint": "hip",
    "body": "torso", "point": (0, 0, 0), "positions": np.zeros((8, 3)), "velocities": np.zeros((8, 3)),
    "forces": np.zeros((8, 3)), "time": 0.0, "dt": 0.01, "substeps": 1, "origin": 0.0, "substep": 0,
}  # fmt: skip


def system_of_particles():
    particles = described().particles
    particles.add_collider(pbd.Plane())
    return pbd.ParticleSystem(particles, dt=0.01, grabs=1)


def solver_of(name):
    model = rigid.Model()
    model.add_box((0.2, 0.3, 0.4), mass=1.0, name="torso")
    model.add_sphere(0.1, mass=1.0, position=(0.5, 0, 0), name="head")
    model.add_hinge("torso", "head", (0, 0, 0), (0, 1, 0), name="hip", motor=rigid.Motor(speed=1.0))
    return rigid.solver(name, model, dt=0.001, grabs=1, contacts=False)


MAKERS = {"particles": system_of_particles, **{name: lambda name=name: solver_of(name) for name in rigid.SOLVERS}}


@cache
def members_of(system):
    """Methods with arguments, {name: {argument: whether it is required}}, and settings, {name: None}."""
    owner, found = type(MAKERS[system]()), {}
    for name, method in inspect.getmembers(owner):
        if name.startswith("_") or name in SKIPPED:
            continue
        if isinstance(method, property) and method.fset:
            found[name] = None
        elif inspect.isfunction(method) and method.__module__.startswith(OWN):
            parameters = list(inspect.signature(method).parameters.values())[1:]  # without the instance
            if parameters:
                found[name] = {each.name: each.default is each.empty for each in parameters}
    return found


MADE = {}


def check_member(system, member, changed):
    """Call a method, or set a setting. Args: system; member: its name; changed: {argument: index of a value}."""
    made = MADE.setdefault(system, MADE.get(system) or MAKERS[system]())
    parameters, given_values = members_of(system)[member], values(described())
    wrong = {name: given_values[k] for name, k in changed.items()}
    before = content(vars(made.state()))
    with no_foreign_warnings():
        try:
            if parameters is None:
                setattr(made, member, wrong[member])
            else:
                needed = {name: SAMPLES.get(name) for name, required in parameters.items() if required}
                needed |= {"speed": 1.0} if member == "set_motor" else {}
                getattr(made, member)(**(needed | wrong))
        except Exception as error:
            check_clear(error, [*changed, *(ALSO_CALLED.get(name, name) for name in changed)])
            assert content(vars(made.state())) == before
        else:
            del MADE[system]


@st.composite
def nonsense_calls(draw):
    system = draw(st.sampled_from(list(MAKERS)))
    members = members_of(system)
    member = draw(st.sampled_from(sorted(members)))
    names = sorted(members[member] or [member])
    arguments = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    return system, member, {name: draw(st.integers(0, COUNT - 1)) for name in arguments}


def test_nonsense_is_refused_and_changes_nothing(request):
    count = request.config.getoption("--fuzz")
    fuzz(count, given(nonsense_calls())(lambda call: check_member(*call)))


@pytest.mark.parametrize("system", MAKERS)
@pytest.mark.parametrize("count", [0, -1, 0.5, "1", None, True, 1j])
def test_steps_that_are_no_count_are_refused(system, count):
    with pytest.raises((TypeError, ValueError)) as caught:
        MADE.setdefault(system, MADE.get(system) or MAKERS[system]()).step(count)
    check_clear(caught.value, ["count"])
