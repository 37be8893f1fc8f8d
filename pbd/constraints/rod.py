"""Rod: segments that stretch, and joints between two segments that bend and twist.

A segment has two nodes a and b, and a side particle s beside its middle, which shows how it is turned about its axis:

    d_3 = (b - a)/l,   p = s - (a + b)/2 without its part along d_3,   d_1 = p/|p|,   d_2 = d_3 × d_1

Where its particles move, it turns by d_3 × δd_3 + (d_2·δd_1) d_3, so a couple W on it is these forces:

    on s:   (d_3·W)/|p| d_2,        on b and a:   ±W × d_3/l - (d_3·W) (1/2 ± e/l)/|p| d_2,   e = (s - (a + b)/2)·d_3

A joint turns by the vector φ from what the first segment expects, D = d Q with the rotation Q at rest, to the second:

    C_k = root_k φ·D_k,   α λ_k = -C_k,   root_k² = K_k α/l̄        stiffness K = (EI_1, EI_2, GJ), length l̄ of the joint

so its energy is Σ K_k (φ_k/l̄)² l̄/2. The derivative of φ·D_k along the turn of the second segment, and against that of
the first, is W_k = D_k + φ × D_k/2 + c φ × (φ × D_k), c = (1 - θ/2 cot(θ/2))/θ², θ = |φ|. W is a couple and the forces
of a couple have no sum, so linear and angular momentum are conserved.

Sources: Bergou, Wardetzky, Robinson, Audoly, Grinspun, Discrete Elastic Rods (2008),
https://doi.org/10.1145/1360612.1360662, for rods whose segments have an angle; Umetani, Schmidt, Stam, Position-based
Elastic Rods (2014), https://doi.org/10.2312/sca.20141119, for particles beside them. Departures: Umetani's bending and
twist are no rotation vectors, and depend on where the side particles are along the rod. Here φ is the rotation vector,
whose derivative is in Solà, Deray, Atchuthan, A Micro Lie Theory for State Estimation in Robotics (2018),
https://arxiv.org/abs/1812.01537, equation 146. So a torque twists a joint in proportion, up to half a turn.

Parameters of a joint: Q as a quaternion; root_1, root_2, root_3. Members: the other node of the first segment, the
node of both, the other node of the second; the two side particles.
"""

from dataclasses import replace

import taichi as ti

from pbd.constraints.constraint_type import SWINGS, TINY, ConstraintType
from pbd.constraints.membrane import across, solve_three
from pbd.constraints.stick import STICK, STICK_THAT_TEARS, stick
from pbd.core.vectors import axis, length_or_huge

# Below this angle [rad] functions of it are series.
SMALL = 1e-2


@ti.func
def to_push_from(x, start, swing, count: ti.template()):
    """Positions whose gradients an element pushes along: at the start of the substep, or now if it swings too fast.

    Args: swing: (h ω)² of what its λ hold; count: of particles.
    """
    points = [start[k] for k in ti.static(range(count))]
    if swing > SWINGS:
        for k in ti.static(range(count)):
            points[k] = x[k]
    return points


@ti.func
def segment_tension(x, parameters, multipliers, stiffness):
    """What tension adds to the stiffness: T/|b - a| across. What pushes is left out, see membrane.py."""
    own = across(x[1] - x[0], ti.max(-multipliers[0], 0.0))
    return [own, -own, own]


@ti.func
def segment_turned_back(x, start, w, parameters, multipliers):
    """Gradients at the start of the substep, or at x where tension swings nodes too fast for that."""
    swing = ti.abs(multipliers[0]) / length_or_huge(x[1] - x[0]) * ti.max(w[0], w[1])
    return segment_derivatives(to_push_from(x, start, swing, 2), parameters)[1]


@ti.func
def segment_swing(x, w, parameters):
    """Σ w |∇C|²."""
    return w[0] + w[1]


@ti.func
def segment_derivatives(x, parameters):
    """C and its gradient, as lists."""
    C, gradient = stick(x, parameters)
    return [C], [gradient]


@ti.func
def whole_segment(x, parameters):
    """C and its gradient of a segment that may have torn, see pbd/constraints/stick.py."""
    C, gradient = stick(x, parameters)
    whole = ti.select(parameters[1] < 0.0, 0.0, 1.0)
    return [whole * C], [[whole * gradient[0], whole * gradient[1]]]


@ti.func
def side_value(x, parameters):
    """C = |s - (a + b)/2| - L and (|s - a| - |s - b|)/2, for the nodes and the side particle of a segment [m]."""
    lever = (x[2] - 0.5 * (x[0] + x[1])).norm()
    return ti.Vector([lever - parameters[0], 0.5 * ((x[2] - x[0]).norm() - (x[2] - x[1]).norm())])


@ti.func
def side_derivatives(x, parameters):
    """C of both rows and their gradients."""
    C, lever = stick([0.5 * (x[0] + x[1]), x[2]], parameters)
    D, first = stick([x[0], x[2]], parameters)
    E, second = stick([x[1], x[2]], parameters)
    across_axis = [0.5 * lever[0], 0.5 * lever[0], lever[1]]
    along_axis = [0.5 * first[0], -0.5 * second[0], 0.5 * (first[1] - second[1])]
    return [C, 0.5 * (D - E)], [across_axis, along_axis]


@ti.func
def side_swing(x, w, parameters):
    """The larger Σ w |∇C|², at most."""
    return 0.25 * (w[0] + w[1]) + w[2]


@ti.func
def side_tension(x, parameters, multipliers, stiffness):
    """What tension adds to the stiffness, as for segments."""
    own = across(x[2] - 0.5 * (x[0] + x[1]), ti.max(-multipliers[0], 0.0))
    quarter, half = 0.25 * own, -0.5 * own
    return [quarter, quarter, quarter, half, half, own]


@ti.func
def side_turned_back(x, start, w, parameters, multipliers):
    """Gradients at the start of the substep, or at x where what λ hold swings too fast for that."""
    swing = ti.max(ti.abs(multipliers[0]), ti.abs(multipliers[1])) / parameters[0] * ti.max(w[0], w[1], w[2])
    return side_derivatives(to_push_from(x, start, swing, 3), parameters)[1]


@ti.func
def project_side(x, start, w, parameters, compliance, multipliers, from_start: ti.template()):
    """Project both rows, one after the other, as compliant sticks."""
    moved, new = [x[k] for k in ti.static(range(3))], [multipliers[k] for k in ti.static(range(2))]
    for row in ti.static(range(2)):
        C, now = side_derivatives(moved, parameters)
        along = [now[row][k] for k in ti.static(range(3))]
        if ti.static(from_start):
            at_start = side_derivatives(start, parameters)[1]
            for k in ti.static(range(3)):
                along[k] = at_start[row][k]
        weight = 0.0
        for k in ti.static(range(3)):
            weight += w[k] * along[k].dot(now[row][k])
        change = -(C[row] + compliance * multipliers[row]) / (weight + compliance + TINY)
        new[row] += change
        for k in ti.static(range(3)):
            moved[k] += (w[k] * change) * along[k]
    return moved, new


@ti.func
def frame(a, b, s):
    """d_1, d_2, d_3 of a segment (3,) each, its length, |p| and e [m]."""
    along = b - a
    length = length_or_huge(along)
    d_3 = along / length
    offset = s - 0.5 * (a + b)
    e = offset.dot(d_3)
    p = offset - e * d_3
    lever = length_or_huge(p)
    d_1 = p / lever
    return d_1, d_3.cross(d_1), d_3, length, lever, e


@ti.func
def forces_of_couple(W, d_2, d_3, length, lever, e):
    """Forces on a, b and s of a couple W (3,), for a segment as `frame` returns it."""
    across_axis = W.cross(d_3) / length
    on_side = d_3.dot(W) / lever * d_2
    return -across_axis - (0.5 - e / length) * on_side, across_axis - (0.5 + e / length) * on_side, on_side


@ti.func
def expected(x, parameters):
    """D_1, D_2, D_3: how the second segment of a joint would be turned at rest (3,) each."""
    d_1, d_2, d_3, _length, _lever, _e = frame(x[0], x[1], x[3])
    w, i, j, k = parameters[0], parameters[1], parameters[2], parameters[3]
    first = (1.0 - 2.0 * (j * j + k * k)) * d_1 + 2.0 * (i * j + w * k) * d_2 + 2.0 * (i * k - w * j) * d_3
    second = 2.0 * (i * j - w * k) * d_1 + (1.0 - 2.0 * (i * i + k * k)) * d_2 + 2.0 * (j * k + w * i) * d_3
    return first, second, first.cross(second)


@ti.func
def turn(D, d):
    """The rotation vector from D to d, each three directions at right angles (3,) [rad]."""
    half = 0.5 * (D[0].cross(d[0]) + D[1].cross(d[1]) + D[2].cross(d[2]))
    sine, cosine = half.norm(), 0.5 * (D[0].dot(d[0]) + D[1].dot(d[1]) + D[2].dot(d[2]) - 1.0)
    factor = 1.0 + sine * sine / 6.0
    if sine > SMALL or cosine < 0.0:
        factor = ti.atan2(sine, cosine) / (sine + TINY)
    return factor * half


@ti.func
def joint_value(x, parameters):
    """C_k = root_k φ·D_k [rad]."""
    D_1, D_2, D_3 = expected(x, parameters)
    d_1, d_2, d_3, _length, _lever, _e = frame(x[1], x[2], x[4])
    phi = turn([D_1, D_2, D_3], [d_1, d_2, d_3])
    return ti.Vector([parameters[4] * phi.dot(D_1), parameters[5] * phi.dot(D_2), parameters[6] * phi.dot(D_3)])


@ti.func
def joint_derivatives(x, parameters):
    """C of the three rows and their gradients."""
    _d_1, d_2, d_3, length, lever, e = frame(x[0], x[1], x[3])
    D_1, D_2, D_3 = expected(x, parameters)
    f_1, f_2, f_3, other_length, other_lever, other_e = frame(x[1], x[2], x[4])
    phi = turn([D_1, D_2, D_3], [f_1, f_2, f_3])
    square = phi.norm_sqr()
    c = 1.0 / 12.0 + square / 720.0
    if square > SMALL * SMALL:
        angle = ti.sqrt(square)
        c = (1.0 - 0.5 * angle * ti.cos(0.5 * angle) / ti.sin(0.5 * angle)) / square
    C = [0.0, 0.0, 0.0]
    gradients = [[ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(5))] for _ in ti.static(range(3))]
    for k, D in ti.static(enumerate((D_1, D_2, D_3))):
        root = parameters[4 + k]
        C[k] = root * phi.dot(D)
        turned = phi.cross(D)
        W = root * (D + 0.5 * turned + c * phi.cross(turned))
        a, b, s = forces_of_couple(-W, d_2, d_3, length, lever, e)
        p, q, t = forces_of_couple(W, f_2, f_3, other_length, other_lever, other_e)
        gradients[k][0], gradients[k][1], gradients[k][2], gradients[k][3], gradients[k][4] = a, b + p, q, s, t
    return C, gradients


@ti.func
def joint_swing(x, w, parameters):
    """The larger of Σ w |∇C|² of bending and of twist, about."""
    _d_1, _d_2, _d_3, length, lever, _e = frame(x[0], x[1], x[3])
    _f_1, _f_2, _f_3, other_length, other_lever, _other_e = frame(x[1], x[2], x[4])
    a, b = 1.0 / length, 1.0 / other_length
    bend = ti.max(parameters[4], parameters[5]) ** 2 * (w[0] * a * a + w[1] * (a + b) ** 2 + w[2] * b * b)
    twist = parameters[6] ** 2 * (w[3] / lever**2 + w[4] / other_lever**2)
    return ti.max(bend, twist)


@ti.func
def joint_turned_back(x, start, w, parameters, multipliers):
    """Gradients at the start of the substep, or at x where couples swing nodes too fast for that.

    A couple m holds the node of both segments like a spring of m/l².
    """
    couple = 0.0
    for k in ti.static(range(3)):
        couple += (parameters[4 + k] * multipliers[k]) ** 2
    shortest = ti.min((x[1] - x[0]).norm_sqr(), (x[2] - x[1]).norm_sqr())
    swing = ti.sqrt(couple) * ti.max(w[0], w[1], w[2]) / shortest
    return joint_derivatives(to_push_from(x, start, swing, 5), parameters)[1]


@ti.func
def project_joint(x, start, w, parameters, compliance, multipliers, from_start: ti.template()):
    """Solve the three rows together by XPBD's equation, along the gradients now or at the start of the substep."""
    C, now = joint_derivatives(x, parameters)
    gradients = [[now[row][k] for k in ti.static(range(5))] for row in ti.static(range(3))]
    if ti.static(from_start):
        gradients = joint_derivatives(start, parameters)[1]
    rows = [[compliance if ti.static(i == j) else 0.0 for j in ti.static(range(3))] for i in ti.static(range(3))]
    for i in ti.static(range(3)):
        for j in ti.static(range(3)):
            for k in ti.static(range(5)):
                rows[i][j] += w[k] * now[i][k].dot(gradients[j][k])
    right = ti.Vector([-(C[k] + compliance * multipliers[k]) for k in ti.static(range(3))])
    change = solve_three(rows, right)
    moved = [x[k] for k in ti.static(range(5))]
    for k in ti.static(range(5)):
        for row in ti.static(range(3)):
            moved[k] += (w[k] * change[row]) * gradients[row][k]
    return moved, [multipliers[k] + change[k] for k in ti.static(range(3))]


@ti.func
def hold_value(x, parameters):
    """C = x_0 - Σ c_k x_k [m]."""
    return x[0] - (parameters[0] * x[1] + parameters[1] * x[2] + parameters[2] * x[3] + parameters[3] * x[4])


@ti.func
def hold_derivatives(x, parameters):
    """C of the three rows, one for each axis of the world, and their gradients."""
    gap = hold_value(x, parameters)
    gradients = [
        [axis(row), -parameters[0] * axis(row), -parameters[1] * axis(row), -parameters[2] * axis(row),
         -parameters[3] * axis(row)]
        for row in ti.static(range(3))
    ]  # fmt: skip
    return [gap[k] for k in ti.static(range(3))], gradients


@ti.func
def hold_swing(x, w, parameters):
    """Σ w |∇C|²."""
    total = w[0]
    for k in ti.static(range(4)):
        total += w[k + 1] * parameters[k] * parameters[k]
    return total


def segment(name, whole, derivatives, parameters=()):
    """The type of a segment. Args: name; whole: the stick that it is; derivatives: of its row; parameters: further."""
    common = {"function": None, "parameters": (*whole.parameters, *parameters)}
    of_rods = {"derivatives": derivatives, "turned_back": segment_turned_back, "tension": segment_tension,
               "swing": segment_swing}  # fmt: skip
    compliant = replace(whole.compliant, name=f"{name} (compliant)", **common, **of_rods)
    return replace(whole, name=name, compliant=compliant, **common)


SEGMENT = segment("rod segment", STICK, segment_derivatives)
# The torque at which its joints tear it is read on the host, see pbd/tearing.py.
SEGMENT_THAT_TEARS = segment("rod segment that tears", STICK_THAT_TEARS, whole_segment, ("torque",))
SIDE = ConstraintType(
    "rod side", 3, ("lever",), project_side, side_value, multipliers=2,
    compliant=ConstraintType(
        "rod side (compliant)", 3, ("lever",), project_side, side_value, compliance=True, multipliers=2,
        derivatives=side_derivatives, turned_back=side_turned_back, tension=side_tension, swing=side_swing,
    ),
)  # fmt: skip
JOINT_PARAMETERS = ("rest_w", "rest_x", "rest_y", "rest_z", "root_1", "root_2", "root_3")
JOINT = ConstraintType(
    "rod joint", 5, JOINT_PARAMETERS, project_joint, joint_value, multipliers=3,
    compliant=ConstraintType(
        "rod joint (compliant)", 5, JOINT_PARAMETERS, project_joint, joint_value, compliance=True, multipliers=3,
        derivatives=joint_derivatives, turned_back=joint_turned_back, swing=joint_swing,
    ),
)  # fmt: skip
# A joint that yields has limits of its bend and its twist, see pbd/yielding.py.
_WITH_YIELD = {"name": "rod joint that yields", "parameters": (*JOINT_PARAMETERS, "yield_bend", "yield_twist")}
JOINT_THAT_YIELDS = replace(JOINT, compliant=replace(JOINT.compliant, **_WITH_YIELD), **_WITH_YIELD)

# A particle that four others hold at a place between them. It is solved together with rods, or not at all.
HOLD_PARAMETERS = tuple(f"coefficient_{k}" for k in range(4))
HOLD = ConstraintType(
    "rod hold", 5, HOLD_PARAMETERS, None, hold_value, multipliers=3,
    compliant=ConstraintType(
        "rod hold (compliant)", 5, HOLD_PARAMETERS, None, hold_value, compliance=True, multipliers=3,
        derivatives=hold_derivatives, swing=hold_swing,
    ),
)  # fmt: skip
