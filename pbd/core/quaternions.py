"""Rotations as unit quaternions (w, x, y, z) in kernels."""

import taichi as ti

from pbd.core.kernels import on_cpu


@ti.func
def rotate(q, v):
    """Rotate v (3,) by the unit quaternion q."""
    u = ti.Vector([q[1], q[2], q[3]])
    t = 2.0 * u.cross(v)
    return v + q[0] * t + u.cross(t)


@ti.func
def rotate_back(q, v):
    """Rotate v (3,) by the inverse of the unit quaternion q."""
    return rotate(ti.Vector([q[0], -q[1], -q[2], -q[3]]), v)


@ti.func
def multiply(q, p):
    """The quaternion q p: the rotation p, then q."""
    a, b = ti.Vector([q[1], q[2], q[3]]), ti.Vector([p[1], p[2], p[3]])
    v = q[0] * b + p[0] * a + a.cross(b)
    return ti.Vector([q[0] * p[0] - a.dot(b), v[0], v[1], v[2]])


@ti.func
def conjugate(q):
    """The inverse of a unit quaternion."""
    return ti.Vector([q[0], -q[1], -q[2], -q[3]])


@ti.func
def sinc(x):
    """sin(x)/x for x >= 0, by the series where x is small.

    Vulkan lets a driver's sine be wrong by 2⁻¹¹, and where bodies turn little in a substep, that is a large part of it.
    So the series goes farther on a graphics card.
    """
    square, limit = x * x, ti.static(1e-4 if on_cpu() else 0.25)
    result = 1.0 - square / 6.0  # the next term is below round-off on a processor
    if ti.static(not on_cpu()):
        result = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)))
    if x > limit:
        result = ti.sin(x) / x
    return result


@ti.func
def exponential(v):
    """The quaternion of a rotation vector [rad]. It is exact: a constant ω rotates a body by ω h for any h."""
    half = 0.5 * v.norm()
    scale = 0.5 * sinc(half)
    return ti.Vector([ti.cos(half), scale * v[0], scale * v[1], scale * v[2]])


@ti.func
def axis_rotation(n, angle):
    """The quaternion of a rotation about a unit vector. Args: n: (3,); angle [rad]."""
    v = ti.sin(0.5 * angle) * n
    return ti.Vector([ti.cos(0.5 * angle), v[0], v[1], v[2]])


@ti.func
def matrix_rows(q):
    """The three rows of the rotation matrix of a unit quaternion, (3,) each."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    first = ti.Vector([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)])
    second = ti.Vector([2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)])
    third = ti.Vector([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
    return first, second, third


@ti.func
def to_matrix(q):
    """The rotation matrix of a unit quaternion."""
    first, second, third = matrix_rows(q)
    return ti.Matrix.rows([first, second, third])


@ti.func
def from_columns(a, b, c):
    """Unit quaternion (w, x, y, z) of the rotation matrix with columns a, b, c; its largest component is a root.

    Source: Shepperd, Quaternion from rotation matrix (1978).
    """
    trace = a[0] + b[1] + c[2]
    q = ti.Vector([1.0 + trace, b[2] - c[1], c[0] - a[2], a[1] - b[0]])
    if a[0] >= b[1] and a[0] >= c[2] and a[0] > trace:
        q = ti.Vector([b[2] - c[1], 1.0 + a[0] - b[1] - c[2], a[1] + b[0], c[0] + a[2]])
    elif b[1] >= c[2] and b[1] > trace:
        q = ti.Vector([c[0] - a[2], a[1] + b[0], 1.0 + b[1] - a[0] - c[2], b[2] + c[1]])
    elif c[2] > trace:
        q = ti.Vector([a[1] - b[0], c[0] + a[2], b[2] + c[1], 1.0 + c[2] - a[0] - b[1]])
    return q / q.norm()
