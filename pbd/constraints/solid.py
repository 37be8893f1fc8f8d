"""Solid: a tetrahedron of stable neo-Hookean material, which comes back from inside out.

    F = Σ x_k a_kᵀ,   Σ a_k = 0        the deformation: its columns f_i are the material's axes, as they are now
    C_D = √V |F|,   C_H = √V √(λ/μ) (det F - γ),   γ = 1 + μ/λ,   (C_D² + C_H²)/2α,   α = 1/μ

which is V times the energy μ |F|²/2 + λ (det F - γ)²/2, where V is the volume at rest. It is at rest with F = 1, and
small strains have Lamé's constants μ and λ - μ. Both rows push at rest, against each other: pbd/implicit finds their
multipliers from positions, in each iteration, so the material is as stiff as it says however few iterations there are.

    ∇_k |F| = F a_k/|F|,   ∇_k det F = (cof F) a_k,   cof F = (f_1 × f_2, f_2 × f_0, f_0 × f_1)

What the multipliers add to the stiffness (`tension`) is the rest of the energy's second derivative: of C_D it is
positive, of C_H it is λ (det F - γ) V (F (a_k × a_l))×. That is limited to μ over the greatest stretch, which is exact
where nothing pulls at the sides, and keeps the matrix positive: the greatest eigenvalue of (·)× is that stretch.

Sources: Smith, de Goes, Kim, Stable Neo-Hookean Flesh Simulation (2018), https://doi.org/10.1145/3180491, without the
logarithm; the rows are those of Macklin and Müller, A Constraint-based Formulation of Stable Neo-Hookean Materials
(2021), https://doi.org/10.1145/3487983.3488289. Departure: a point, F = 0, is at rest with this energy. So where
|F| < CRUSHED, which takes a compression of all three axes to half their lengths, |F| in C_D falls PUSH times as fast,
below zero, and the element pushes outwards.

Parameters: a_1, a_2, a_3 [1/m]; √V [m^3/2]; √(λ/μ).

SOLID_FRICTION is the material's own friction (Kelvin and Voigt's solid): rows C whose sum of squares is
V (2 μ E:E + (λ - μ) (tr E)²)/μ, with Green's strain E, and the force -τ/α dC/dt along their gradients. Rigid motions do
not change E, so friction leaves them alone. Implicit Euler damps like τ = h by itself, so it damps more only if τ > h.
"""

import math

import taichi as ti

from pbd.constraints.constraint_type import SWINGS, TINY, ConstraintType

PARAMETERS = (*(f"{axis}_{k}" for k in (1, 2, 3) for axis in "xyz"), "root_volume", "root_ratio")

LEAST_VOLUME = 0.1  # det F below which directions at the start of the substep say nothing

ROOT_2 = math.sqrt(2.0)

CRUSHED, PUSH = 0.9, 3.0  # of a |F| that is √3 at rest


@ti.func
def deformation(x, parameters):
    """The columns f_0, f_1, f_2 of F, (3,) each."""
    u, v, w = x[1] - x[0], x[2] - x[0], x[3] - x[0]
    return [parameters[i] * u + parameters[3 + i] * v + parameters[6 + i] * w for i in ti.static(range(3))]


@ti.func
def material_gradients(parameters):
    """a_0, a_1, a_2, a_3, a list of three numbers each."""
    first = [-(parameters[i] + parameters[3 + i] + parameters[6 + i]) for i in ti.static(range(3))]
    return [
        first if ti.static(k == 0) else [parameters[3 * (k - 1) + i] for i in ti.static(range(3))]
        for k in ti.static(range(4))
    ]


@ti.func
def times(columns, a):
    """A matrix, by its columns, times a."""
    return a[0] * columns[0] + a[1] * columns[1] + a[2] * columns[2]


@ti.func
def cofactors(f):
    """The columns of cof F."""
    return [f[1].cross(f[2]), f[2].cross(f[0]), f[0].cross(f[1])]


@ti.func
def size_of(f):
    """|F|."""
    return ti.sqrt(f[0].norm_sqr() + f[1].norm_sqr() + f[2].norm_sqr())


@ti.func
def rows(f, parameters):
    """C_D and C_H [m^3/2]."""
    size, ratio = size_of(f), parameters[10]
    if size < CRUSHED:
        size = CRUSHED - PUSH * (CRUSHED - size)
    determinant = f[0].dot(f[1].cross(f[2]))
    return [parameters[9] * size, parameters[9] * ratio * (determinant - 1.0 - 1.0 / (ratio * ratio))]


@ti.func
def value(x, parameters):
    """C_D and C_H."""
    return rows(deformation(x, parameters), parameters)


@ti.func
def derivatives(x, parameters):
    """C, and the gradients of its rows. A point grows along the axes of the world."""
    f, a = deformation(x, parameters), material_gradients(parameters)
    c, size = cofactors(f), size_of(f)
    along = [f[i] / ti.max(size, TINY) for i in ti.static(range(3))]
    if size <= TINY:
        for i in ti.static(range(3)):
            along[i] = ti.Vector([ti.sqrt(1.0 / 3.0) if ti.static(k == i) else 0.0 for k in ti.static(range(3))])
    of_size, of_volume = parameters[9], parameters[9] * parameters[10]
    gradients = [
        [of_size * times(along, a[k]) for k in ti.static(range(4))],
        [of_volume * times(c, a[k]) for k in ti.static(range(4))],
    ]
    return rows(f, parameters), gradients


@ti.func
def turned_back(x, start, w, parameters, multipliers):
    """The gradients at x, turned by F_0 F⁻¹: then forces are F_0 S a_k V with Piola's second stress S of F.

    Σ x_k × force_k at the start is the antisymmetric part of F_0 S F_0ᵀ, which is zero. Where F or F_0 is crushed, the
    element has turned by more than 60°, or its stress swings particles too fast for that, they are those at x.
    """
    f, first, a = deformation(x, parameters), deformation(start, parameters), material_gradients(parameters)
    c, size = cofactors(f), size_of(f)
    determinant, before = f[0].dot(c[0]), first[0].dot(first[1].cross(first[2]))
    along = first[0].dot(f[0]) + first[1].dot(f[1]) + first[2].dot(f[2])
    # V h² |P|, of what holds a particle like a spring of V |P| a_k².
    stress, fastest = 0.0, 0.0
    for i in ti.static(range(3)):
        first_part = parameters[9] * multipliers[0] / ti.max(size, TINY) * f[i]
        stress += (first_part + parameters[9] * parameters[10] * multipliers[1] * c[i]).norm_sqr()
    for k in ti.static(range(4)):
        fastest = ti.max(fastest, w[k] * (a[k][0] * a[k][0] + a[k][1] * a[k][1] + a[k][2] * a[k][2]))
    fastest *= ti.sqrt(stress)
    columns = [f[i] for i in ti.static(range(3))]
    others = [c[i] for i in ti.static(range(3))]
    if ti.min(determinant, before) > LEAST_VOLUME and along > 0.5 * size * size_of(first) and fastest < SWINGS:
        # cof F = det F F⁻ᵀ, so F_0 F⁻¹ cof F = F_0 (cof F)ᵀ (cof F)/det F.
        for i in ti.static(range(3)):
            columns[i] = first[i]
            others[i] = times(first, [c[j].dot(c[i]) / determinant for j in ti.static(range(3))])
    of_size, of_volume = parameters[9] / ti.max(size, TINY), parameters[9] * parameters[10]
    return [
        [of_size * times(columns, a[k]) for k in ti.static(range(4))],
        [of_volume * times(others, a[k]) for k in ti.static(range(4))],
    ]


@ti.func
def tension(x, parameters, multipliers, stiffness):
    """What the multipliers add to the blocks of all pairs of members b <= a, nine numbers each.

    Args: stiffness: 1/α'.
    """
    f, a = deformation(x, parameters), material_gradients(parameters)
    size, volume = size_of(f), parameters[9] * parameters[9]
    of_size = stiffness * volume
    along = [f[i] / ti.max(size, TINY) for i in ti.static(range(3))]
    radial = of_size  # what the gradients of C_D have in the matrix without this
    if size < CRUSHED:
        of_size *= PUSH
    # The greatest stretch σ: σ² <= t + √(2/3) |FᵀF - t 1|, t = tr FᵀF/3, with equality for a bar that is pulled.
    third = size * size / 3.0
    squares = 2.0 * (f[0].dot(f[1]) ** 2 + f[0].dot(f[2]) ** 2 + f[1].dot(f[2]) ** 2)
    for i in ti.static(range(3)):
        squares += (f[i].norm_sqr() - third) ** 2
    stretch = ti.sqrt(third + ti.sqrt(2.0 / 3.0 * squares))
    most = stiffness * volume / ti.max(stretch, 1e-6)
    of_volume = ti.min(ti.max(parameters[9] * parameters[10] * multipliers[1], -most), most)
    return [
        block(f, along, a[k], a[j], of_size, radial, of_volume)
        for k in ti.static(range(4))
        for j in ti.static(range(k + 1))
    ]


@ti.func
def block(f, along, a, b, of_size, radial, of_volume):
    """The block of members with the gradients a and b, see `tension`."""
    dot = of_size * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
    u, v = times(along, a), times(along, b)
    # (cof F) a changes with f = x bᵀ by (F (b × a)) × x.
    w = -of_volume * times(f, [b[1] * a[2] - b[2] * a[1], b[2] * a[0] - b[0] * a[2], b[0] * a[1] - b[1] * a[0]])
    return ti.Vector(
        [
            dot - radial * u[0] * v[0], -w[2] - radial * u[0] * v[1], w[1] - radial * u[0] * v[2],
            w[2] - radial * u[1] * v[0], dot - radial * u[1] * v[1], -w[0] - radial * u[1] * v[2],
            -w[1] - radial * u[2] * v[0], w[0] - radial * u[2] * v[1], dot - radial * u[2] * v[2],
        ]
    )  # fmt: skip


@ti.func
def energy(x, parameters, compliance):
    """The energy over that at rest [J].

    V (μ (|F|² + J² - 4 J) + (λ - μ)(J - 1)²)/2 with J = det F is the same but for a constant. In Green's strain E its
    first bracket is 2 (J - 1)² - 4 II - 8 III, II = ((tr E)² - tr E²)/2, III = det E: no large numbers cancel.
    """
    f, ratio = deformation(x, parameters), parameters[10]
    xx, yy, zz = green(f, 0, 0), green(f, 1, 1), green(f, 2, 2)
    xy, xz, yz = green(f, 0, 1), green(f, 0, 2), green(f, 1, 2)
    second = xx * yy + xx * zz + yy * zz - xy * xy - xz * xz - yz * yz
    third = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    square = 2.0 * (xx + yy + zz) + 4.0 * second + 8.0 * third  # J² - 1
    change = f[0].dot(f[1].cross(f[2])) - 1.0
    if change > -0.5:
        change = square / (ti.sqrt(1.0 + square) + 1.0)
    crushed = ti.max(CRUSHED - size_of(f), 0.0)
    shape = 2.0 * change * change - 4.0 * second - 8.0 * third + (PUSH - 1.0) * crushed * crushed
    return parameters[9] * parameters[9] * (shape + (ratio * ratio - 1.0) * change * change) / (2.0 * compliance)


@ti.func
def green(f, i: ti.template(), j: ti.template()):
    """Green's strain E_ij = (f_i·f_j - δ_ij)/2."""
    return 0.5 * (f[i].dot(f[j]) - (1.0 if ti.static(i == j) else 0.0))


COMPLIANT = ConstraintType(
    "solid (compliant)", 4, PARAMETERS, None, value, compliance=True, multipliers=2, derivatives=derivatives,
    turned_back=turned_back, tension=tension, energy=energy, deformation=deformation,
)  # fmt: skip
SOLID = ConstraintType("solid", 4, PARAMETERS, None, value, multipliers=2, compliant=COMPLIANT)


@ti.func
def friction_rows(x, parameters):
    """√2 E_xx, √2 E_yy, √2 E_zz, 2 E_xy, 2 E_xz, 2 E_yz and √((λ - μ)/μ) tr E, times √V."""
    f, size = deformation(x, parameters), parameters[9]
    xx, yy, zz = green(f, 0, 0), green(f, 1, 1), green(f, 2, 2)
    once, twice = ROOT_2 * size, 2.0 * size
    trace = size * ti.sqrt(ti.max(parameters[10] * parameters[10] - 1.0, 0.0))
    return [
        once * xx, once * yy, once * zz, twice * green(f, 0, 1), twice * green(f, 0, 2), twice * green(f, 1, 2),
        trace * (xx + yy + zz),
    ]  # fmt: skip


@ti.func
def friction_derivatives(x, parameters):
    """The rows and their gradients: ∇_k E_ij = (a_ki f_j + a_kj f_i)/2."""
    f, a, size = deformation(x, parameters), material_gradients(parameters), parameters[9]
    trace = size * ti.sqrt(ti.max(parameters[10] * parameters[10] - 1.0, 0.0))
    gradients = [
        [(ROOT_2 * size * a[k][0]) * f[0] for k in ti.static(range(4))],
        [(ROOT_2 * size * a[k][1]) * f[1] for k in ti.static(range(4))],
        [(ROOT_2 * size * a[k][2]) * f[2] for k in ti.static(range(4))],
        [size * (a[k][0] * f[1] + a[k][1] * f[0]) for k in ti.static(range(4))],
        [size * (a[k][0] * f[2] + a[k][2] * f[0]) for k in ti.static(range(4))],
        [size * (a[k][1] * f[2] + a[k][2] * f[1]) for k in ti.static(range(4))],
        [trace * times(f, a[k]) for k in ti.static(range(4))],
    ]
    return friction_rows(x, parameters), gradients


@ti.func
def no_energy(x, parameters, compliance):
    """Friction stores none."""
    return 0.0


FRICTION_COMPLIANT = ConstraintType(
    "solid friction (compliant)", 4, (*PARAMETERS, "damping"), None, friction_rows, compliance=True, multipliers=7,
    derivatives=friction_derivatives, energy=no_energy, damped=True, viscous=True, deformation=deformation,
)  # fmt: skip
SOLID_FRICTION = ConstraintType(
    "solid friction", 4, FRICTION_COMPLIANT.parameters, None, friction_rows, multipliers=7, compliant=FRICTION_COMPLIANT
)
