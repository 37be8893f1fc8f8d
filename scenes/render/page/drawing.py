"""Visuals as nodes of a viser page. A node is made once and then gets new vertices and poses for each frame."""

import math
from dataclasses import dataclass

import numpy as np

from scenes.render.ghosts import moving_surfaces, tinted
from scenes.visuals import Surface
from scenes.visuals.colours import FLOOR, linear_light
from scenes.visuals.geometry import IDENTITY_ROTATION

LINE_COLOUR, SECTION_COLOUR = (203, 208, 216), (178, 185, 196)
SUN_INTENSITY, SUN_POSITION, SKY_INTENSITY = 1.6, (-0.5, -0.7, 1.6), 0.65


class Drawing:
    """A scene on a page.

    Args:
        server: a viser.ViserServer.
        visuals: of a scene (scenes/visuals). The attribute may be replaced by a list of the same structure.
        name: of the parent node on the page, such as "/scene".
        opacity: from 0 to 1, without shadows; None for opaque.
        two_tone: whether cloth has a colour on each side. With one colour, half as much data is sent.
    """

    def __init__(self, server, visuals, name="/scene", opacity=None, two_tone=True):
        self.server, self.visuals, self.name, self.opacity, self.two_tone = server, visuals, name, opacity, two_tone
        self.root = server.scene.add_frame(name, show_axes=False)
        # {(number of the visual, number of its surface): (the Surface or Instances drawn last, its handles)}
        self.drawn = {}

    @property
    def handles(self):
        """All handles: a list of ((number of the visual, number of its surface), handle)."""
        return [(key, handle) for key, (_, handles) in self.drawn.items() for handle in handles]

    def show(self, frame):
        """Show a scene at one instant. Args: a Frame. Raises: ValueError if it is not finite."""
        surfaces = {
            (k, n): surface for k, visual in enumerate(self.visuals) for n, surface in enumerate(visual.draw(frame))
        }
        with self.server.atomic():
            for key in [key for key in self.drawn if key not in surfaces]:
                for handle in self.drawn.pop(key)[1]:
                    handle.remove()
            for key, surface in surfaces.items():
                before, handles = self.drawn.get(key, (None, []))
                if type(before) is type(surface):
                    update(before, surface, handles)
                else:
                    handles = self.add(surface, f"{self.name}/{key[0]}/{key[1]}")
                self.drawn[key] = surface, handles

    def add(self, drawable, name):
        """Add a Surface or Instances to the page. Returns: list of handles."""
        opaque = self.opacity is None
        options = {"opacity": self.opacity, "cast_shadow": opaque, "receive_shadow": opaque}
        page = self.server.scene
        if isinstance(drawable, Surface):
            options["receive_shadow"] = opaque and drawable.solid  # a thin sheet would cast shadows on itself
            options |= {
                "vertices": drawable.vertices, "faces": drawable.triangles, "flat_shading": not drawable.smooth
            }  # fmt: skip
            return [
                page.add_mesh_simple(name + suffix, side=side, color=bytes_of_colours(colour), **options)
                for suffix, side, colour in self.sides(drawable)
            ]
        surface, colours = drawable.surface, drawable.colours
        if colours is None:
            colours = np.tile(surface.colour, (len(drawable.positions), 1))
        handle = page.add_batched_meshes_simple(
            name, surface.vertices, surface.triangles, rotations_of(drawable), drawable.positions,
            # viser expects linear light for batched meshes, and sRGB for all others.
            batched_scales=drawable.scales, batched_colors=bytes_of_colours(linear_light(colours)),
            flat_shading=not surface.smooth, side="front" if surface.solid else "double", lod="off", **options,
        )  # fmt: skip
        return [handle]

    def sides(self, surface):
        """The meshes that a Surface is drawn as: a list of (suffix of the name, side, colour)."""
        if surface.solid:
            return [("", "front", surface.colour)]
        if surface.back_colour is None or not self.two_tone:
            return [("", "double", surface.colour)]
        return [("/front", "front", surface.colour), ("/back", "back", surface.back_colour)]

    def set_opacity(self, opacity):
        """Change the opacity of the scene. Args: opacity: from 0 to 1, None for opaque."""
        self.opacity = opacity
        for _, handle in self.handles:
            handle.opacity = opacity

    def remove(self):
        """Remove the scene from the page."""
        self.root.remove()
        self.drawn = {}


@dataclass
class GhostVisual:
    """The moving surfaces of a visual in tones of one colour. Args: visual; colour: "#rrggbb"."""

    visual: object
    colour: str

    def draw(self, frame):
        """Surfaces at one instant. Args: a Frame."""
        return [tinted(drawn, self.colour) for drawn in moving_surfaces(self.visual, frame)]


def update(before, drawable, handles):
    """Move what is on the page. viser sends only what has changed.

    Args: before: the Surface or Instances drawn last; drawable: the new one; handles: of both.
    """
    if isinstance(drawable, Surface):
        for handle in handles:
            handle.vertices = drawable.vertices
            if drawable.triangles is not before.triangles:
                handle.faces = drawable.triangles
        return
    for handle in handles:
        handle.batched_positions, handle.batched_wxyzs = drawable.positions, rotations_of(drawable)
        if drawable.scales is not None:
            handle.batched_scales = drawable.scales


def rotations_of(instances):
    """Rotations of Instances (k, 4); the identity if they have none."""
    if instances.rotations is None:
        return np.broadcast_to(IDENTITY_ROTATION, (len(instances.positions), 4))
    return instances.rotations


def bytes_of_colours(colours):
    """Convert colours from 0..1 to 0..255, as viser expects them."""
    return np.rint(255 * np.asarray(colours)).astype(np.uint8)


def set_stage(server, scene, shadows=True):
    """Set up the light, and the floor if the scene has one.

    Args: a viser.ViserServer; a Scene; shadows: whether there are any.

    Returns: the handle of the floor.
    """
    server.scene.set_up_direction("+z")
    server.scene.configure_environment_map("warehouse", environment_intensity=SKY_INTENSITY)
    server.scene.configure_default_lights(False)
    server.scene.add_light_directional("/sun", intensity=SUN_INTENSITY, cast_shadow=shadows, position=SUN_POSITION)
    return server.scene.add_grid(
        "/floor", infinite_grid=True, position=(0.0, 0.0, scene.ground or 0.0), visible=scene.ground is not None,
        cell_size=0.5, section_size=1.0, cell_color=LINE_COLOUR, section_color=SECTION_COLOUR, fade_distance=60.0,
        plane_color=FLOOR, plane_opacity=1.0, shadow_opacity=0.4 if shadows else 0.0,
    )  # fmt: skip


def set_camera(handle, camera):
    """Move a camera of a page. Args: handle: of viser, of a server or a client; camera: a Camera."""
    handle.position, handle.look_at = camera.position, camera.target
    handle.fov = math.radians(camera.field_of_view)
