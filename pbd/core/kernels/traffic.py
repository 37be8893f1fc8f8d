"""What goes between a device and its host."""

from dataclasses import dataclass


@dataclass
class Traffic:
    """Launches, and bytes copied to the device and to the host with them, since `clear`.

    Quick kernels, which run on the processor alone, are not counted.
    """

    launches: int = 0
    to_device: int = 0
    to_host: int = 0

    def clear(self):
        """Count from zero."""
        self.launches = self.to_device = self.to_host = 0


TRAFFIC = Traffic()
