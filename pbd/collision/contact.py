"""Contact of a particle with a surface: friction and restitution, on positions.

Friction (Coulomb): after a normal correction of depth p, the tangential displacement of the substep relative to the
surface is reduced by at most μ p. On a slope, a particle at rest has p = g h² cos θ and the displacement g h² sin θ. So
it sticks exactly while tan θ <= μ, and otherwise accelerates at g (sin θ - μ cos θ).

Restitution (Newton's e): projection stops the normal motion, because x - x* contains none afterwards. A particle that
reached the surface with speed u gets the speed e u along the normal, by an exact start of Verlet from there,
x* = x - v h + a h²/2 (as in pbd/host/particle_values.py). With e = 1 a ball in free flight keeps its energy to
round-off. Each impact loses a time of at most h.
"""

import taichi as ti

# A surface stopped a particle in the substep if the predicted position is behind it, and the position is at most this
# part of the depth away from it. Otherwise something else stopped the particle before, such as a stick.
LEFT_ON_SURFACE = 1e-3


@ti.func
def apply_friction(x, start, normal, depth, friction):
    """Apply friction to a position.

    Args:
        x: position after the normal correction [m].
        start: position at the start of the substep, moved with the surface: x - start is the displacement relative to
            the surface [m].
        normal: unit vector out of the surface.
        depth: the normal correction p [m].
        friction: μ.

    Returns: the position [m].
    """
    slip = x - start
    slip -= slip.dot(normal) * normal
    distance = slip.norm()
    limit = friction * depth
    result = x - slip
    if distance > limit:
        result = x - slip * (limit / distance)
    return result


@ti.func
def previous_after_impact(x, previous, displacement, acceleration, normal, depth, friction, restitution, h):
    """Compute the previous position by which a particle leaves a surface with e times its approach speed.

    Args:
        x, previous: position and previous position at the end of the substep [m].
        displacement: predicted displacement in the substep, relative to the surface [m].
        acceleration: in the substep [m/s²].
        normal: unit vector out of the surface.
        depth: distance of the predicted position behind the surface [m].
        friction, restitution: μ and e.
        h: length of the substep [s].

    Returns: the previous position [m].
    """
    result = previous
    pull = -acceleration.dot(normal)
    # The speed at the predicted position is (x' - x)/h + a h/2. The speed at the surface, `depth` before, follows.
    speed = -displacement.dot(normal) / h + 0.5 * pull * h
    squared = speed * speed - 2.0 * pull * depth
    if restitution > 0.0 and speed > 0.0 and squared > 0.0:
        approach = ti.sqrt(squared)
        # A flight of less than two substeps counts as rest: a ball comes to rest on the floor, with its full friction.
        if approach * restitution > ti.abs(pull) * h:
            outgoing = restitution * approach
            step = x - previous
            normal_step = outgoing * h + 0.5 * pull * h * h
            tangent = step - step.dot(normal) * normal
            # Coulomb's cone over the whole impact, of which the projection has already used the depth.
            limit = friction * ti.max((approach + outgoing) * h - depth, 0.0)
            distance = tangent.norm()
            if distance > limit:
                tangent *= 1.0 - limit / distance
            else:
                tangent *= 0.0
            result = x - tangent - normal_step * normal
    return result
