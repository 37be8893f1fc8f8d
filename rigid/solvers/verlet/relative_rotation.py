"""Rotation and shift of one frame relative to another, and impulses that act on both.

The corners x_c of a frame (rigid/solvers/verlet/frame.py) are given by its centre and the sides of the box around them:

    u_k = Σ_c s_ck x_c,  k = 0, 1, 2,   x_c = centre + Σ_k s_ck u_k / 4,   s_ck = ±1 the corners of CORNERS

The frame axes e follow from the two longest sides by Gram and Schmidt: e_0 along u_0, e_1 in the plane of u_0 and u_1,
e_2 = e_0 × e_1. A direction or point that is fixed in the body is a combination of the e_k with three constant numbers.
The longest sides come first because the sticks have errors of some micrometres. Along a rod of half a metre such an
error is no angle; across it, at a side of 0.03 m, it is an angle a hundred times larger.

A coordinate q of two frames is made of dot products, so it does not change when the world is shifted or rotated. Its
derivative is a force f on each frame and a torque t about the frame's centre, for the frame's rotation. With
G_ij = m_i·n_j, of the first frame's axes m and the second's n,

    t = Σ_ij ∂q/∂G_ij n_j × m_i on the second frame, -t on the first

An impulse λ moves the corners as those of a rigid body, with their moment of inertia in the present positions:

    x_c += λ (w f/4 + θ × r_c),   θ = w J⁻¹ t,   J = Σ_k (|u_k|² E - u_k u_kᵀ)/4,   r_c = x_c - centre

w is the inverse mass of one corner; all four have the same. Pinned corners have w = 0 and stay. Σ m Δx = 0 and
Σ m y × Δx = 0 over both frames to round-off, also for strained frames, where f, t, J and r are those of positions y.

If the frames are joined at a point P, such an impulse pulls them apart there, and the sticks of the joint would have to
close the gap, iteration by iteration. So a torque comes with the joint's reaction, the force f on the second frame and
-f on the first, both at P, which keeps P closed. With r = P - centre, K = w J⁻¹, and B the matrix of r × ...,

    A f = D t,   D = B_1 K_1 + B_2 K_2,   A = (w_1 + w_2)/4 E - B_1 K_1 B_1 - B_2 K_2 B_2
    θ_2 = K_2 (t + r_2 × f),   θ_1 = -K_1 (t + r_1 × f)

If the joint is open by a gap, from the first frame's P to the second's, an impulse at P that closes it changes q by
f·gap. Limits and right angles are projected to the q that is right when the joint has closed: q + f·gap takes the
place of q. In the metric of the masses this goes straight to a plane that holds every pose in which q is right and the
joint closed, and so comes nearer to all of these. Towards the plane of q alone it would go at a slant: limits and
contacts then opened a loaded joint farther with each iteration, and a pile threw a ragdoll up.

Departure: drives and gears go to the plane of q. A drive compares q with its value at the start of the step; if it took
a gap, which a load opens, for an angle, it would turn the joint in each step.

The gradient with respect to single corners would rotate the frames, too, but it would also shear them: a short side
that is pulled sideways is a hundred times lighter than the rod, and the sticks would undo 99 % of the change at once.
The two gradients differ by a combination of the sticks' gradients, so converged iterations end in the same place. A
direct solve (pbd/direct) takes the gradient with respect to single corners, together with the sticks.

Sources: Jakobsen, Advanced Character Physics (2001), section 6, for limits as bounds on dot products; Müller, Macklin,
Chentanez, Jeschke, Kim, Detailed Rigid Body Simulation with Extended Position Based Dynamics (2020), for impulses on
positions.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY


@ti.func
def sides(x, frame: ti.template()):
    """The sides u_0, u_1, u_2 of a frame (3,) each [m]. Args: x: corners, four of each frame; frame: its number."""
    a, b = x[4 * frame] + x[4 * frame + 1], x[4 * frame + 2] + x[4 * frame + 3]
    c, d = x[4 * frame] - x[4 * frame + 1], x[4 * frame + 2] - x[4 * frame + 3]
    return [a - b, c + d, c - d]


@ti.func
def centre(x, frame: ti.template()):
    """Mean of a frame's corners (3,) [m]."""
    return 0.25 * ((x[4 * frame] + x[4 * frame + 1]) + (x[4 * frame + 2] + x[4 * frame + 3]))


@ti.func
def frame_axes(x, frame: ti.template()):
    """The axes e_0, e_1, e_2 of a frame, right-handed unit vectors."""
    k = ti.static(4 * frame)
    u_0 = (x[k] + x[k + 1]) - (x[k + 2] + x[k + 3])
    u_1 = (x[k] - x[k + 1]) + (x[k + 2] - x[k + 3])
    across = u_0.cross(u_1)
    length, area = u_0.norm(), across.norm()
    over = 1.0 / (length * area + TINY)  # the only division: it costs as much as twenty multiplications
    e_0, e_2 = (over * area) * u_0, (over * length) * across
    return [e_0, e_2.cross(e_0), e_2]


@ti.func
def axes_of(x, frames: ti.template()):
    """The axes of several frames, see `frame_axes`. Args: frames: how many."""
    return [frame_axes(x, frame) for frame in ti.static(range(frames))]


@ti.func
def fixed_vector(e, p, first: ti.template()):
    """A vector that is fixed in a frame: the combination of its axes e with the three numbers from p[first] on."""
    return p[first] * e[0] + p[first + 1] * e[1] + p[first + 2] * e[2]


# A symmetric matrix is a list of its three columns. Taichi compiles this much faster than its own matrices.


@ti.func
def matrix_times(columns, v):
    """A symmetric matrix times a vector."""
    return v[0] * columns[0] + v[1] * columns[1] + v[2] * columns[2]


@ti.func
def solve_symmetric(columns, v):
    """The x of A x = v for a symmetric A whose determinant is not zero, by Cramer's rule."""
    bc, ca, ab = columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])
    return ti.Vector([bc.dot(v), ca.dot(v), ab.dot(v)]) / (columns[0].dot(bc) + TINY)


@ti.func
def inverse_inertia(u, w):
    """K = w J⁻¹ of four corners with inverse mass w about their centre, by cofactors. Args: u: sides."""
    trace = u[0].norm_sqr() + u[1].norm_sqr() + u[2].norm_sqr()
    a = ti.Vector([trace, 0.0, 0.0]) - u[0][0] * u[0] - u[1][0] * u[1] - u[2][0] * u[2]
    b = ti.Vector([0.0, trace, 0.0]) - u[0][1] * u[0] - u[1][1] * u[1] - u[2][1] * u[2]
    c = ti.Vector([0.0, 0.0, trace]) - u[0][2] * u[0] - u[1][2] * u[1] - u[2][2] * u[2]
    bc = b.cross(c)
    scale = 4.0 * w / (a.dot(bc) + TINY)
    return [scale * bc, scale * c.cross(a), scale * a.cross(b)]


@ti.func
def rotation_since(x, start, frame: ti.template()):
    """Rotation of a frame since the start of the step (3,) [rad], as the angular momentum has it: J⁻¹ Σ r × Δr.

    It is sin θ times the axis if the frame rotated by θ about a principal axis of its inertia.
    """
    u, v = sides(x, frame), sides(start, frame)
    turn = v[0].cross(u[0]) + v[1].cross(u[1]) + v[2].cross(u[2])
    return matrix_times(inverse_inertia(v, 0.25), turn)


@ti.func
def impulse_pose(x, start, frames: ti.template(), from_start: ti.template()):
    """The corners that give the direction of an impulse: at the start of the step, or as they are now.

    They are those of now if a side of any frame has rotated by more than 60° within the step. Then an impulse along the
    earlier direction would no longer rotate the frame as it should.
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
def corner_gradients(x, axes, gradient, frames: ti.template()):
    """The gradient of a coordinate with respect to single corners, for a direct solve with the frames' sticks.

    The axes rotate by e_0 × δu_0/|u_0| + e_0 (e_2·δu_1 - (u_1·e_0) e_2·δu_0/|u_0|)/(u_1·e_1).

    Args: x: corners; axes: of each frame, from `frame_axes`; gradient: f and t of each frame; frames: how many.
    """
    result = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(4 * frames))]
    for b in ti.static(range(frames)):
        u, e, force, torque = sides(x, b), axes[b], 0.25 * gradient[2 * b], gradient[2 * b + 1]
        of_u_1 = (torque.dot(e[0]) / (u[1].dot(e[1]) + TINY)) * e[2]
        of_u_0 = (torque.cross(e[0]) - u[1].dot(e[0]) * of_u_1) / (u[0].norm() + TINY)
        result[4 * b] = force + of_u_0 + of_u_1
        result[4 * b + 1] = force + of_u_0 - of_u_1
        result[4 * b + 2] = force - of_u_0 + of_u_1
        result[4 * b + 3] = force - of_u_0 - of_u_1
    return result


@ti.func
def free_response(y, w, gradient):
    """Displacements by a unit impulse on two frames without a common joint.

    Args: y: corners; w: inverse masses; gradient: f and t of each frame.

    Returns: shift of the centre and rotation θ of each frame.
    """
    turn_1 = matrix_times(inverse_inertia(sides(y, 0), w[0]), gradient[1])
    turn_2 = matrix_times(inverse_inertia(sides(y, 1), w[4]), gradient[3])
    return [(0.25 * w[0]) * gradient[0], turn_1, (0.25 * w[4]) * gradient[2], turn_2]


@ti.func
def point_compliance(K, r):
    """Columns of -B K B: displacement of the point at r by an impulse at r, by rotation alone."""
    return [
        -r.cross(r[2] * K[1] - r[1] * K[2]),
        -r.cross(r[0] * K[2] - r[2] * K[0]),
        -r.cross(r[1] * K[0] - r[0] * K[1]),
    ]


@ti.func
def joint_system(y, w, r_2):
    """K_1, K_2, r_1, r_2 and A of two frames that are joined at P. Args: r_2: P from the second centre (3,)."""
    K_1, K_2 = inverse_inertia(sides(y, 0), w[0]), inverse_inertia(sides(y, 1), w[4])
    r_1 = centre(y, 1) + r_2 - centre(y, 0)
    a, b, shift = point_compliance(K_1, r_1), point_compliance(K_2, r_2), 0.25 * (w[0] + w[4])
    A = [
        a[0] + b[0] + ti.Vector([shift, 0.0, 0.0]),
        a[1] + b[1] + ti.Vector([0.0, shift, 0.0]),
        a[2] + b[2] + ti.Vector([0.0, 0.0, shift]),
    ]
    return K_1, K_2, r_1, r_2, A


@ti.func
def jointed_response(joint, w, torque):
    """Displacements by a torque on the second frame and its opposite on the first, if both stay joined.

    Args: joint: from `joint_system`; w: inverse masses; torque (3,).

    Returns: shift of the centre and rotation θ of each frame.
    """
    K_1, K_2, r_1, r_2, A = joint
    force = solve_symmetric(A, r_1.cross(matrix_times(K_1, torque)) + r_2.cross(matrix_times(K_2, torque)))
    turn_1, turn_2 = matrix_times(K_1, torque + r_1.cross(force)), matrix_times(K_2, torque + r_2.cross(force))
    return [(-0.25 * w[0]) * force, -turn_1, (0.25 * w[4]) * force, turn_2]


@ti.func
def relative_compliance(joint):
    """The matrix from such a torque to the rotation of the second frame relative to the first."""
    K_1, K_2, r_1, r_2, A = joint
    forces = [solve_symmetric(A, r_1.cross(K_1[k]) + r_2.cross(K_2[k])) for k in ti.static(range(3))]
    return [
        K_1[k] + K_2[k] + matrix_times(K_1, r_1.cross(forces[k])) + matrix_times(K_2, r_2.cross(forces[k]))
        for k in ti.static(range(3))
    ]


@ti.func
def joint_gap(x, p, anchors: ti.template()):
    """How far the joint of two frames is open: P of the second from P of the first (3,) [m].

    Args: anchors: place in p of both anchors, from their frames' centres.
    """
    first, second = fixed_vector(frame_axes(x, 0), p, anchors), fixed_vector(frame_axes(x, 1), p, anchors + 3)
    return (centre(x, 1) + second) - (centre(x, 0) + first)


@ti.func
def closing_change(moves, w, gap):
    """Change of a coordinate by an impulse at P that closes the joint: f·gap, with the reaction f in `moves`.

    Args: moves: by a unit impulse on the coordinate, from `jointed_response`; w: inverse masses; gap (3,) [m].
    """
    return (moves[2] - moves[0]).dot(gap) / (0.25 * (w[0] + w[4]) + TINY)


@ti.func
def change_along(gradient, moves, frames: ti.template()):
    """Change of a coordinate by displacements of frames: Σ f·shift + t·θ. Args: frames: how many."""
    result = 0.0
    for k in ti.static(range(2 * frames)):
        result += gradient[k].dot(moves[k])
    return result


@ti.func
def move_corners(x, y, moves, amount, frames: ti.template()):
    """The corners x, displaced by amount (shift + θ × (y - centre of y))."""
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
def multiplier_change(error, weight):
    """Change of λ that removes an error; zero if nothing can move. Args: error; weight: Σ w ∇·∇ [1/kg]."""
    return ti.select(weight > TINY, -error / ti.max(weight, TINY), 0.0)


@ti.func
def project_equality(x, y, C, gradient, moves):
    """Corners of two frames, moved so that C = 0 to first order. Args: gradient: of C; moves: shifts and rotations."""
    return move_corners(x, y, moves, multiplier_change(C, change_along(gradient, moves, 2)), 2)
