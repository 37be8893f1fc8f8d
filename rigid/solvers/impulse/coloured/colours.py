"""The order of joints and contacts with coloured contacts: seven clusters in three colours.

Bodies lie in four parts, one behind another along the axis on which they spread most; what joints and springs connect
lies in one. A cluster is a run of joints and contacts that one thread solves in order. Clusters of one colour have no
moving body in common, so which is solved first changes no bit:

    first colour     four clusters: joints and contacts of the bodies of each part
    second colour    two clusters: contacts between the parts of each half
    third colour     contacts between the halves, which one thread solves

Colours of single contacts would be more, and threads would wait for one another at the end of each. Within a cluster
contacts may lie in packs (packs.py).

Source: nested dissection, George, Nested dissection of a regular finite element mesh (1973), here of contacts.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Integer, allocate, count, load_vector
from rigid.collision.data import PAIR
from rigid.constraints.rows import GROUP
from rigid.kernels.motion import MASS, POSE
from rigid.solvers.impulse.packs import clear_places, number_slots, place_contacts

# Parts of the bodies, colours, and clusters in all colours.
PARTS, COLOURS = 4, 3
CLUSTERS = 2 * PARTS - 1

# Where the joints, contacts and packs of a cluster begin; those of the next one follow.
CLUSTER = Columns(joint=1, contact=1, pack=1)

# The axis is divided into so many bins, as far as so many standard deviations from the mean.
BINS, DEVIATIONS = 256, 2.0

# A group of joint rows takes as long as so many contacts.
WEIGHT_OF_JOINT = 3


class Colours(NamedTuple):
    """The order of joints and contacts in a substep."""

    islands: Integer(count.bodies)  # of each body, the first body of all that joints or springs connect
    weights: Integer(count.worlds, count.bodies)  # how long an island's joints and contacts take, by its first body
    bins: Integer(count.worlds, BINS)  # the weight of each bin, then its part
    parts: Integer(count.worlds, count.bodies)
    clusters: Integer(count.worlds, CLUSTERS + 1, CLUSTER)
    order: Integer(count.worlds, count.joint_groups)  # groups of joints by cluster
    contact_clusters: Integer(count.worlds, count.contacts)  # the cluster of each contact
    contact_order: Integer(count.worlds, count.contacts)  # contacts by cluster


@ti.func
def first_cluster(colour):
    """The first cluster of a colour, and the end of those of the colour before."""
    return 2 * PARTS - ((2 * PARTS) >> colour)


@ti.func
def find_clusters(s: ti.template(), contacts, world):
    """Order joints and contacts of a substep. Args: contacts: how many."""
    divide_bodies(s, contacts, world)
    sort_joints(s, world)
    sort_contacts(s, contacts, world)
    if ti.static(s.features.packs):
        fill_packs(s, contacts, world)


# Parts ----------------------------------------------------------------------------------------------------------------


@ti.func
def divide_bodies(s: ti.template(), contacts, world):
    """Divide the bodies into parts with as much to solve each."""
    bins, parts, islands = ti.static(s.colours.bins, s.colours.parts, s.colours.islands)
    total = weigh_islands(s, contacts, world)
    axis, low, width = line_of_bins(s, total, world)
    for k in range(BINS):
        bins[world, k] = 0
    for body in range(s.bodies.pose.shape[1]):
        k = bin_of(s, islands[body], axis, low, width, world)
        bins[world, k] = bins[world, k] + s.colours.weights[world, body]
    before = 0
    for k in range(BINS):
        weight = bins[world, k]
        bins[world, k] = ti.min(PARTS * (2 * before + weight) // ti.max(2 * total, 1), PARTS - 1)
        before += weight
    for body in range(s.bodies.pose.shape[1]):
        parts[world, body] = bins[world, bin_of(s, islands[body], axis, low, width, world)]


@ti.func
def weigh_islands(s: ti.template(), contacts, world):
    """Find the weights of all islands. Returns: their sum."""
    weights = ti.static(s.colours.weights)
    for body in range(s.bodies.pose.shape[1]):
        weights[world, body] = 0
    for group in range(s.step.first_contact_group):
        island = island_of(s, group, world)
        weights[world, island] = weights[world, island] + WEIGHT_OF_JOINT
    for c in range(contacts):
        island = s.colours.islands[moving_bodies(s, c, world)[0]]
        weights[world, island] = weights[world, island] + 1
    return WEIGHT_OF_JOINT * s.step.first_contact_group + contacts


@ti.func
def island_of(s: ti.template(), group, world):
    """The island of a group of joint rows. The ground, the last body, has none, unless both bodies are the ground."""
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    return s.colours.islands[ti.select(i == s.bodies.pose.shape[1] - 1, j, i)]


@ti.func
def line_of_bins(s: ti.template(), total, world):
    """Where the bins lie. Args: total: of the weights. Returns: axis; where they begin, and the width of one [m]."""
    pose, weights = ti.static(s.bodies.pose, s.colours.weights)
    mean, spread, part = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), 1.0 / ti.max(total, 1)
    for body in range(pose.shape[1]):
        mean += part * weights[world, body] * load_vector(pose, body, POSE.position, world)
    for body in range(pose.shape[1]):
        offset = load_vector(pose, body, POSE.position, world) - mean
        spread += part * weights[world, body] * offset * offset
    axis, widest, middle = 0, spread[0], mean[0]
    for k in ti.static(range(1, 3)):
        if spread[k] > widest:
            axis, widest, middle = k, spread[k], mean[k]
    half = DEVIATIONS * ti.sqrt(widest)
    return axis, middle - half, ti.max(2.0 * half / BINS, 1e-9)


@ti.func
def bin_of(s: ti.template(), body, axis, low, width, world):
    """The bin of a body. Those at the ends have what lies beyond, too."""
    place = (s.bodies.pose[world, body, POSE.position + axis] - low) / width
    return ti.cast(ti.min(ti.max(place, 0.0), BINS - 1.0), ti.i32)


# Clusters -------------------------------------------------------------------------------------------------------------


@ti.func
def sort_joints(s: ti.template(), world):
    """Sort the groups of joints by part; each part keeps their order."""
    clusters = ti.static(s.colours.clusters)
    made = 0
    for part in range(PARTS):
        clusters[world, part, CLUSTER.joint] = made
        for group in range(s.step.first_contact_group):
            if s.colours.parts[world, island_of(s, group, world)] == part:
                s.colours.order[world, made] = group
                made += 1
    for cluster in range(PARTS, CLUSTERS + 1):
        clusters[world, cluster, CLUSTER.joint] = made


@ti.func
def sort_contacts(s: ti.template(), contacts, world):
    """Sort the contacts by cluster; each cluster keeps their order."""
    clusters, of_contacts = ti.static(s.colours.clusters, s.colours.contact_clusters)
    for cluster in range(CLUSTERS + 1):
        clusters[world, cluster, CLUSTER.contact] = 0
    for c in range(contacts):
        after = cluster_of(s, c, world) + 1
        of_contacts[world, c] = after - 1
        clusters[world, after, CLUSTER.contact] = clusters[world, after, CLUSTER.contact] + 1
    # The entry behind a cluster counts from where the cluster begins, contact by contact, to where it ends.
    total = 0
    for cluster in range(CLUSTERS + 1):
        length = clusters[world, cluster, CLUSTER.contact]
        clusters[world, cluster, CLUSTER.contact] = total
        total += length
    for c in range(contacts):
        after = of_contacts[world, c] + 1
        place = clusters[world, after, CLUSTER.contact]
        s.colours.contact_order[world, place] = c
        clusters[world, after, CLUSTER.contact] = place + 1


@ti.func
def cluster_of(s: ti.template(), c, world):
    """The cluster of a contact: that of the parts of its bodies, as far as these move."""
    i, j = moving_bodies(s, c, world)
    a, b = s.colours.parts[world, i], s.colours.parts[world, j]
    cluster = a
    if a != b:
        cluster = ti.select(a // 2 == b // 2, PARTS + a // 2, CLUSTERS - 1)
    return cluster


@ti.func
def moving_bodies(s: ti.template(), c, world):
    """The bodies of a contact, or the one that moves twice."""
    i, j = s.points.integers[world, c, PAIR.body_a], s.points.integers[world, c, PAIR.body_b]
    if j < 0 or s.bodies.mass[world, j, MASS.inverse_mass] == 0.0:
        j = i
    elif s.bodies.mass[world, i, MASS.inverse_mass] == 0.0:
        i = j
    return i, j


@ti.func
def fill_packs(s: ti.template(), contacts, world):
    """Put the contacts of each cluster into packs of its own."""
    clusters = ti.static(s.colours.clusters)
    made = 0
    clear_places(s, world)
    for cluster in range(CLUSTERS):
        clusters[world, cluster, CLUSTER.pack] = made
        begin, end = clusters[world, cluster, CLUSTER.contact], clusters[world, cluster + 1, CLUSTER.contact]
        made = place_contacts(s, begin, end, made, s.colours.contact_order, False, world)
    clusters[world, CLUSTERS, CLUSTER.pack] = made
    s.packs.count[world] = made
    number_slots(s, made, 0, contacts, world)


def allocate_colours(islands, worlds, groups, contacts):
    """Make the arrays. Args: islands: see Colours, with the ground's; worlds; groups: of joints; contacts: at most."""
    return allocate(
        Colours, {"islands": islands}, worlds=worlds, bodies=len(islands), joint_groups=groups, contacts=contacts
    )
