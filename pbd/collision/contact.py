"""Contact of a particle with a surface: friction and rebound, on positions.

Friction (Coulomb): after a normal correction of depth p, the tangential displacement of the step, relative to the
surface's own, is reduced by at most μ p. On a slope at rest p = g h² cos θ and the displacement g h² sin θ, so that a
particle sticks exactly while tan θ <= μ and else accelerates at g (sin θ - μ cos θ).

Rebound (Newton's restitution e): plain projection stops the normal motion, because x - x* then holds none. A particle
that came in with speed u at the surface is sent back with e u by an exact Verlet start from there, x* = x - v h + a
h²/2 (as pbd/store.py has it), along the normal alone. With e = 1 a ball in free flight keeps its energy to round-off.
Only the sub-step time of the impact is lost: at most h per bounce.
"""

import taichi as ti

# A particle was sent to a surface in the step, and stays there, if it was predicted to pass behind it and is left no
# farther off than this part of the depth: otherwise a stick, say, held it back before it came so far.
LEFT_ON_SURFACE = 1e-3


@ti.func
def apply_friction(x, start, normal, depth, friction):
    """Position after friction.

    Arguments:
        x: position after the normal correction [m].
        start: position at the start of the step, carried along by the surface's own motion: x - start is the
            displacement relative to the surface [m].
        normal: unit, out of the surface.
        depth: the normal correction p [m].
        friction: μ.
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
def rebound(x, previous, displacement, acceleration, normal, depth, friction, restitution, h):
    """Previous position that makes a particle leave a surface with e times its speed of approach.

    Arguments:
        x, previous: position at the end of the step and the previous position that the step left [m].
        displacement: predicted displacement of the step, relative to the surface [m].
        acceleration: of the step [m/s²]; normal: unit, out of the surface.
        depth: how far the prediction lay behind the surface [m].
        friction, restitution: μ and e; h: time step [s].
    """
    result = previous
    pull = -acceleration.dot(normal)
    # Speed at the predicted position (x' - x)/h + a h/2, and from it the speed at the surface, `depth` before.
    speed = -displacement.dot(normal) / h + 0.5 * pull * h
    squared = speed * speed - 2.0 * pull * depth
    if restitution > 0.0 and speed > 0.0 and squared > 0.0:
        approach = ti.sqrt(squared)
        # A flight of less than two steps is rest: a ball comes to lie on the floor, and friction gets its full p.
        if approach * restitution > ti.abs(pull) * h:
            outgoing = restitution * approach
            step = x - previous
            normal_step = outgoing * h + 0.5 * pull * h * h
            tangent = step - step.dot(normal) * normal
            # Coulomb's cone over the whole impact, of which the projection has had its depth already.
            limit = friction * ti.max((approach + outgoing) * h - depth, 0.0)
            distance = tangent.norm()
            if distance > limit:
                tangent *= 1.0 - limit / distance
            else:
                tangent *= 0.0
            result = x - tangent - normal_step * normal
    return result
