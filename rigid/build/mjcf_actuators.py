"""Actuators of a compiled MuJoCo model as motors of a Model.

An actuator with the gain g, the bias b_0 + b_1 l + b_2 dl/dt and the gear G moves a joint, l = G q, by the effort

    G (g ctrl + b_0 + b_1 G q + b_2 G dq/dt),   clamped to G forcerange

    MJCF                         Motor
    motor, b_1 = b_2 = 0         torque, G g ctrl
    position, b_1 < 0            position, with stiffness -b_1 G² and damping -b_2 G²
    velocity, b_1 = 0, b_2 < 0   speed, with damping -b_2 G²

ctrl is zero, or that of a keyframe. Source: MuJoCo documentation, Computation, Actuation model.
"""

import math

from rigid.motor import Motor

FIXED_GAIN, NO_BIAS, AFFINE_BIAS, NO_DYNAMICS = 0, 0, 1, 0  # mjtGain, mjtBias, mjtDyn
OF_JOINT = (0, 1)  # mjtTrn: a joint, and a joint in its parent's frame


def joint_actuators(compiled):
    """Actuators that move hinges and sliders: {joint: list of actuators}."""
    found = {}
    for k in range(compiled.nu):
        if compiled.actuator_trntype[k] in OF_JOINT:
            found.setdefault(int(compiled.actuator_trnid[k, 0]), []).append(k)
    return found


def motor_of(compiled, k, joint, ctrl, start):
    """An actuator as a Motor; None for one without counterpart.

    Args: compiled: an mjModel; k: the actuator; joint: that it moves; ctrl: control; start: joint position at the start
    of the Model [rad or m].

    Returns: the Motor, or None; what is approximated, a list of strings.
    """
    m = compiled
    if m.actuator_dyntype[k] != NO_DYNAMICS or m.actuator_gaintype[k] != FIXED_GAIN:
        return None, []
    if m.actuator_biastype[k] not in (NO_BIAS, AFFINE_BIAS):
        return None, []
    bias = [float(b) for b in m.actuator_biasprm[k, :3]] if m.actuator_biastype[k] == AFFINE_BIAS else [0.0, 0.0, 0.0]
    gear = float(m.actuator_gear[k, 0])
    if m.actuator_ctrllimited[k]:
        ctrl = min(max(ctrl, m.actuator_ctrlrange[k, 0]), m.actuator_ctrlrange[k, 1])
    drive = gear * (float(m.actuator_gainprm[k, 0]) * float(ctrl) + bias[0])
    stiffness, damping = -(gear**2) * bias[1], -(gear**2) * bias[2]
    if stiffness < 0 or damping < 0:
        return None, []
    low, high = effort_range(m, k, joint, gear)
    if not stiffness and not damping:
        return Motor(torque=min(max(drive, low), high)), []
    most, said = max(abs(low), abs(high)), []
    if -low != high:
        said.append("its range of efforts replaced by the wider side")
    if not stiffness:
        return Motor(speed=drive / damping, damping=damping, max_effort=most), said
    return Motor(position=drive / stiffness - start, stiffness=stiffness, damping=damping, max_effort=most), said


def effort_range(compiled, k, joint, gear):
    """Least and largest effort of an actuator on its joint [N m or N]."""
    low, high = -math.inf, math.inf
    if compiled.actuator_forcelimited[k]:
        low, high = sorted(gear * float(force) for force in compiled.actuator_forcerange[k])
    if compiled.jnt_actfrclimited[joint]:
        low, high = max(low, compiled.jnt_actfrcrange[joint, 0]), min(high, compiled.jnt_actfrcrange[joint, 1])
    return float(low), float(high)
