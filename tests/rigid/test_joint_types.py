"""Records of joint types: what they keep closed agrees with what they leave free."""

from dataclasses import replace

import numpy as np
import pytest

import pbd
import rigid
from rigid import joints
from rigid.constraints.joints.builder import JointBuilder
from rigid.constraints.joints.data import FORM, CoordinateKind
from rigid.constraints.joints.special import ROW_WRITERS
from rigid.constraints.rows import ROW, RowBuilder
from rigid.joints import joint_type
from rigid.joints.distance import Length
from rigid.joints.joint_type import ALL, Angle, JointType, Shift
from rigid.rotation import exponential, to_matrix
from rigid.solvers.verlet.builder import make_frames
from rigid.solvers.verlet.joint_constraints import JointConstraints
from rigid.solvers.verlet.joint_coordinates import SHIFT
from rigid.solvers.verlet.joint_locks import SLIDER

TYPES = [
    each.type for each in vars(joints).values()
    if isinstance(each, type) and issubclass(each, rigid.Joint) and each is not rigid.Joint
]  # fmt: skip
DECLARED = [each for each in TYPES if each.special is None]


def test_all_types_are_here():
    assert {each.kind for each in TYPES} == {
        "ball", "hinge", "universal", "slider", "cylindrical", "planar", "fixed", "distance", "wheel",
    }  # fmt: skip
    assert all(hasattr(rigid.Model, f"add_{each.kind}") for each in TYPES)


def test_each_special_type_has_a_function_that_writes_rows():
    assert sorted(ROW_WRITERS) == sorted(joint_type.SPECIAL)
    assert {each.special for each in TYPES} == {None, *joint_type.SPECIAL}


@pytest.mark.parametrize("of_type", DECLARED, ids=lambda each: each.kind)
def test_coordinates_leave_closed_what_is_declared_and_are_read_back(of_type):
    # The child's frame is the parent's, shifted along its axes, then rotated about one axis after another: any such
    # pose satisfies all translations and right angles, and has the coordinates that led to it.
    random = np.random.default_rng(1)
    for _ in range(10):
        values, turn, way = random.uniform(-1.5, 1.5, len(of_type.coordinates)), np.eye(3), np.zeros(3)
        for coordinate, value in zip(of_type.coordinates, values):
            axis = np.eye(3)[coordinate.axis]
            if isinstance(coordinate, Shift):
                way = way + value * axis
            else:
                turn = turn @ to_matrix(exponential(value * axis))
        # turn[a, b] is m_a·n_b: the columns of a rotation matrix are the rotated axes.
        closed = [way[a] for a in of_type.translations] + [turn[a, b] for a, b in of_type.right_angles]
        assert np.abs(closed).max(initial=0.0) < 1e-15
        found = [coordinate.position(turn, way) for coordinate in of_type.coordinates]
        assert found == pytest.approx(values, abs=1e-14)
    assert of_type.degrees_of_freedom == 6 - len(of_type.translations) - len(of_type.right_angles)


def test_wrong_records_are_refused():
    hinge = {"translations": ALL, "right_angles": ((1, 0), (2, 0))}
    with pytest.raises(ValueError, match="'odd' with 2 coordinates: expected 1"):
        JointType("odd", **hinge, coordinates=(Angle(0), Angle(1)))
    with pytest.raises(ValueError, match="an angle before a shift: expected shifts first"):
        JointType("odd", translations=(1, 2), right_angles=((1, 0), (2, 0)), coordinates=(Angle(0), Shift(0)))
    with pytest.raises(ValueError, match="'odd' with 3 angles: expected at most 2"):
        JointType("odd", translations=(1, 2), coordinates=(Shift(0), Angle(0), Angle(1), Angle(2)))
    with pytest.raises(ValueError, match="'odd' with a coordinate Length: expected Shift or Angle"):
        JointType("odd", **hinge, coordinates=(Length(),))
    with pytest.raises(ValueError, match="'odd' with special_rows=1: expected none, only a special type"):
        JointType("odd", **hinge, coordinates=(Angle(0),), special_rows=1)
    with pytest.raises(ValueError, match="special"):
        JointType("odd", special="odd")


@pytest.mark.parametrize("of_type", TYPES, ids=lambda each: each.kind)
def test_hinges_and_sliders_take_gears(of_type):
    assert of_type.takes_gears == (of_type.kind in ("hinge", "slider"))


def test_gears_refuse_a_type_with_coupled_coordinates():
    # It has one degree of freedom, but a gear cannot tell which of its two coordinates is meant.
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    model.add_hinge(rigid.GROUND, 0, (0, 0, 0), (1, 0, 0), name="nut")
    model.add_hinge(rigid.GROUND, 0, (0, 0, 0), (1, 0, 0), name="crank")
    coordinates = Shift(0, limits=None), Angle(0)
    coupled = replace(model.joints[0].type, special="ball", coordinates=coordinates, degrees_of_freedom=1)
    model.joints[0].type = coupled
    expected = " or ".join(each.kind for each in TYPES if each.takes_gears)
    with pytest.raises(ValueError, match=f"gear on 'nut', a hinge joint: expected a {expected}$"):
        model.add_gear("crank", "nut", 2.0)
    assert not model.gears


def test_special_rows_follow_those_of_right_angles(monkeypatch):
    monkeypatch.setattr(joint_type, "SPECIAL", (*joint_type.SPECIAL, "odd"))
    monkeypatch.setitem(ROW_WRITERS, "odd", None)
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    model.add_slider(rigid.GROUND, 0, (0, 0, 0), (1, 0, 0), soft=rigid.Soft(stiffness=5.0, angular_stiffness=7.0))
    model.joints[0].type = replace(model.joints[0].type, special="odd", special_rows=1)
    rows = RowBuilder(ROW.total, worlds=1)
    assert JointBuilder([model], rows).rows_of == [slice(0, 6)]
    assert np.ravel(rows.rows)[ROW.stiffness :: ROW.total].tolist() == [5, 5, 7, 7, 7, 5]


def test_a_coordinate_of_a_subclass_has_the_rows_of_its_base():
    class Advance(Shift):
        """A shift of another name."""

    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    model.add_slider(rigid.GROUND, 0, (0, 0, 0), (1, 0, 0))
    model.joints[0].type = replace(model.joints[0].type, coordinates=(Advance(0),))
    (form,) = JointBuilder([model], RowBuilder(ROW.total, worlds=1)).forms
    assert form[FORM.kind] == CoordinateKind.SHIFT


def test_verlet_refuses_a_special_type_that_it_does_not_know(monkeypatch):
    monkeypatch.setattr(joint_type, "SPECIAL", (*joint_type.SPECIAL, "odd"))
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    model.add_ball(rigid.GROUND, 0, (0, 0, 1), name="pivot")
    model.joints[0].type = replace(model.joints[0].type, special="odd")
    with pytest.raises(NotImplementedError, match="joint 'pivot' is a 'odd': solver 'verlet' has no constraints"):
        rigid.solver("verlet", model)


def test_verlet_keeps_closed_what_a_special_type_declares():
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    model.add_slider(rigid.GROUND, 0, (0, 0, 0), (1, 0, 0), name="rail")
    rail = model.joints[0]
    for special in (None, "distance"):  # the constraints of a distance are elsewhere, so it adds none of its own
        rail.type = replace(rail.type, special=special)
        particles, frames = pbd.Particles(), make_frames([model])[0]
        members = [particles.add_particles(frames[0].corners, frames[0].corner_mass)]
        JointConstraints(particles, model, frames, members, [model]).add_joints()
        assert SLIDER in [constraint_type for constraint_type, _ in particles.constraint_sets]


def test_verlet_loses_no_coordinate_of_a_special_type(monkeypatch):
    monkeypatch.setattr(joint_type, "SPECIAL", (*joint_type.SPECIAL, "odd"))
    model = rigid.Model()
    model.add_sphere(0.1, mass=1.0)
    model.add_slider(rigid.GROUND, 0, (0, 0, 0), (1, 0, 0), name="rail")
    rail, given = model.joints[0], (pbd.Particles(), model, make_frames([model])[0], [np.arange(4)], [model])
    rail.type = replace(rail.type, special="odd")
    assert [each[0] for each in JointConstraints(*given)._coordinates(rail)] == [SHIFT]
    rail.type = replace(rail.type, coordinates=(Length(),))
    with pytest.raises(NotImplementedError, match="'rail' has a coordinate Length: solver 'verlet' has shifts and"):
        JointConstraints(*given)._coordinates(rail)
