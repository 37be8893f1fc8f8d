"""A scene's visuals as nodes of a viser page: made once, then given new vertices and poses frame by frame."""

import math
from dataclasses import dataclass

import numpy as np

from scenes.render.film import camera_for
from scenes.render.ghosts import moving_part, tinted
from scenes.visuals import FollowingCamera, Surface
from scenes.visuals.geometry import IDENTITY_ROTATION

FLOOR, LINES, SECTIONS = (224, 228, 233), (203, 208, 216), (178, 185, 196)
SUN, SUN_FROM, SKY = 1.6, (-0.5, -0.7, 1.6), 0.65  # intensities of light, and where the sun stands
ASPECT = 16 / 9  # of the window that cameras are placed for


class Drawing:
    """What a scene looks like, on a page.

    Arguments:
        server: a viser.ViserServer.
        visuals: of a scene (scenes/visuals); the attribute may be given others that draw as many things.
        name: of the node on the page under which all of it hangs, such as "/scene".
        opacity: from 0 to 1, without shadows; None for solid.
        two_tone: whether sheets have a colour on either side; without, they are half as much to send.
    """

    def __init__(self, server, visuals, name="/scene", opacity=None, two_tone=True):
        self.server, self.visuals, self.name, self.opacity, self.two_tone = server, visuals, name, opacity, two_tone
        self.root = server.scene.add_frame(name, show_axes=False)
        self.drawn = {}  # by (number of the visual, number of what it draws): what was drawn last, and its handles

    @property
    def handles(self):
        """All handles, each behind (number of its visual, number of what that draws): a list of pairs."""
        return [(key, handle) for key, (_, handles) in self.drawn.items() for handle in handles]

    def show(self, frame):
        """Show a scene as it is at one instant. Arguments: a Frame. Errors: ValueError where it is not finite."""
        things = {(k, n): thing for k, visual in enumerate(self.visuals) for n, thing in enumerate(visual.draw(frame))}
        with self.server.atomic():
            for key in [key for key in self.drawn if key not in things]:
                for handle in self.drawn.pop(key)[1]:
                    handle.remove()
            for key, thing in things.items():
                before, handles = self.drawn.get(key, (None, []))
                if type(before) is type(thing):
                    update(before, thing, handles)
                else:
                    handles = self.add(thing, f"{self.name}/{key[0]}/{key[1]}")
                self.drawn[key] = thing, handles

    def add(self, thing, name):
        """Handles of a Surface or an Instances that is new on the page."""
        solid = self.opacity is None
        alike = {"opacity": self.opacity, "cast_shadow": solid, "receive_shadow": solid}
        page = self.server.scene
        if isinstance(thing, Surface):
            alike["receive_shadow"] = solid and thing.solid  # a thin sheet would shade itself, all over and in rings
            alike |= {"vertices": thing.vertices, "faces": thing.triangles, "flat_shading": not thing.smooth}
            return [
                page.add_mesh_simple(name + suffix, side=side, color=sent(colour), **alike)
                for suffix, side, colour in self.sides(thing)
            ]
        surface, colours = thing.surface, thing.colours
        if colours is None:
            colours = np.tile(surface.colour, (len(thing.positions), 1))
        handle = page.add_batched_meshes_simple(
            name, surface.vertices, surface.triangles, rotations(thing), thing.positions, batched_scales=thing.scales,
            batched_colors=sent(linear(colours)), flat_shading=not surface.smooth,
            side="front" if surface.solid else "double", lod="off", **alike,
        )  # fmt: skip
        return [handle]

    def sides(self, surface):
        """Suffix of the name, side and colour of each mesh that a Surface is drawn as."""
        if surface.solid:
            return [("", "front", surface.colour)]
        if surface.back_colour is None or not self.two_tone:
            return [("", "double", surface.colour)]
        return [("/front", "front", surface.colour), ("/back", "back", surface.back_colour)]

    def fade(self, opacity):
        """Draw all of it from now on as glass, or solid. Arguments: opacity: from 0 to 1, None for solid."""
        self.opacity = opacity
        for _, handle in self.handles:
            handle.opacity = opacity

    def remove(self):
        """Take all of it off the page."""
        self.root.remove()
        self.drawn = {}


@dataclass
class Ghost:
    """What moves of a visual, in tones of one colour. Arguments: visual; colour: "#rrggbb"."""

    visual: object
    colour: str

    def draw(self, frame):
        """Surfaces at one instant. Arguments: a Frame."""
        return [tinted(drawn, self.colour) for drawn in moving_part(self.visual, frame)]


def update(before, thing, handles):
    """Move what stands on the page; what has not changed is not sent again, viser compares."""
    if isinstance(thing, Surface):
        for handle in handles:
            handle.vertices = thing.vertices
            if thing.triangles is not before.triangles:
                handle.faces = thing.triangles
        return
    for handle in handles:
        handle.batched_positions, handle.batched_wxyzs = thing.positions, rotations(thing)
        if thing.scales is not None:
            handle.batched_scales = thing.scales


def rotations(instances):
    """Rotations of Instances (k, 4), also of those that have none."""
    if instances.rotations is None:
        return np.broadcast_to(IDENTITY_ROTATION, (len(instances.positions), 4))
    return instances.rotations


def linear(colours):
    """The linear light of sRGB colours 0..1, as which viser's page takes those of batched meshes, and of no others."""
    colours = np.asarray(colours, float)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def sent(colours):
    """Colours as viser wants them, from 0 to 255."""
    return np.rint(255 * np.asarray(colours)).astype(np.uint8)


def set_stage(server, scene, shadows=True):
    """The light, and a scene's floor where it has one. Arguments: a viser.ViserServer; a Scene. Returns: the floor."""
    server.scene.set_up_direction("+z")
    server.scene.configure_environment_map("warehouse", environment_intensity=SKY)
    server.scene.configure_default_lights(False)
    server.scene.add_light_directional("/sun", intensity=SUN, cast_shadow=shadows, position=SUN_FROM)
    return server.scene.add_grid(
        "/floor", infinite_grid=True, position=(0.0, 0.0, scene.ground or 0.0), visible=scene.ground is not None,
        cell_size=0.5, section_size=1.0, cell_color=LINES, section_color=SECTIONS, fade_distance=60.0,
        plane_color=FLOOR, plane_opacity=1.0, shadow_opacity=0.4 if shadows else 0.0,
    )  # fmt: skip


def camera_of(scene, frame):
    """The Camera from which a scene is seen at one instant. Arguments: a Scene; a Frame."""
    if scene.camera is None:
        return camera_for(scene, frame, ASPECT)
    return scene.camera.at(frame) if isinstance(scene.camera, FollowingCamera) else scene.camera


def aim(camera, given):
    """Put a page's camera where a scene's is. Arguments: viser's, of a server or of a client; given: a Camera."""
    camera.position, camera.look_at = given.position, given.target
    camera.fov = math.radians(given.field_of_view)
