"""Make the plot of the energy's error against the cost, by our solvers and MuJoCo. It takes two to four minutes.

    python media/energy_against_cost.py
"""

from pathlib import Path

from benchmarks.energy import plot_energies
from scenes.simulate.device import initialise


def main():
    """Write energy_against_cost.png."""
    initialise()
    plot_energies(Path(__file__).with_name("energy_against_cost.png"))


if __name__ == "__main__":
    main()
