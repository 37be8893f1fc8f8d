"""What the kernels of a particle system are compiled for. A new feature is a new field here, set by `features_of`."""

from typing import Any, NamedTuple

from pbd.core.kernels import LOOP_STRIDE, on_cpu
from pbd.data import BOX
from pbd.description.contact_elements import all_elements


class Features(NamedTuple):
    """Features of a system: its kernels are compiled for them, without what is not used."""

    types: tuple  # ConstraintType
    iterated: tuple  # types of which constraints are projected one by one, as indices into `types`
    from_start: bool  # project along the gradients at the start of the step
    has_tolerance: bool  # iterations end at one, which needs the violation of each constraint
    colours: int  # of clusters
    shared: bool  # threads share the items of a phase; otherwise one thread runs each world (pbd/execution/phases.py)
    one_world: bool  # or one group of lanes
    loop_stride: int  # loop indices from one world or cluster to the next in a parallel loop: LOOP_STRIDE or 1
    wind: bool
    obstacles: bool  # whether there are colliders or boxes
    shapes: tuple  # kinds of shapes of the colliders (pbd/core/shapes)
    restitution: bool  # whether any surface has restitution
    elements: bool  # whether there are contact points or elements, and surfaces that they can touch
    contacts: bool  # between particles
    surface_contacts: bool  # between triangles and segments
    implicit: tuple = ()  # types of elements that are solved together, as indices into `types`
    conjugate: bool = False  # whether by conjugate gradients
    gases: bool = False  # whether gases push in closed surfaces
    direct: tuple = ()  # types of which constraints are solved directly, as indices into `types`
    rope_nodes: bool = False  # whether particles have one or two rows of the direct solve
    touching: bool = False  # whether particles of the direct solve may touch colliders, boxes or fixed shapes
    parts: bool = False  # whether a substep may be made in parts, see pbd/direct/adaptive.py
    moving: bool = False  # whether the environment changes, so that parts have inputs of their own
    grabs: int = 0  # number of grab springs
    keep_predictions: bool = False  # whether predicted positions are read after the step
    hooks: Any = None  # StepHooks, see pbd/step_hooks.py
    gravity_scales: bool = False  # whether any particle has another scale than one
    lanes: int = 1  # worlds in the lanes of a vector, or bands of a world, see pbd/execution/lanes.py
    bands: bool = False  # whether these are bands
    strands: bool = False  # whether worlds are strands of one, see pbd/execution/strands.py

    @property
    def reads_start(self):
        """Whether constraints read positions at the start of the substep."""
        return self.from_start or any(each.needs_time or each.damped for each in self.types)

    @property
    def sensors(self):
        """Types that only update their state, as indices into `types`."""
        return tuple(index for index, each in enumerate(self.types) if each.sensor)

    @property
    def has_hooks(self):
        """Whether there are step hooks. (Taichi has no `is not None`.)"""
        return self.hooks is not None

    @property
    def has_fixed_shapes(self):
        """Whether step hooks have fixed shapes that particles of the direct solve touch."""
        return self.touching and self.has_hooks and self.hooks.fixed_shapes is not None

    @property
    def has_loaded_contacts(self):
        """Whether step hooks have contacts that are solved after each direct solve."""
        return len(self.direct) > 0 and self.has_hooks and self.hooks.solve_loaded is not None

    @property
    def together(self):
        """Whether something is solved by pbd/implicit."""
        return len(self.implicit) > 0 or self.gases

    @property
    def descends(self):
        """Whether iterations of pbd/implicit may not add to the energy: of rods alone, with the directions at x."""
        of_rods = len(self.implicit) > 0 and all(self.types[k].has_swing for k in self.implicit)
        return of_rods and not self.from_start and not self.gases

    @property
    def has_symmetric(self):
        """Whether some elements follow pbd/implicit/symmetric.py."""
        return self.from_start and any(self.types[k].has_swing for k in self.implicit)

    @property
    def has_solids(self):
        """Whether some elements are solids."""
        return any(self.types[k].is_solid for k in self.implicit)

    @property
    def has_mobilities(self):
        """Whether the direct solve moves particles by matrices, see pbd/direct/mobility.py."""
        return self.rope_nodes or self.touching

    @property
    def unread(self):
        """Groups of Data that these kernels do not read: a tuple of names."""
        read = {
            "direct": self.direct, "colliders": self.obstacles, "elements": self.elements, "wind": self.wind,
            "contacts": self.contacts, "bands": self.bands, "gravity": self.gravity_scales, "touch": self.touching,
            "surface": self.surface_contacts, "implicit": self.together, "strands": self.strands,
        }  # fmt: skip
        return tuple(name for name, is_read in read.items() if not is_read)


def features_of(system):
    """Features of a ParticleSystem as it is now."""
    particles, schedule, groups, lanes = system.particles, system.schedule, system._counts.worlds, system.lanes
    restitutions = [collider.restitution for collider in particles.colliders]
    restitutions += [box[BOX.restitution] for box in particles.boxes]
    return Features(
        types=system._types,
        iterated=schedule.iterated_types(),
        from_start=system.options.direction == "start",
        has_tolerance=system._violation_kept > 0,
        colours=len(schedule.colours),
        shared=not schedule.is_one_cluster,
        # In lanes Taichi's opt_level=0 alone miscompiles the constant index of one group: pbd/core/kernels/settings.py.
        one_world=groups == 1 and lanes == 1,
        loop_stride=LOOP_STRIDE if on_cpu() and groups < 2 * LOOP_STRIDE else 1,
        wind=particles.wind is not None and len(particles.triangles()) > 0,
        obstacles=len(restitutions) > 0,
        shapes=tuple(sorted({collider.shape.kind for collider in particles.colliders})),
        restitution=any(restitutions),
        elements=len(restitutions) > 0 and len(all_elements(particles)[0]) > 0,
        contacts=particles.particle_contacts is not None,
        surface_contacts=len(particles.surfaces) > 0,
        implicit=system._implicit.types,
        conjugate=system._implicit.conjugate,
        gases=len(particles.gases) > 0,
        direct=system.direct.types,
        rope_nodes=bool(system.direct.nodes(system._values.mobile()).any()),
        touching=system._counts_without_lanes.touching > 0,
        parts=schedule.is_one_cluster and len(system.direct.rows) > 0 and system.direct.consistent,
        moving=not particles.is_static(),
        grabs=len(system.environment.grabs),
        keep_predictions=system._keep_predictions,
        hooks=system._hooks,
        gravity_scales=bool((system._values.gravity_scales != 1.0).any()),
        lanes=lanes,
        bands=system.pieces == "bands",
        strands=system.pieces == "strands",
    )
