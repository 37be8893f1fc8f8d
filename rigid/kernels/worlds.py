"""Worlds in parallel: one thread moves one world."""

import taichi as ti


def over_worlds(advance_world, features):
    """Make a Taichi function (s, substeps, iterations) that advances all worlds.

    Args: advance_world: a Taichi function (s, world, substeps, iterations); features: with `one_world` and `spread`,
    the distance of two worlds in the parallel loop (pbd.core.runtime.LOOP_STRIDE).
    """

    @ti.func
    def advance(s: ti.template(), substeps, iterations):
        if ti.static(features.one_world):
            ti.loop_config(serialize=True)
            for world in range(1):
                advance_world(s, world, substeps, iterations)
        else:
            for turn in range(s.report.shape[0] * features.spread):
                if turn % features.spread == 0:
                    world = turn // features.spread
                    advance_world(s, world, substeps, iterations)

    return advance
