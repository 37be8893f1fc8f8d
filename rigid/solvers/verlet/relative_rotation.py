"""How one frame has turned or shifted against another, and the impulses that act on both.

The corners x_c of a frame (rigid/solvers/verlet/frame.py) are its centre and the sides of the box that they stand in:

    u_k = Σ_c s_ck x_c,  k = 0, 1, 2,   x_c = centre + Σ_k s_ck u_k / 4,   s_ck = ±1 the corners of CORNERS

Its triad e is read from the two longest, in the order of Gram and Schmidt: e_0 along u_0, e_1 in the plane of u_0 and
u_1, e_2 = e_0 × e_1. A direction or a point that is fixed in the body is a combination of the e_k, with three numbers
that are found once. The longest first, because sweeps leave sticks some micrometres off: along a rod of half a metre
that is no angle, across it 0.03 m of side are a hundred times more.

A coordinate q of two frames depends on nothing but dot products, so it does not notice when the world is shifted or
turned. Its derivative is a force f on each frame and a torque t about the frame's centre, that of the frame's rotation:
with G_ij = m_i·n_j, of the first frame's axes m and the second's n,

    t = Σ_ij ∂q/∂G_ij n_j × m_i on the second frame, -t on the first

An impulse λ moves the corners as those of a rigid body, with the moment of inertia that they have as they lie:

    x_c += λ (w f/4 + θ × r_c),   θ = w J⁻¹ t,   J = Σ_k (|u_k|² E - u_k u_kᵀ)/4,   r_c = x_c - centre

w is the inverse mass of one corner, all four alike; pinned corners have none and stay. Σ m Δx = 0 and Σ m y × Δx = 0
over both frames to round-off, however strained they are, where y are the positions of which f, t, J and r are taken.

Frames that are joined at a point P would be torn apart by that, and their joint's sticks would have to bring them
together again, sweep by sweep: so a torque comes with the joint's reaction, the force f on the second frame and -f on
the first, both at P, that leaves P one point: with r = P - centre, K = w J⁻¹, and B the matrix of r × ...,

    A f = D t,   D = B_1 K_1 + B_2 K_2,   A = (w_1 + w_2)/4 E - B_1 K_1 B_1 - B_2 K_2 B_2
    θ_2 = K_2 (t + r_2 × f),   θ_1 = -K_1 (t + r_1 × f)

The gradient with respect to single corners would do so too, but it would shear the frame rather than turn it: a short
side pulled sidewise is a hundred times lighter than the whole rod, and the sticks would undo 99 % of it at once. The
two differ by a combination of the sticks' gradients, so that converged sweeps end in the same place.

Sources: Jakobsen, Advanced Character Physics (2001), section 6, for limits as bounds on dot products; Müller, Macklin,
Chentanez, Jeschke, Kim, Detailed Rigid Body Simulation with Extended Position Based Dynamics (2020), for impulses on
positions.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY


@ti.func
def sides(x, frame: ti.template()):
    """The sides u_0, u_1, u_2 of a frame [m]. Arguments: x: corners, four of each frame; frame: its number."""
    a, b = x[4 * frame] + x[4 * frame + 1], x[4 * frame + 2] + x[4 * frame + 3]
    c, d = x[4 * frame] - x[4 * frame + 1], x[4 * frame + 2] - x[4 * frame + 3]
    return [a - b, c + d, c - d]


@ti.func
def centre(x, frame: ti.template()):
    """Mean of a frame's corners [m]."""
    return 0.25 * ((x[4 * frame] + x[4 * frame + 1]) + (x[4 * frame + 2] + x[4 * frame + 3]))


@ti.func
def triad(x, frame: ti.template()):
    """The triad e_0, e_1, e_2 of a frame: right-handed, of length one."""
    k = ti.static(4 * frame)
    u_0 = (x[k] + x[k + 1]) - (x[k + 2] + x[k + 3])
    u_1 = (x[k] - x[k + 1]) + (x[k + 2] - x[k + 3])
    across = u_0.cross(u_1)
    length, area = u_0.norm(), across.norm()
    over = 1.0 / (length * area + TINY)  # the only division: one costs as much as twenty multiplications
    e_0, e_2 = (over * area) * u_0, (over * length) * across
    return [e_0, e_2.cross(e_0), e_2]


@ti.func
def fixed_in(e, p, first: ti.template()):
    """What is fixed in a frame: the combination of its triad e whose numbers begin at p[first]."""
    return p[first] * e[0] + p[first + 1] * e[1] + p[first + 2] * e[2]


# Symmetric matrices are lists of their three columns, for which Taichi compiles much less than for matrices of its own.


@ti.func
def times(columns, v):
    """A matrix times a vector."""
    return v[0] * columns[0] + v[1] * columns[1] + v[2] * columns[2]


@ti.func
def solve(columns, v):
    """The x of A x = v, for a symmetric A whose determinant is not zero, by Cramer's rule."""
    bc, ca, ab = columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])
    return ti.Vector([bc.dot(v), ca.dot(v), ab.dot(v)]) / (columns[0].dot(bc) + TINY)


@ti.func
def inverse_inertia(u, w):
    """K = w J⁻¹ of four corners of inverse mass w, about their centre: from its cofactors, as columns."""
    trace = u[0].norm_sqr() + u[1].norm_sqr() + u[2].norm_sqr()
    a = ti.Vector([trace, 0.0, 0.0]) - u[0][0] * u[0] - u[1][0] * u[1] - u[2][0] * u[2]
    b = ti.Vector([0.0, trace, 0.0]) - u[0][1] * u[0] - u[1][1] * u[1] - u[2][1] * u[2]
    c = ti.Vector([0.0, 0.0, trace]) - u[0][2] * u[0] - u[1][2] * u[1] - u[2][2] * u[2]
    bc = b.cross(c)
    scale = 4.0 * w / (a.dot(bc) + TINY)
    return [scale * bc, scale * c.cross(a), scale * a.cross(b)]


@ti.func
def where_impulses_act(x, start, frames: ti.template(), from_start: ti.template()):
    """The corners of which an impulse's direction is taken: at the start of the step, or as they lie.

    As they lie also where a side of a frame has turned by more than 60° within the step, for all frames of the
    constraint: what turned the earlier pose would no longer turn this one.
    """
    near = 1.0
    if ti.static(from_start):
        for b in ti.static(range(frames)):
            u, before = sides(x, b), sides(start, b)
            for k in ti.static(range(2)):
                near = ti.min(near, u[k].dot(before[k]) - 0.5 * before[k].norm_sqr())
    return [
        ti.select(near > 0.0, start[k], x[k]) if ti.static(from_start) else x[k] for k in ti.static(range(4 * frames))
    ]


@ti.func
def response(y, w, gradient):
    """What an impulse of one does to two frames, each on its own.

    Arguments: gradient: f, t of each. Returns: shift of the centre and turn θ of each.
    """
    turn_1 = times(inverse_inertia(sides(y, 0), w[0]), gradient[1])
    turn_2 = times(inverse_inertia(sides(y, 1), w[4]), gradient[3])
    return [(0.25 * w[0]) * gradient[0], turn_1, (0.25 * w[4]) * gradient[2], turn_2]


@ti.func
def recoil(K, r):
    """Columns of -B K B: how far off an impulse at r moves the point at r, by turning the frame."""
    return [
        -r.cross(r[2] * K[1] - r[1] * K[2]),
        -r.cross(r[0] * K[2] - r[2] * K[0]),
        -r.cross(r[1] * K[0] - r[0] * K[1]),
    ]


@ti.func
def joined(y, w, r_2):
    """K_1, K_2, r_1, r_2 and A of two frames that are joined at P, r_2 from the second's centre."""
    K_1, K_2 = inverse_inertia(sides(y, 0), w[0]), inverse_inertia(sides(y, 1), w[4])
    r_1 = centre(y, 1) + r_2 - centre(y, 0)
    a, b, shift = recoil(K_1, r_1), recoil(K_2, r_2), 0.25 * (w[0] + w[4])
    A = [
        a[0] + b[0] + ti.Vector([shift, 0.0, 0.0]),
        a[1] + b[1] + ti.Vector([0.0, shift, 0.0]),
        a[2] + b[2] + ti.Vector([0.0, 0.0, shift]),
    ]
    return K_1, K_2, r_1, r_2, A


@ti.func
def response_at_joint(joint, w, torque):
    """What a torque on the second frame, and its opposite on the first, does to both if they stay joined.

    Arguments: joint: what `joined` found. Returns: shift of the centre and turn θ of each.
    """
    K_1, K_2, r_1, r_2, A = joint
    force = solve(A, r_1.cross(times(K_1, torque)) + r_2.cross(times(K_2, torque)))
    turn_1, turn_2 = times(K_1, torque + r_1.cross(force)), times(K_2, torque + r_2.cross(force))
    return [(-0.25 * w[0]) * force, -turn_1, (0.25 * w[4]) * force, turn_2]


@ti.func
def lightness_at_joint(joint):
    """The matrix that takes such a torque to the turn of the second frame against the first."""
    K_1, K_2, r_1, r_2, A = joint
    forces = [solve(A, r_1.cross(K_1[k]) + r_2.cross(K_2[k])) for k in ti.static(range(3))]
    return [
        K_1[k] + K_2[k] + times(K_1, r_1.cross(forces[k])) + times(K_2, r_2.cross(forces[k]))
        for k in ti.static(range(3))
    ]


@ti.func
def effect(gradient, moves, frames: ti.template()):
    """By how much q changes: f·shift + t·turn over all frames."""
    result = 0.0
    for k in ti.static(range(2 * frames)):
        result += gradient[k].dot(moves[k])
    return result


@ti.func
def moved(x, y, moves, amount, frames: ti.template()):
    """Corners x moved by so many times shift + turn × (y - centre of y)."""
    result = [x[k] for k in ti.static(range(4 * frames))]
    for b in ti.static(range(frames)):
        u = sides(y, b)
        shift, turn = amount * moves[2 * b], (0.25 * amount) * moves[2 * b + 1]
        v = [turn.cross(u[k]) for k in ti.static(range(3))]
        result[4 * b] = x[4 * b] + shift + v[0] + v[1] + v[2]
        result[4 * b + 1] = x[4 * b + 1] + shift + v[0] - v[1] - v[2]
        result[4 * b + 2] = x[4 * b + 2] + shift - v[0] + v[1] - v[2]
        result[4 * b + 3] = x[4 * b + 3] + shift - v[0] - v[1] + v[2]
    return result


@ti.func
def opposite(torque):
    """The gradient of an angle: no force, and a torque on the second frame against one on the first."""
    return [0.0 * torque, -torque, 0.0 * torque, torque]


# Coordinates of two frames --------------------------------------------------------------------------------------------
# (x, p) -> q and its gradient, f and t of the first frame and of the second; and (y, w, p) -> what an impulse of one on
# q moves.


@ti.func
def angle(x, p):
    """Angle q = atan2(m_2·n, m_1·n) [rad] of the second frame's axis n in the plane of the first frame's m_1 and m_2.

    A hinge's, with n = n_1; of a universal joint R = R(n_0, a) R(n_1, b) the angle a likewise, and b with the frames
    the other way round: n_0·m_0 = cos b and n_2·m_0 = sin b, so that the child's n_0 and n_2 stand for m_1 and m_2 and
    the parent's m_0 for n. Right-handed about m_1 × m_2 from the first frame to the second; where frames change roles
    so does the sign of the axis n_0 × n_2 = -n_1, and b comes out right-handed from parent to child again.

    Numbers: m_1, m_2, n; the second frame's anchor, for `push_angle`.
    """
    q, torque = angle_of(triad(x, 0), triad(x, 1), p)
    return q, opposite(torque)


@ti.func
def angle_of(a, b, p):
    """The same from both triads: q, and t on the second frame."""
    m_1, m_2, n = fixed_in(a, p, 0), fixed_in(a, p, 3), fixed_in(b, p, 6)
    cosine, sine = m_1.dot(n), m_2.dot(n)
    return ti.atan2(sine, cosine), n.cross(cosine * m_2 - sine * m_1) / (cosine * cosine + sine * sine + TINY)


@ti.func
def push_angle(y, w, p):
    """What an impulse of one on the angle does to both frames, which stay joined."""
    b = triad(y, 1)
    return response_at_joint(joined(y, w, fixed_in(b, p, 9)), w, angle_of(triad(y, 0), b, p)[1])


@ti.func
def shift(x, p):
    """Shift q = (P_2 - P_1)·m_0 [m] of the second frame's anchor from the first's, along an axis of the first.

    The force acts on both frames at P_2: on the first that is -m_0 at P_1, and what turns m_0 after P_2.

    Numbers: m_0, P_1 and P_2, each from its frame's centre.
    """
    a, b = triad(x, 0), triad(x, 1)
    axis, arm = fixed_in(a, p, 0), fixed_in(b, p, 6)
    reach = centre(x, 1) + arm - centre(x, 0)
    return (reach - fixed_in(a, p, 3)).dot(axis), [-axis, -reach.cross(axis), axis, arm.cross(axis)]


@ti.func
def push_shift(y, w, p):
    """What an impulse of one along the axis does to both frames."""
    return response(y, w, shift(y, p)[1])


# Cone and twist of a ball joint: from axes m of the first frame and n of the second. ----------------------------------


@ti.func
def swing_torque(m_0, n_0):
    """t of the swing, the angle in [0, π] between m_0 and n_0."""
    across = m_0.cross(n_0)
    return across / (across.norm() + TINY)


@ti.func
def twist_torque(m_0, n_0):
    """t of the twist: a turn about n_0 counts in full, one about m_0 × n_0 is all swing.

    Where the swing is π the twist has no meaning, and t no length.
    """
    return (m_0 + n_0) / (1.0 + m_0.dot(n_0) + TINY)


@ti.func
def twist_parts(m_0, m_1, m_2, n_0, n_1):
    """Cosine and sine of the twist, as rotation.swing_twist_angles has it, both times 1 + m_0·n_0 >= 0.

    The angle of n_1 in the plane of m_1' and m_2', which are m_1 and m_2 turned the shortest way from m_0 to n_0:
    m_i' = m_i - (m_i·n_0)/(1 + m_0·n_0) (m_0 + n_0) by Rodrigues, and n_0·n_1 = 0.
    """
    near, side = 1.0 + m_0.dot(n_0), m_0.dot(n_1)
    return near * m_1.dot(n_1) - m_1.dot(n_0) * side, near * m_2.dot(n_1) - m_2.dot(n_0) * side


@ti.func
def turned_since(x, start, frame: ti.template()):
    """Rotation vector of a frame since the start of the step [rad], as its angular momentum has it: J⁻¹ Σ r × Δr.

    sin θ times the axis for a frame that turned by θ about an axis of its inertia.
    """
    u, v = sides(x, frame), sides(start, frame)
    turn = v[0].cross(u[0]) + v[1].cross(u[1]) + v[2].cross(u[2])
    return times(inverse_inertia(v, 0.25), turn)


@ti.func
def nearest_turn(q, reference):
    """The angle q + 2πn nearest to a reference [rad]; whatever that is, its bits are those of q and a whole n."""
    turns = ti.round((reference - q) / 6.283185307179586)
    return q + 6.283185307179586 * turns
