"""A good scene to spoil, the sentences that come back, and a scene of one body of water."""

import pytest

from viscoil.core.errors import SceneError, ViscoilError
from viscoil.scene import Scene

GOOD = """\
[simulation]
spacing = 0.1
duration = 1.0

[materials.goo]
density = 1000.0
viscosity = 1.0

[[fluids]]
material = "goo"
shape = "box"
center = [0, 0, 0]
size = [1, 1, 1]

[[emitters]]
material = "water"
shape = "disc"
center = [0, 3, 0]
direction = [0, -1, 0]
radius = 0.2
speed = 0.5

[[colliders]]
shape = "plane"
"""

JARGON = ("pydantic", "input_value", "Input should", "validation error", "Traceback", "type=")


def problems(text: str) -> list[str]:
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(text, "my.toml")
    assert isinstance(caught.value, ViscoilError)
    for sentence in caught.value.problems:
        assert "\n" not in sentence
        assert sentence[0].islower() and not sentence.endswith(".")
        assert not any(word in sentence for word in JARGON)
    return list(caught.value.problems)


def floating_water(fluid: str, rest: str = "", spacing: float = 0.04) -> str:
    """A scene without gravity, of the given keys of its one fluid and the given further tables."""
    return f"""
[simulation]
spacing = {spacing}
frames = 1
gravity = [0.0, 0.0, 0.0]
[[fluids]]
material = "water"
{fluid}
{rest}
"""
