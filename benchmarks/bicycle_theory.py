"""Linear theory of the bicycle: M q̈ + v C1 q̇ + (g K0 + v² K2) q = f for q = (lean, steer), both to the right [rad].

The equations are those of appendix A of Meijaard, Papadopoulos, Ruina, Schwab (2007), with the names and the axes of
that paper: x forward, y to the right, z down.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy

from scenes.catalogue.components.bicycle import PARTS, TILT, WHEELBASE, trail

GRAVITY = 9.81  # [m/s²]


class Matrices(NamedTuple):
    """The four matrices (2, 2) of the equations."""

    mass: np.ndarray  # M
    damping: np.ndarray  # C1
    stiffness: np.ndarray  # K0, without g
    speed_stiffness: np.ndarray  # K2


def centre(parts):
    """Mass of parts together [kg], and x and z of their centre of mass, z down [m]."""
    mass = sum(part.mass for part in parts)
    return mass, sum(part.mass * part.x for part in parts) / mass, -sum(part.mass * part.z for part in parts) / mass


def moments(parts, x, z):
    """Entries xx, xz and zz of the inertia matrix of parts together about a point [kg m²]. Args: x, z, z down [m]."""
    # The parts have z up. So their heights and products of inertia change sign.
    xx = sum(part.xx + part.mass * (-part.z - z) ** 2 for part in parts)
    xz = sum(-part.xz - part.mass * (part.x - x) * (-part.z - z) for part in parts)
    zz = sum(part.zz + part.mass * (part.x - x) ** 2 for part in parts)
    return xx, xz, zz


def matrices(tilt=TILT):
    """The Matrices for a tilt of the steering axis [degrees]."""
    angle, c, w = math.radians(tilt), trail(tilt), WHEELBASE
    sine, cosine = math.sin(angle), math.cos(angle)
    rear, frame, fork, front = (PARTS[name] for name in ("rear_wheel", "frame", "fork", "front_wheel"))
    parts, steered = (rear, frame, fork, front), (fork, front)
    m_t, x_t, z_t = centre(parts)
    xx_t, xz_t, zz_t = moments(parts, 0.0, 0.0)
    m_a, x_a, z_a = centre(steered)
    xx_a, xz_a, zz_a = moments(steered, x_a, z_a)
    u_a = (x_a - w - c) * cosine - z_a * sine  # distance of their centre from the steering axis
    about_axis = m_a * u_a**2 + xx_a * sine**2 + 2 * xz_a * sine * cosine + zz_a * cosine**2
    with_x = -m_a * u_a * z_a + xx_a * sine + xz_a * cosine
    with_z = m_a * u_a * x_a + xz_a * sine + zz_a * cosine
    ratio = c / w * cosine  # μ, of yaw to steer
    spin_front = front.yy / front.radius
    spin = rear.yy / rear.radius + spin_front  # S_T
    s_a = m_a * u_a + ratio * m_t * x_t
    turn = cosine / w
    mixed = with_x + ratio * xz_t
    coupling = ratio * spin + spin_front * cosine
    return Matrices(
        np.array([[xx_t, mixed], [mixed, about_axis + 2 * ratio * with_z + ratio**2 * zz_t]]),
        np.array([
            [0.0, coupling + xz_t * turn - ratio * m_t * z_t],
            [-coupling, with_z * turn + ratio * (s_a + zz_t * turn)],
        ]),
        np.array([[m_t * z_t, -s_a], [-s_a, -s_a * sine]]),
        np.array([[0.0, (spin - m_t * z_t) * turn], [0.0, (s_a + spin_front * sine) * turn]]),
    )  # fmt: skip


def state_matrix(speed, tilt=TILT):
    """A (4, 4) of dy/dt = A y, y = (lean, steer, their rates). Args: speed [m/s]; tilt [degrees]."""
    m, c, k0, k2 = matrices(tilt)
    stiffness = np.linalg.solve(m, GRAVITY * k0 + speed**2 * k2)
    return np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -np.linalg.solve(m, speed * c)]])


def eigenvalues(speed, tilt=TILT):
    """The four eigenvalues, in the order of `ordered` [1/s]. Args: speed [m/s]; tilt [degrees]."""
    return ordered(np.linalg.eigvals(state_matrix(speed, tilt)))


def ordered(values):
    """Eigenvalues by falling real part, of a pair first the one with the positive frequency."""
    return np.array(sorted(values, key=lambda value: (-round(value.real, 9), -value.imag)))


def rates_after_push(impulse, tilt=TILT):
    """Rates of lean and steer after a push to the right at the centre of the frame (2,) [rad/s].

    The lean moves that centre by its height. Steer turns the bicycle about its rear contact point by (c/w) cos λ.

    Args: impulse [N s]; tilt [degrees].
    """
    frame = PARTS["frame"]
    yaw = trail(tilt) / WHEELBASE * math.cos(math.radians(tilt))
    return np.linalg.solve(matrices(tilt).mass, impulse * np.array([frame.z, frame.x * yaw]))


def response(times, impulse, speed, tilt=TILT):
    """Lean and steer after a push at time zero (times, 2) [rad]. Args: times (n,) [s]; others as above."""
    start = np.concatenate([np.zeros(2), rates_after_push(impulse, tilt)])
    return np.array([scipy.linalg.expm(state_matrix(speed, tilt) * time) @ start for time in times])[:, :2]
