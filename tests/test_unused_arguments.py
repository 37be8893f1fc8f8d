"""Arguments that have no effect are checked all the same: nonsense is refused, whatever the other arguments are."""

import numpy as np
import pytest
from calls import described, public_calls

import pbd
import scenes
from pbd.build import cloth, cloth_from_mesh, hexagonal_cloth, plant, rope

CALLS = public_calls()
NEED_FILES = ("pbd.build.load_mesh", "rigid.build.load_mjcf", "rigid.build.load_urdf")
# Their arguments are checked by what is made of them: a solver, a run, a comparison, a picture.
WITHOUT = ("options of verlet", "rigid.State", "scenes.Scene", "scenes.Variant", "scenes.load", "scenes.Run",
           *NEED_FILES)  # fmt: skip
SWITCHES = [0, None, False, "none", (), 1.0]  # values with which others have no effect


class Nonsense:
    """Nothing that any argument may be."""


WRONG = (Nonsense(), float("nan"))


def accepts(call, changed):
    """Whether a call accepts arguments in place of its sample. Args: changed: {name: value}."""
    d = described()
    try:
        call.function(d)(**(call.sample(d) | changed))
    except Exception:
        return False
    return True


@pytest.mark.parametrize("label", sorted(set(CALLS) - set(WITHOUT)))
def test_every_argument_is_checked(label):
    call = CALLS[label]
    assert [name for name in call.parameters for value in WRONG if accepts(call, {name: value})] == []


@pytest.mark.slow
@pytest.mark.parametrize("label", sorted(set(CALLS) - set(WITHOUT)))
def test_every_argument_is_checked_beside_every_other(label):
    call = CALLS[label]
    pairs = [(name, other) for name in call.parameters for other in call.parameters if name != other]
    found = [(name, other, switch) for name, other in pairs for value in WRONG for switch in SWITCHES
             if accepts(call, {name: value, other: switch})]  # fmt: skip
    assert found == []


GRID = {"origin": (0, 0, 1), "right": (1, 0, 0), "down": (0, 1, 0)}
TRIANGLE = [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]  # it has no hinges


@pytest.mark.parametrize(
    ("build", "arguments", "name"),
    [
        (cloth, {**GRID, "counts": (3, 4), "thickness": 0}, "friction"),
        (cloth, {**GRID, "counts": (3, 4), "shear": "none"}, "shear_compliance"),
        (hexagonal_cloth, {**GRID, "columns": 4, "thickness": 0}, "friction"),
        (cloth_from_mesh, {"mesh": TRIANGLE, "thickness": 0}, "friction"),
        (cloth_from_mesh, {"mesh": TRIANGLE}, "yield_angle"),
        (rope, {"points": TRIANGLE[0][:2], "mass": 1.0}, "bending_compliance"),
        (rope, {"points": TRIANGLE[0][:2], "mass": 1.0}, "tear"),
        (plant, {"leaf_length": 0}, "drag"),
        (plant, {"levels": 0}, "drag"),
        (pbd.Particles.add_particles, {"positions": np.zeros((0, 3))}, "mass"),
        (pbd.Particles.add_sticks, {"pairs": ()}, "compliance"),
        (pbd.Particles.add_bending, {"edges": ()}, "yield_angle"),
    ],
)
@pytest.mark.parametrize("wrong", [float("nan"), -1.0, "thin"])
def test_what_has_no_effect_is_refused(build, arguments, name, wrong):
    """An argument has no effect on a cloth that passes through itself, a rope of one stick, a plant without leaves."""
    particles = pbd.Particles()
    if (name, wrong) == ("drag", -1.0):
        return  # a drag below zero is allowed, as thrust
    with pytest.raises((ValueError, TypeError), match=name):
        build(particles, **arguments, **{name: wrong})
    assert len(particles) == 0


@pytest.mark.parametrize("ending", [".html", ".png"])
@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"height": float("nan")}, {"labels": "yes"}, {"duration": -1}, {"dt": "x"}, {"solver": "x"}]
)
def test_a_film_of_a_recording_checks_what_only_runs_or_pictures_use(tmp_path, ending, wrong):
    scene = scenes.load("box")
    recording = scenes.run(scene, duration=0.02)
    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
        scenes.film(scene, tmp_path / f"x{ending}", recording=recording, **wrong)
    assert not list(tmp_path.iterdir())
