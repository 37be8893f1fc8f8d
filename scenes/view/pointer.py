"""What pointers do on the page: they drag, pin, unpin and cut what they touch."""

from scenes.view.pins import first_point_on_ray

TOOLS = ("drag", "pin", "unpin", "cut")


class Pointers:
    """The pointers of all pages. viser reports events on its own threads; the session's thread acts on them.

    Args: session; its Grabs, Pins and Tearing.

    Attributes:
        tool: one of TOOLS.
        bound: {name: ((number of the visual, number of the part), handle)} of nodes that report events.
        cut_ends: {user: last position of a pointer that cuts (3,) [m]}.
    """

    def __init__(self, session, grabs, pins, tearing):
        self.session, self.grabs, self.pins, self.tearing = session, grabs, pins, tearing
        self.tool, self.bound, self.cut_ends = "drag", {}, {}

    def choose(self, tool):
        """Change the tool."""
        self.tool = tool
        self.grabs.release_all()
        for key, handle in self.bound.values():
            self.bind_click(*key, handle)

    def bind(self, handles):
        """Receive events of nodes. Args: handles: pairs as in Drawing.handles."""
        before, self.bound = self.bound, {handle.name: (key, handle) for key, handle in handles}
        for name, (key, handle) in self.bound.items():
            if name not in before or before[name][1] is not handle:
                handle.on_drag("left")(self.drag_callback(*key))
                self.bind_click(*key, handle)

    def bind_click(self, number, part, handle):
        """Receive clicks on a node if the tool uses them."""
        handle.remove_click_callback()
        if self.tool in ("pin", "unpin"):
            handle.on_click(self.click_callback(number, part))

    def drag_callback(self, number, part):
        """Make the callback for drags of a node. Args: number of the visual; part: number of what it draws."""

        async def dragged(event):
            request, user = self.session.request, event.client_id
            if event.phase == "end":
                request(lambda: self.release(user))
            elif self.tool == "drag" and event.phase == "start":
                request(lambda: self.grab(user, number, part, event))
            elif self.tool == "drag":
                request(lambda: self.grabs.move_pointer(user, event.end_position), key=("move", user))
            elif self.tool == "cut":
                request(lambda: self.cut(event))
            elif event.phase == "start":
                request(lambda: self.pin_or_unpin(number, part, event.instance_index, event.start_position))

        return dragged

    def click_callback(self, number, part):
        """Make the callback for clicks on a node. Args: as for `drag_callback`."""

        async def clicked(event):
            self.session.request(lambda: self.click(number, part, event))

        return clicked

    # On the session's thread ------------------------------------------------------------------------------------------

    def grab(self, user, number, part, event):
        """Grab something, and follow the pointer."""
        self.grabs.grab(user, self.tearing.visuals[number], part, event.instance_index, event.start_position)
        self.grabs.move_pointer(user, event.end_position)

    def release(self, user):
        """Release what a pointer grabbed, and end its cut."""
        self.grabs.release(user)
        self.cut_ends.pop(user, None)

    def cut(self, event):
        """Cut from the last position of a pointer to the current one."""
        start = self.cut_ends.get(event.client_id, event.start_position)
        self.cut_ends[event.client_id] = event.end_position
        self.tearing.cut_across(event.client.camera.position, start, event.end_position)

    def pin_or_unpin(self, number, part, instance, point):
        """Pin or unpin the particle nearest to a point."""
        act = self.pins.pin if self.tool == "pin" else self.pins.unpin
        act(self.tearing.visuals[number], part, instance, point)

    def click(self, number, part, event):
        """Pin or unpin the first particle on the line of sight."""
        system = self.session.run.particles
        if system is not None:
            point = first_point_on_ray(system.positions(), event.ray_origin, event.ray_direction)
            self.pin_or_unpin(number, part, event.instance_index, point)
