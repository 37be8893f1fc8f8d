"""Actuators of a compiled MuJoCo model as motors of a Model.

An actuator with the gain g, the bias b_0 + b_1 l + b_2 dl/dt and the gear G moves a joint, l = G q, by the effort

    G (g ctrl + b_0 + b_1 G q + b_2 G dq/dt),   clamped to G forcerange

    MJCF                         Motor
    motor, b_1 = b_2 = 0         torque, G g ctrl
    position, b_1 < 0            position, with stiffness -b_1 G² and damping -b_2 G²
    velocity, b_1 = 0, b_2 < 0   speed, with damping -b_2 G²

Several actuators of one joint become one motor where their sum is of this form, too: all without a forcerange, or one
with it beside forces of zero. actuatorfrcrange limits the sum.

Armature and damping of an actuator count for its joint, times G². ctrl is zero, or that of a keyframe.

Source: MuJoCo documentation, Computation, Actuation model.
"""

import math
from dataclasses import dataclass

import numpy as np

from rigid.build.mjcf_joints import HINGE, SLIDE
from rigid.motor import Motor

FIXED_GAIN, NO_BIAS, AFFINE_BIAS, NO_DYNAMICS = 0, 0, 1, 0  # mjtGain, mjtBias, mjtDyn
UNLIKE = ("actuator_delay", "actuator_dampingpoly")  # newer than MuJoCo 3.0
OF_JOINT = (0, 1)  # mjtTrn: a joint, and a joint in its parent's frame


@dataclass(frozen=True)
class Effort:
    """Effort on a joint: drive - stiffness q - damping dq/dt, clamped to the range from low to high [N m or N]."""

    drive: float
    stiffness: float
    damping: float
    low: float = -math.inf
    high: float = math.inf

    def __add__(self, other):
        """The sum of two efforts, None if it is no Effort."""
        if self.is_constant:
            force = min(max(self.drive, self.low), self.high)
            drive, low, high = other.drive + force, other.low + force, other.high + force
            return Effort(drive, other.stiffness, other.damping, low, high)
        if other.is_constant:
            return other + self
        if any(map(math.isfinite, (self.low, self.high, other.low, other.high))):
            return None
        return Effort(self.drive + other.drive, self.stiffness + other.stiffness, self.damping + other.damping)

    @property
    def is_constant(self):
        """Whether the effort does not depend on the motion."""
        return not self.stiffness and not self.damping

    def within(self, low, high):
        """The effort, clamped once more. Args: low, high: another range."""
        return Effort(self.drive, self.stiffness, self.damping, max(self.low, low), min(self.high, high))


def add_to_joints(compiled):
    """Add the armature and damping of actuators to those of the joints that they move (newer than MuJoCo 3.0)."""
    m = compiled
    for j, actuators in joint_actuators(m).items():
        dof = m.jnt_dofadr[j]
        for k in actuators if hasattr(m, "actuator_armature") and m.jnt_type[j] in (SLIDE, HINGE) else ():
            m.dof_armature[dof] += m.actuator_gear[k, 0] ** 2 * m.actuator_armature[k]
            m.dof_damping[dof] += m.actuator_gear[k, 0] ** 2 * m.actuator_damping[k]
            m.actuator_armature[k], m.actuator_damping[k] = 0, 0


def joint_actuators(compiled):
    """Actuators that move hinges and sliders: {joint: list of actuators}."""
    found = {}
    for k in range(compiled.nu):
        if compiled.actuator_trntype[k] in OF_JOINT:
            found.setdefault(int(compiled.actuator_trnid[k, 0]), []).append(k)
    return found


def motor_of(compiled, actuators, joint, ctrl, start):
    """The actuators of a joint as one Motor. One that has no counterpart, or no exact sum with those before, is none
    of it.

    Args: compiled: an mjModel; actuators: list; joint: that they move; ctrl: controls; start: joint position at the
    start of the Model [rad or m].

    Returns: the Motor, None if no actuator has a counterpart; the actuators that it consists of; what is approximated,
    a list of strings.
    """
    whole, used = None, []
    for k in actuators:
        effort = effort_of(compiled, k, ctrl[k])
        total = effort if whole is None or effort is None else whole + effort
        if total is None or total.stiffness < 0 or total.damping < 0:
            continue
        if whole is None or total.is_constant or -total.low == total.high:
            whole, used = total, [*used, k]
    if whole is None:
        return None, [], []
    if compiled.jnt_actfrclimited[joint]:
        whole = whole.within(*compiled.jnt_actfrcrange[joint].tolist())
    if whole.is_constant:
        return Motor(torque=min(max(whole.drive, whole.low), whole.high)), used, []
    said = [] if -whole.low == whole.high else ["its range of efforts replaced by the wider side"]
    given = {"damping": whole.damping, "max_effort": max(abs(whole.low), abs(whole.high))}
    if not whole.stiffness:
        return Motor(speed=whole.drive / whole.damping, **given), used, said
    return Motor(position=whole.drive / whole.stiffness - start, stiffness=whole.stiffness, **given), used, said


def effort_of(compiled, k, ctrl):
    """The Effort of an actuator on its joint, None for one without counterpart. Args: compiled; k; ctrl: control."""
    m = compiled
    if m.actuator_dyntype[k] != NO_DYNAMICS or m.actuator_gaintype[k] != FIXED_GAIN:
        return None
    if any(np.any(getattr(m, name)[k]) for name in UNLIKE if hasattr(m, name)):
        return None
    if m.actuator_biastype[k] not in (NO_BIAS, AFFINE_BIAS):
        return None
    bias = [float(b) for b in m.actuator_biasprm[k, :3]] if m.actuator_biastype[k] == AFFINE_BIAS else [0.0, 0.0, 0.0]
    gear = float(m.actuator_gear[k, 0])
    if m.actuator_ctrllimited[k]:
        ctrl = min(max(ctrl, m.actuator_ctrlrange[k, 0]), m.actuator_ctrlrange[k, 1])
    drive = gear * (float(m.actuator_gainprm[k, 0]) * float(ctrl) + bias[0])
    effort = Effort(drive, 0.0 - gear**2 * bias[1], 0.0 - gear**2 * bias[2])
    if m.actuator_forcelimited[k]:
        effort = effort.within(*sorted(gear * float(force) for force in m.actuator_forcerange[k]))
    return effort
