"""Which array takes how many bytes of a particle, with and without stress."""

from scaling import block
from water import rain

from viscoil import Scene, Simulation
from viscoil.core import compute, memory

SIDE = 60  # particles along an edge
LEAST = 1.0  # bytes per particle that are worth a line


def table(scene: Scene) -> list[tuple[str, float]]:
    """Names of arrays and their bytes per particle, after two steps."""
    simulation = Simulation(scene)
    for _ in range(2):
        simulation.step()
    owners = {
        "particles": simulation.particles,
        "neighbors": simulation._neighbors,
        "solver": simulation._solver,
        "rest": simulation,
    }
    capacity = simulation.particles.capacity
    sizes = {name: size / capacity for name, size in memory.held(owners).items()}
    lines = [(name, size) for name, size in sizes.items() if size >= LEAST]
    return [("all", sum(sizes.values())), *lines]


def main() -> None:
    compute.initialize()
    for title, scene in (("viscous fluid", block(SIDE)), ("water", rain(SIDE))):
        print(f"{title}: bytes per particle that there is room for")
        for name, size in table(scene):
            print(f"  {size:7.1f}  {name}")


if __name__ == "__main__":
    main()
