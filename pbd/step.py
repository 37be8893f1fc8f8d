"""The time step, as kernels: Jakobsen's loop over particles and constraints.

    accumulate forces  ->  Verlet  ->  relax K times  ->  bounce

`advance_world` is the whole of it: one thread runs one world, any number of steps in one launch. What follows it are
the same phases for one large world, each spread over threads; ParticleSystem launches them one after another.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

from pbd.collision import particle_contacts as contacts
from pbd.collision.colliders import bounce, held_off, keep_out
from pbd.core.kernels import make_kernel
from pbd.data import RANGE, REPORT, Data
from pbd.grabs import pull
from pbd.integrate import blow, lead, verlet
from pbd.relax import elastic_energy, project, relax_cluster, violation


class StepHooks(NamedTuple):
    """Functions by which something made of particles takes part in each substep, such as rigid bodies.

    Args:
        data: a NamedTuple class, the declaration of more arrays; kernels find them in `s.hooked`.
        begin_step: Taichi function (s, world), called after Verlet.
        relax: Taichi function (s, iteration, world) -> largest violation [m], called in each iteration, after the
            constraints.
        end_step: Taichi function (s, world), called after the iterations.
        count_contacts: Taichi function (s, world) -> number of contacts that held something off in the last substep.
    """

    data: Any
    begin_step: Any
    relax: Any
    end_step: Any
    count_contacts: Any


class Kernels(NamedTuple):
    """The kernels of a system; each is compiled when it is first launched."""

    advance: Any  # (steps, sweeps): everything, a thread to each world
    foresee: Any  # (step): forces, Verlet, candidates for contact; of one large world
    relax: Any  # (step): one sweep over all clusters, contacts, colliders
    relax_surroundings: Any  # (step): contacts and colliders
    finish: Any  # (step): restitution, and whether all is finite
    measure: Any  # (step): violations, contacts and elastic energy as they are
    relax_kinds: Any  # one for each kind, (begin, end): a single colour of single constraints


@ti.func
def rows(s: ti.template(), step):
    """Rows of the timeline at the start and at the end of a step; a single row serves all."""
    last = s.inputs.shape[0] - 1
    return ti.min(step, last), ti.min(step + 1, last)


@ti.func
def worlds(s: ti.template()):
    """How many worlds there are; one is known to the compiler."""
    count = 1
    if ti.static(not s.features.one_world):
        count = s.counts.worlds
    return count


@ti.func
def finite(x):
    """Whether all of x is finite, asked of the bits: fast arithmetic may assume that nothing ever is not."""
    result = True
    for k in ti.static(range(3)):
        result = result and (ti.bit_cast(ti.cast(x[k], ti.f32), ti.i32) & 0x7F800000) != 0x7F800000
    return result


@lru_cache
def step_kernels(features):
    """The kernels of a system with these features: a Kernels."""
    hooks, has_hooks = features.hooks, features.hooks is not None

    def make(body):
        return make_kernel(body, Data, features=features, hooked=hooks.data if has_hooks else None)

    @ti.func
    def relax_world(s: ti.template(), before, after, sweep, world):
        """One sweep over everything that holds particles; the largest violation that it met."""
        worst = 0.0
        for cluster in range(s.constraints.first_cluster[s.constraints.first_cluster.shape[0] - 1]):
            worst = ti.max(worst, relax_cluster(s, cluster, world))
        if ti.static(features.grabs > 0):
            for grab in range(features.grabs):
                pull(s, after, grab, world)
        n = s.counts.particles
        if ti.static(features.contacts):
            for i in range(n):
                contacts.count_touching(s, i, world)
            for i in range(n):
                worst = ti.max(worst, contacts.push_apart(s, i, world))
            for i in range(n):
                contacts.take_correction(s, i, world)
        if ti.static(features.surfaces):
            for i in range(n):
                worst = ti.max(worst, keep_out(s, before, after, i, world))
        if ti.static(has_hooks):
            worst = ti.max(worst, hooks.relax(s, sweep, world))
        return worst

    @ti.func
    def advance_world(s: ti.template(), world, steps, sweeps):
        """Steps of one world, the algorithm from beginning to end."""
        n = s.counts.particles
        for step in range(steps):
            if s.report[world, REPORT.diverged_substep] < 0:
                before, after = rows(s, step)
                # 1. Forces: gravity and a person's own are known, the wind's are gathered.
                if ti.static(features.wind):
                    for i in range(n):
                        blow(s, before, i, world)
                # 2. Verlet, as if nothing held the particles.
                for i in range(n):
                    verlet(s, before, i, world)
                for d in range(s.counts.kinematic):
                    lead(s, after, d, world)
                # 3. Relaxation.
                for m in range(s.counts.multipliers):
                    s.constraints.multipliers[m, world] = 0.0
                if ti.static(features.contacts):
                    if contacts.wanted(s, world):
                        contacts.sort_into_buckets(s, world)
                        for i in range(n):
                            contacts.find_neighbours(s, i, world)
                    contacts.count_down(s, world)
                if ti.static(has_hooks):
                    hooks.begin_step(s, world)
                worst, sweep = s.settings.tolerance + 1.0, 0
                while sweep < sweeps and worst > s.settings.tolerance:
                    worst = relax_world(s, before, after, sweep, world)
                    sweep += 1
                s.report[world, REPORT.iterations] = ti.cast(sweep, float)
                # 4. Restitution.
                if ti.static(features.restitution):
                    for i in range(n):
                        bounce(s, before, after, i, world)
                if ti.static(has_hooks):
                    hooks.end_step(s, world)
                for i in range(n):
                    if not finite(s.particles.position[i, world]):
                        s.report[world, REPORT.diverged_substep] = ti.cast(step, float)

    @ti.func
    def advance(s: ti.template(), steps, sweeps):
        if ti.static(not features.one_world):
            for turn in range(s.counts.worlds * features.spread):
                if turn % features.spread == 0:
                    advance_world(s, turn // features.spread, steps, sweeps)
        else:
            ti.loop_config(serialize=True)
            for _ in range(1):
                # A world that the compiler knows to be number 0 makes sticks 3 % faster.
                advance_world(s, 0, steps, sweeps)

    # The same phases, spread over threads -----------------------------------------------------------------------------
    # (A loop over worlds inside one over particles, not an ndrange over both: its divisions cost more than Verlet.)

    @ti.func
    def foresee(s: ti.template(), step, _):
        if ti.static(features.wind):
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    before, after = rows(s, step)
                    blow(s, before, i, world)
        for i in range(s.counts.particles):
            for world in range(worlds(s)):
                before, after = rows(s, step)
                verlet(s, before, i, world)
        for d in range(s.counts.kinematic):
            for world in range(worlds(s)):
                before, after = rows(s, step)
                lead(s, after, d, world)
        for m in range(s.counts.multipliers):
            for world in range(worlds(s)):
                s.constraints.multipliers[m, world] = 0.0
        if ti.static(features.contacts):
            for turn in range(s.counts.worlds * features.spread):
                if turn % features.spread == 0 and contacts.wanted(s, turn // features.spread):
                    contacts.sort_into_buckets(s, turn // features.spread)
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    if contacts.wanted(s, world):
                        contacts.find_neighbours(s, i, world)
            for world in range(worlds(s)):
                contacts.count_down(s, world)

    @ti.func
    def relax_surroundings(s: ti.template(), step, _):
        if ti.static(features.grabs > 0):
            for world in range(worlds(s)):
                _, after = rows(s, step)
                for grab in range(features.grabs):
                    pull(s, after, grab, world)
        if ti.static(features.contacts):
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    contacts.count_touching(s, i, world)
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    deepest = contacts.push_apart(s, i, world)
                    if ti.static(features.watch):
                        ti.atomic_max(s.report[world, REPORT.violation], deepest)
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    contacts.take_correction(s, i, world)
        if ti.static(features.surfaces):
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    before, after = rows(s, step)
                    deepest = keep_out(s, before, after, i, world)
                    if ti.static(features.watch):
                        ti.atomic_max(s.report[world, REPORT.violation], deepest)

    @ti.func
    def relax(s: ti.template(), step, _):
        for colour in ti.static(range(features.colours)):
            first = ti.static(s.constraints.first_cluster)
            for turn in range((first[colour + 1] - first[colour]) * features.spread):
                if turn % features.spread == 0:
                    for world in range(worlds(s)):
                        worst = relax_cluster(s, first[colour] + turn // features.spread, world)
                        if ti.static(features.watch):
                            ti.atomic_max(s.report[world, REPORT.violation], worst)
        relax_surroundings(s, step, 0)

    def relax_kind(index):
        @ti.func
        def relax_colour(s: ti.template(), begin, end):
            for c in range(begin, end):
                for world in range(worlds(s)):
                    if ti.static(features.watch):
                        worst = violation(features.types[index], index, s, c, world)
                        ti.atomic_max(s.report[world, REPORT.violation], worst)
                    project(features.types[index], index, s, c, world)

        return make(relax_colour)

    @ti.func
    def finish(s: ti.template(), step, _):
        if ti.static(features.restitution):
            for i in range(s.counts.particles):
                for world in range(worlds(s)):
                    before, after = rows(s, step)
                    bounce(s, before, after, i, world)
        for i in range(s.counts.particles):
            for world in range(worlds(s)):
                if not finite(s.particles.position[i, world]):
                    s.report[world, REPORT.diverged_substep] = ti.cast(step, float)

    @ti.func
    def measure(s: ti.template(), step, _):
        for world in range(worlds(s)):
            worst, energy, touching = 0.0, 0.0, 0
            for index in ti.static(range(len(features.types))):
                for c in range(s.constraints.ranges[index, RANGE.count]):
                    worst = ti.max(worst, violation(features.types[index], index, s, c, world))
                    energy += elastic_energy(features.types[index], index, s, c, world)
            before, after = rows(s, step)
            for i in range(s.counts.particles):
                held = 0
                if ti.static(features.surfaces):
                    held = held_off(s, before, after, i, world)
                if ti.static(features.contacts):
                    held = ti.max(held, contacts.touches(s, i, world))
                touching += held
            if ti.static(has_hooks):
                touching += hooks.count_contacts(s, world)
            s.report[world, REPORT.violation] = worst
            s.report[world, REPORT.contacts] = ti.cast(touching, float)
            s.report[world, REPORT.elastic_energy] = energy

    kinds_alone = [relax_kind(index) for index in range(len(features.types))]
    whole = (advance, foresee, relax, relax_surroundings, finish, measure)
    return Kernels(*(make(body) for body in whole), kinds_alone)
