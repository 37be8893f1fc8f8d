"""Calls of all public functions with values that nobody should give (nonsense.py), found by hypothesis.

Each call is accepted, and the description is sound; or it is refused in one clear line that names the argument, and the
description is exactly what it was. `pytest tests/test_fuzzed_calls.py --fuzz 20000` makes more calls.
"""

import math

import pytest
from calls import described, public_calls
from fuzzing import check_clear, check_sound, content, fuzz, names_one_of, no_foreign_warnings
from hypothesis import given
from hypothesis import strategies as st
from nonsense import values

import pbd

CALLS = public_calls()
COUNT = len(values(described()))
ALSO_CALLED = {"solver_class.name": "solver", "load.name": "scene", "Model.add_visual.shape": "mesh"}


@st.composite
def nonsense_calls(draw):
    """A call's label, and which of the values its changed arguments get: {argument: index}."""
    label = draw(st.sampled_from(sorted(CALLS)))
    arguments = draw(st.lists(st.sampled_from(sorted(CALLS[label].parameters)), min_size=1, max_size=2, unique=True))
    return label, {name: draw(st.integers(0, COUNT - 1)) for name in arguments}


def check_call(label, changed):
    """Make a call with wrong arguments. Args: label; changed: {argument: index of a value}."""
    call, d = CALLS[label], described()
    arguments = call.sample(d) | {name: values(d)[k] for name, k in changed.items()}
    descriptions = [d.particles, d.model]
    before = content([vars(each) for each in descriptions])
    with no_foreign_warnings():
        try:
            call.function(d)(**arguments)
        except Exception as error:
            check_clear(error, [ALSO_CALLED.get(f"{call.name}.{name}", name) for name in changed])
            assert content([vars(each) for each in descriptions]) == before
        else:
            for each in descriptions:
                check_sound(each)


def test_every_call_accepts_its_sample():
    for label, call in CALLS.items():
        d = described()
        if label not in ("pbd.build.load_mesh", "rigid.build.load_mjcf", "rigid.build.load_urdf"):  # they need files
            call.function(d)(**call.sample(d))
            for each in (d.particles, d.model):
                check_sound(each)


def test_nonsense_is_refused_in_one_clear_line(request):
    fuzz(request.config.getoption("--fuzz"), given(nonsense_calls())(lambda call: check_call(*call)))


def test_the_checks_find_what_they_look_for():
    with pytest.raises(AssertionError):
        check_clear(ValueError("mass is 0"), ["mass"])  # raised nowhere in the packages
    broken = pbd.Particles()
    broken.air_density = math.nan
    with pytest.raises(AssertionError):
        check_sound(broken)
    assert names_one_of("stiffness of a grab is 0", ["stiffness"])
    assert names_one_of("air density is -1", ["air_density"])
    assert not names_one_of("mass is 0", ["radius"])
