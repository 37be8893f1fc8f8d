"""Arrays of a particle system, declared once (pbd/core/kernels/arrays.py). A new array is one line here.

Most arrays have the axes (item, world): W copies of a description stand side by side, with the world innermost, so that
graphics cards read neighbouring addresses together. One world is the ordinary case.
"""

from typing import Any, NamedTuple

from pbd.core.kernels import Columns, Host, Integer, Real, Vector, count
from pbd.core.shapes import INTEGERS, NUMBERS

# Candidates for contact that are kept for one particle. Twelve equal spheres touch one at most. A sphere half as large
# again holds some forty, and the search radius of a fine cloth with a large thickness covers more. A particle with more
# candidates is an error.
MOST_NEIGHBOURS = 64

# How many particles a group has in the search for contacts between particles.
CONTACT_GROUP = 256

# Columns of `Data.inputs`, which has one row for each instant. Behind these come, for each collider its POSE, for each
# kinematic particle its position (3), for each grab spring GRAB (pbd/grabs.py).
INPUT = Columns(gravity=3, wind=3)
POSE = Columns(position=3, rotation=4)

# Columns of a box.
BOX = Columns(lower=3, upper=3, friction=1, restitution=1)

# Columns of `ElementArrays`: the particles of an element, of which the first `count` are in use, and whether its point
# is fixed; the weights of a fixed point, and the distance that the element keeps from colliders [m].
ELEMENT = Columns(members=4, count=1, fixed=1)
ELEMENT_NUMBER = Columns(weights=4, radius=1, precision=1)

# Columns of `SurfaceArrays`: corners of a triangle or a segment, the features that it owns as bits, which surface it
# belongs to, and whether that touches itself; half its thickness [m] and its friction μ. Of a candidate the particles,
# and whether it is two edges; the distance that it keeps [m], its friction, and how far it was apart when it was found
# [m].
SURFACE = Columns(members=3, owned=1, surface=1, self_contact=1, neighbours=1, torn=1)
SURFACE_NUMBER = Columns(radius=1, friction=1)
CANDIDATE = Columns(members=4, is_edge=1)
CANDIDATE_NUMBER = Columns(distance=1, friction=1, apart=1, impulse=1)

# Columns of `Constraints.ranges`: where a constraint type begins in `members`, `parameters` and `multipliers`, and how
# many constraints it has; if bands are in lanes, where it begins in `BandArrays.present`, and how many of its places
# all bands have; where it begins in `coupled`.
RANGE = Columns(members=1, parameters=1, multipliers=1, count=1, present=1, full=1, coupled=1)

# Columns of `DirectArrays.ranges`: begin and end of a constraint type's rows, where their gradients begin, and begin
# and end of its implied constraints.
DIRECT_RANGE = Columns(begin=1, end=1, entries=1, implied_begin=1, implied_end=1)

# Columns of `ImplicitArrays.gas_numbers`, see pbd/description/gases.py.
GAS = Columns(constant=1, energy=1, ambient=1, volume=1)

# Columns of `Data.report`, which has one row for each world. From `diverged_substep` on, -1 means none.
REPORT = Columns(
    violation=1,  # largest violation of a constraint, in the constraint's unit
    iterations=1,  # of the last substep
    imbalance=1,  # largest force on a particle that the last iteration of elements together began with [N]
    contacts=1,  # particles, points and pairs of features that a contact held off
    elastic_energy=1,  # [J]
    kinetic_energy=1,  # at the middle of the last substep of a launch [J]
    potential_energy=1,  # of gravity, then [J]
    last_turns=1,  # turns of the last loops of threads, see pbd/core/kernels/launch_length.py
    substeps_to_search=1,  # until a step ends, with this one; not above 0 if a search for contacts is due
    search_ahead=1,  # for how many substeps the last search looked ahead
    surface_pairs=1,  # the most pairs that a search found on surfaces
    diverged_substep=1,  # in which a position stopped being finite
    neighbour_overflow=1,  # how many candidates for contact a particle has, where there are too many
    contact_overflow=1,  # how many contacts the step hooks found, where there are too many
    pressed_particle=1,  # one that has no room between two colliders
    loaded_particle=1,  # one of the direct solve on a body, which bears a load but is not solved with it
    held_particle=1,  # one of a surface whose motion was cut back, so that momentum was lost
    crossing_particle=1,  # one of a surface whose crossing could not be prevented
    thrown_particle=1,  # one that was in a collider at the start of a launch, and left it fast
)


class ParticleArrays(NamedTuple):
    """State and properties of particles."""

    position: Vector(4, count.particles, count.worlds, kept=True)  # x, y, z [m]; inverse mass w [1/kg], 0 if pinned
    previous_position: Vector(3, count.particles, count.worlds, kept=True)  # Jakobsen's x*, one substep ago [m]
    predicted_position: Vector(3, count.particles, count.worlds)  # after Verlet, before constraints [m]
    force: Vector(3, count.particles, count.worlds, kept=True)  # forces that the user sets [N]
    radius: Real(count.particles, count.worlds)  # [m]; negative for particles without contacts
    kinematic: Integer(count.kinematic)  # indices of particles that follow a path


class ConstraintArrays(NamedTuple):
    """Constraints of all types, type after type, and the order in which they are projected."""

    members: Integer(count.members)  # particles of each constraint
    parameters: Real(count.parameters, count.worlds)  # numbers of each constraint, and its compliance
    multipliers: Real(count.multipliers, count.worlds)  # λ of compliant constraints and of grab springs
    coupled: Integer(count.coupled)  # others of their type, to whose λ constraints are coupled
    moments: Real(count.moments, count.worlds)  # λ/h² of coupled constraints at rest, from which their energy follows
    state: Integer(count.states)  # places of parameters that projections change, see ConstraintType.state_size
    kept_state: Real(count.states, count.worlds)  # these parameters at the start of a part, see pbd/direct/adaptive.py
    ranges: Integer(count.types, RANGE)
    runs: Integer(count.clusters, count.types, 2)  # begin and end of each cluster's constraints of each type
    first_cluster: Integer(count.colours)  # of each colour; the last entry is the number of clusters


class BandArrays(NamedTuple):
    """Bands of each world in the lanes of vectors, see pbd/execution/bands.py."""

    place: Integer(count.all_particles)  # of each particle in arrays: slot · lanes + lane
    members: Integer(count.all_members)  # particles of each constraint, as they are without bands in lanes
    halo: Integer(count.halo)  # slots of the next band that seams reach
    present: Real(count.partial, count.worlds)  # one for a constraint, zero in the lanes that have none at its place


class StrandArrays(NamedTuple):
    """Particles on paths of strands that kernels see as worlds, see pbd/execution/strands.py."""

    moving: Integer(count.moving)  # particles of a strand that are on paths
    path: Integer(count.moving, count.worlds)  # their places among all particles on paths


class DirectArrays(NamedTuple):
    """Rows that are solved directly, and the factor L D Lᵀ of their matrix: see pbd/direct."""

    ranges: Integer(count.types, DIRECT_RANGE)
    constraint: Integer(count.direct_rows)  # of each row, its number in the schedule
    extent: Real(count.extents)  # of a constraint, the median of all [m]
    implied: Integer(count.implied)  # numbers of constraints that the rows imply, see pbd/direct/adaptive.py
    implied_size: Real(count.implied)  # as `size`
    place: Integer(count.direct_rows)  # of each row in the order of elimination
    gradient: Vector(3, count.direct_entries, count.worlds)  # ∇C for each member of a row
    weighted: Vector(3, count.direct_entries, count.worlds)  # w ∇C
    inverse_product: Real(count.direct_rows, count.worlds)  # 1/(∇C·W∇C), zero if it has no direction
    compliance: Real(count.direct_rows, count.worlds)  # α/h²
    softness: Real(count.direct_rows)  # what the diagonal of A is larger by, in parts of it
    row_at: Integer(count.direct_rows)  # the row in each place of the order of elimination
    columns: Integer(count.extents)  # how many rows are eliminated as columns; the others are inequalities
    products: Integer(count.products, 2)  # of each entry of L, the entries of gradients whose products A has there
    updates: Integer(count.updates, 2)  # of each entry of L, the entries of L and L D whose products are subtracted
    sums: Integer(count.nonzero_ends, 2)  # where products and updates of each entry begin
    first: Integer(count.direct_ends)  # where each column of L begins, or the row of an inequality: with the diagonal
    inverse_size: Real(count.direct_rows)  # of each row, one over the size by which violations are measured
    partner: Integer(count.nonzeros)  # row of each entry of L, or its column if it stands in the row of an inequality
    lower: Real(count.nonzeros, count.worlds)  # L; in place of its diagonal 1/D
    scaled: Real(count.nonzeros, count.worlds)  # L D
    active: Real(count.direct_rows, count.worlds, kept=True)  # of an inequality, see pbd/direct/one_row.py
    kept_active: Real(count.direct_rows, count.worlds)  # at the start of the part
    factored: Real(count.worlds)  # whether the factor was made in this substep, see pbd/direct/solve.py
    factorings: Real(count.worlds)  # how often A was factored in this substep
    halvings: Real(count.worlds, kept=True)  # a substep has 2^halvings parts: see pbd/direct/adaptive.py
    vibration: Vector(3, count.direct_particles, count.worlds, kept=True)  # shape of the fastest one [kg^-1/2]
    inputs: Real(2, count.moving_columns, count.worlds)  # at the start and the end of a part, if anything moves
    kept_position: Vector(3, count.direct_particles, count.worlds)  # at the start of the part [m]
    kept_previous: Vector(3, count.direct_particles, count.worlds)  # x* then [m]
    displacement: Vector(3, count.direct_particles, count.worlds)  # by all parts so far, see add_displacements [m]
    unknown: Real(count.direct_rows, count.worlds)  # right side, then λ'
    multiplier: Real(count.direct_rows, count.worlds)  # λ of this substep
    moved: Vector(3, count.direct_particles, count.worlds)  # u, displacement in this substep by the solve [m]
    outside: Vector(3, count.direct_particles, count.worlds)  # impulses from outside in this substep [kg m]
    is_node: Integer(count.direct_particles)  # whether a particle has one or two rows, as the nodes of a rope
    stiffness: Real(count.direct_particles, count.worlds)  # of the tension at a particle [kg]
    momentum_residual: Vector(3, count.direct_particles, count.worlds)  # r, see pbd/direct/tension.py [kg m]
    mobility: Vector(3, 2, count.direct_particles, count.worlds)  # W: xx, yy, zz and xy, xz, yz [1/kg]


class Touches(NamedTuple):
    """Contacts that a substep passes on to the next one, two a particle."""

    surface: Real(2, count.touch_particles, count.worlds)  # number of a collider, a wall or a shape, or NO_SURFACE
    normal: Vector(3, 2, count.touch_particles, count.worlds)  # for which the factor was made, zero without a contact
    friction: Real(2, count.touch_particles, count.worlds)  # μ
    contact: Real(count.touch_particles, count.worlds)  # whether the particle has one, see pbd/direct/contacts.py
    resistance: Real(2, count.touch_particles, count.worlds)  # c, of friction against slip [kg]
    load: Real(2, count.touch_particles, count.worlds)  # the largest friction, μ n·R [kg m]


class TouchArrays(NamedTuple):
    """Contacts of directly solved particles with what is fixed: see pbd/direct/contacts.py."""

    particles: Integer(count.touching)  # that may touch something
    is_direct: Integer(count.touch_particles)  # whether a particle is one of them
    now: Touches
    kept: Touches  # at the start of a part
    drift: Vector(3, 2, count.touch_particles, count.worlds)  # displacement of a contact's surface in the substep [m]
    force: Vector(3, 2, count.touch_particles, count.worlds)  # F, friction [kg m, as all multipliers]
    balance: Vector(3, count.touch_particles, count.worlds)  # R [kg m]
    needs_factor: Real(count.worlds)  # whether A is to be factored anew
    has_contacts: Real(count.worlds)  # whether a particle has had a contact in this substep


class ColliderArrays(NamedTuple):
    """Shapes that particles stay out of, and boxes that they stay inside of."""

    numbers: Real(count.colliders, NUMBERS)  # see pbd/core/shapes
    integers: Integer(count.colliders, INTEGERS)
    samples: Real(count.samples)  # of all signed distance grids
    friction: Real(count.colliders)
    restitution: Real(count.colliders)
    boxes: Real(count.boxes, BOX)


class ElementArrays(NamedTuple):
    """Points, sticks, triangles and tetrahedra that stay out of colliders as a whole."""

    integers: Integer(count.elements, ELEMENT)
    numbers: Real(count.elements, ELEMENT_NUMBER)


class GravityArrays(NamedTuple):
    """Scale of gravity for each particle."""

    scale: Real(count.particles, count.worlds)


class WindArrays(NamedTuple):
    """Triangles on which the wind acts, and for each particle its adjacent triangles."""

    force: Vector(3, count.particles, count.worlds)  # [N]
    corner_force: Vector(3, count.triangles, count.worlds)  # of each triangle on each of its corners [N]
    triangles: Integer(count.triangles, 3)  # particles at the corners
    drag_coefficient: Real(count.triangles, count.worlds)  # half the air density times the drag coefficient [kg/m³]
    first_adjacent: Integer(count.particle_ends)  # where a particle begins in `adjacent_triangles`
    adjacent_triangles: Integer(count.corners)


class ContactArrays(NamedTuple):
    """Contacts between particles: the spatial hash, candidates and corrections."""

    rest_position: Vector(3, count.contact_particles, count.worlds)  # of the description [m]
    first_in_bucket: Integer(count.bucket_ends, count.worlds)  # where a bucket begins in `sorted_particles`
    sorted_particles: Integer(count.contact_particles, count.worlds)  # by bucket
    half_way: Vector(3, count.contact_particles, count.worlds)  # positions half way to the next search [m]
    low: Vector(3, count.contact_groups, count.worlds)  # bounds of what a group of particles has moved by [m]
    high: Vector(3, count.contact_groups, count.worlds)
    sorted_position: Vector(3, count.contact_particles, count.worlds)  # the same, by bucket [m]
    first_stick: Integer(count.contact_ends)  # where a particle begins in `sticks`
    sticks: Integer(count.stick_ends)  # of each particle, where its rigid sticks and edges of fabric have their members
    neighbours: Integer(count.contact_particles, MOST_NEIGHBOURS + 2, count.worlds)  # candidates, and spare places
    neighbour_count: Integer(count.contact_particles, count.worlds)
    correction: Vector(3, count.contact_particles, count.worlds)  # sum of a particle's corrections [m]


class PairArrays(NamedTuple):
    """Pairs of features of surfaces that could touch: candidates."""

    members: Integer(count.candidates, CANDIDATE, count.worlds)
    numbers: Real(count.candidates, CANDIDATE_NUMBER, count.worlds)
    normal: Vector(3, count.candidates, count.worlds)  # along which a candidate was last apart
    friction: Vector(3, count.candidates, count.worlds)  # impulse of friction in this substep, times h [kg m]
    active: Integer(count.candidates, count.worlds)  # candidates that may touch in this substep


class SurfaceArrays(NamedTuple):
    """Triangles and segments that touch one another: see pbd/collision/surfaces."""

    elements: Integer(count.elements_of_surfaces, SURFACE)  # along a curve through space
    numbers: Real(count.elements_of_surfaces, SURFACE_NUMBER)
    nodes: Integer(count.nodes, 2)  # of the tree: element of a leaf or -1, first node not below this one
    particles: Integer(count.particles_on_surfaces)  # that are corners
    rings: Integer(count.rings)  # where each particle's list begins, then the particles that edges join to each
    radius: Real(count.surface_particles)  # half the least thickness around a particle [m]
    rest_position: Vector(3, count.surface_particles, count.worlds)  # of the description [m]
    lower: Vector(3, count.nodes, count.worlds)  # of a node's box [m]
    upper: Vector(3, count.nodes, count.worlds)
    start: Vector(3, count.surface_particles, count.worlds)  # of a particle's region [m]
    way: Vector(3, count.surface_particles, count.worlds)  # from there to its end [m]
    slack: Real(count.surface_particles, count.worlds)  # around it [m]
    moved: Real(count.surface_particles, count.worlds)  # how far it is from there, but for the motion of all [m]
    length: Real(count.surface_particles)  # shortest edge at a particle in the description [m]
    found: Integer(2, count.worlds)  # how many candidates there are, and how many of these are active
    pairs: PairArrays
    halvings: Integer(count.surface_particles, count.worlds)  # of a particle's motion in this substep
    is_unsafe: Integer(count.surface_particles, count.worlds)  # whether it is to be halved
    bodies: Integer(count.worlds)  # 0, or 1 and a particle of an element that a body may have passed


class ImplicitArrays(NamedTuple):
    """Elements that are solved together, and the blocks of their matrix and its factor: see pbd/implicit."""

    node: Integer(count.implicit)  # particles in the order of elimination
    place: Integer(count.implicit_particles)  # of each particle in this order
    first: Integer(count.implicit_ends)  # where each column of the factor begins
    row: Integer(count.implicit_entries)  # of each of its blocks
    begins: Integer(count.implicit_types)  # where each type begins in `targets`
    targets: Integer(count.implicit_pairs)  # of each pair of an element's members, twice the block, odd if transposed
    updates: Integer(count.implicit_updates, 2)  # blocks of L and L D whose products are subtracted
    ends: Integer(count.implicit_entry_ends)  # where those of each block begin
    scaled: Vector(9, count.implicit_entries, count.worlds)  # A, and where it is factored then L D
    lower: Vector(9, count.implicit_entries, count.worlds)  # L; in place of its diagonal the inverse of D
    unknown: Vector(3, count.implicit, count.worlds)  # the right side, then the displacement [m]
    residual: Vector(3, count.implicit_conjugate, count.worlds)  # of conjugate gradients
    search: Vector(3, count.implicit_conjugate, count.worlds)  # their direction [m]
    product: Vector(3, count.implicit_conjugate, count.worlds)  # of the matrix with it
    solution: Vector(3, count.implicit_conjugate, count.worlds)  # the displacement so far [m]
    aim: Vector(3, count.implicit, count.worlds)  # predicted positions, and what other constraints have moved [m]
    left: Vector(3, count.implicit, count.worlds)  # where the last iteration left particles [m]
    earlier: Vector(3, count.symmetric, count.worlds)  # where particles were a substep before its start [m]
    kept: Real(count.worlds)  # one if the matrix is good enough for the next substep
    stored: Real(count.worlds)  # what elements stored at the substep's start, times h² [kg m²]
    longest: Real(count.worlds)  # the longest that the last iteration has moved a particle [m]
    body: Integer(count.solid)  # of solids, to which each belongs
    shape: Vector(3, count.solid)  # of their bodies at rest [m]
    weight: Real(count.solid)  # masses of the first world [kg]; of pinned ones a hundred times the largest
    bodies: Vector(2, count.solid_bodies, count.worlds)  # elements of each body, and how many are inside out
    tangled: Real(count.solid_bodies, count.worlds)  # see pbd/implicit/recovery.py
    gas_first: Integer(count.gas_ends)  # where the triangles of each gas begin
    gas_corners: Integer(count.gas_triangles, 3)  # their particles
    gas_numbers: Real(count.gases, GAS.total, count.worlds)
    without_gas: Vector(3, count.gas_nodes, count.worlds)  # displacements without the stiffness of gases [m]
    hold: Real(count.held, count.worlds)  # how a collider holds each particle, see pbd/implicit/contacts.py
    surface: Real(count.held, count.worlds)  # which collider does: a number that lanes may differ in
    normal: Vector(3, count.held, count.worlds)  # of its surface
    anchor: Vector(3, count.held, count.worlds)  # the substep's start, moved with it [m]
    friction: Vector(3, count.held, count.worlds)  # in mass times displacement [kg m]
    restarts: Real(count.worlds)  # one if iterations begin anew
    fresh: Real(count.held, count.worlds)  # for how many iterations it is not let go yet
    stiffness: Real(count.held, count.worlds)  # a third of the trace of its block of the matrix [kg]
    held: Real(count.held, count.worlds)  # `hold` and `normal` for which the matrix was made
    held_normal: Vector(3, count.held, count.worlds)
    extent: Real(count.implicit_extents, count.worlds)  # of an element, the median of all [m]


class Counts(NamedTuple):
    """Numbers of items. Shapes of arrays do not say it, because a Taichi array cannot be empty."""

    particles: int  # or slots of a band
    worlds: int  # or groups of lanes
    multipliers: int
    colliders: int
    boxes: int
    kinematic: int
    triangles: int
    elements: int
    direct_rows: int
    touching: int  # particles of the direct solve that may touch something
    halo: int  # of each band
    implicit: int = 0  # particles of elements that are solved together
    gases: int = 0


class Settings(NamedTuple):
    """Numbers that the user may change between steps."""

    h: float  # length of a substep [s]
    velocity_kept: float  # 1 - d, the part of the velocity that a substep keeps
    tolerance: float  # violation below which iterations stop
    search_radius: float  # largest contact distance of two particles, and half as much again [m]
    contact_friction: float  # μ between particles
    contact_interval: int  # substeps from one time at which a search for contacts may be due to the next
    bending_interval: int  # substeps from one projection of compliant bending to the next
    substeps: int  # of a step


class Data(NamedTuple):
    """Everything that a function of a kernel reads and writes."""

    features: Any  # Features, see pbd/features.py
    particles: ParticleArrays
    constraints: ConstraintArrays
    bands: BandArrays
    strands: StrandArrays
    direct: DirectArrays
    touch: TouchArrays
    implicit: ImplicitArrays
    colliders: ColliderArrays
    elements: ElementArrays
    gravity: GravityArrays
    wind: WindArrays
    contacts: ContactArrays
    surface: SurfaceArrays
    hooked: Any  # the arrays of step hooks, or None
    inputs: Host(2)  # (instants, columns): the environment, the same row for all substeps if nothing moves
    report: Host(2, of_worlds=True)  # (worlds, REPORT)
    counts: Counts
    settings: Settings
