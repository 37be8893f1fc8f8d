"""Chains in MuJoCo, as a reference from outside. MuJoCo is the extra `mjcf`; without it, `mujoco` is None."""

import numpy as np

from pbd.core.results import Energy
from rigid.joint import Hinge
from rigid.names import GROUND
from rigid.rotation import conjugate, multiply, rotate_back

try:
    import mujoco
except ImportError:
    mujoco = None

INTEGRATORS = ("Euler", "implicitfast", "RK4")


def mjcf_of(model, dt, integrator):
    """An MJCF file of a chain on hinges, as text: the same masses, inertias, poses and axes, without contacts.

    Args: model: a rigid.Model whose bodies each have one hinge, to the body before or the ground; dt [s]; integrator:
    one of INTEGRATORS.
    """
    opened = []
    for joint in model.joints:
        if not isinstance(joint, Hinge):
            raise ValueError(f"joint {joint.name!r} is a {type(joint).__name__}: expected hinges only")
        body, parent = model.bodies[joint.child], model.bodies[joint.parent] if joint.parent != GROUND else None
        position, rotation = body.position, body.rotation
        if parent is not None:
            position = rotate_back(parent.rotation, position - parent.position)
            rotation = multiply(conjugate(parent.rotation), rotation)
        opened.append(
            f'<body pos="{numbers(position)}" quat="{numbers(rotation)}">'
            f'<inertial pos="0 0 0" mass="{body.mass!r}" fullinertia="{numbers(upper_triangle(body.inertia))}"/>'
            f'<joint type="hinge" pos="{numbers(joint.child_anchor)}" axis="{numbers(joint.child_axes[0])}"/>'
        )
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{dt!r}" integrator="{integrator}" '
        f'gravity="{numbers(model.gravity)}"><flag contact="disable" energy="enable" autoreset="disable"/></option>'
        f"<worldbody>{''.join(opened)}{'</body>' * len(opened)}</worldbody></mujoco>"
    )


def numbers(values):
    """Format numbers with all digits."""
    return " ".join(repr(float(value)) for value in values)


def upper_triangle(inertia):
    """Entries xx, yy, zz, xy, xz, yz of an inertia matrix."""
    return inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


class MujocoChain:
    """A chain in MuJoCo, with the methods of a solver that benchmarks use.

    Args: model, dt, integrator: see `mjcf_of`.
    """

    def __init__(self, model, dt, integrator):
        self.model, self.dt = model, dt
        self._compiled = mujoco.MjModel.from_xml_string(mjcf_of(model, dt, integrator))
        self._data = mujoco.MjData(self._compiled)

    @property
    def time(self):
        """Time since the start [s]."""
        return self._data.time

    def step(self, count=1):
        """Make steps of dt. Args: count."""
        mujoco.mj_step(self._compiled, self._data, nstep=count)

    def energy(self):
        """Kinetic and potential energy at the end of the last step: a pbd.Energy [J]."""
        mujoco.mj_forward(self._compiled, self._data)
        potential, kinetic = self._data.energy
        return Energy(kinetic, potential, kinetic + potential)

    def positions(self):
        """Centres of mass of the bodies (bodies, 3) [m]."""
        mujoco.mj_kinematics(self._compiled, self._data)
        return np.array(self._data.xipos[1:])
