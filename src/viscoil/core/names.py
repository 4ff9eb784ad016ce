"""What a user probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

# Words that users of other programs and books write, too unlike ours to be found by spelling.
SYNONYMS = {
    "dt": "time_step",
    "timestep": "time_step",
    "rho": "density",
    "mu": "viscosity",
    "eta": "viscosity",
    "shear_modulus": "modulus",
    "stiffness": "modulus",
    "tau": "relaxation_time",
    "alpha": "compliance",
    "resolution": "spacing",
    "particle_size": "spacing",
    "length": "duration",
    "end_time": "duration",
    "keyframes": "motion",
    "animation": "motion",
    "axis_angle": "rotation",
    "extent": "size",
    "dimensions": "size",
    "origin": "center",
    "fluid": "fluids",
    "material": "materials",
    "output": "outputs",
    "container": "mode",
}


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like the name, or None when nothing is alike."""
    known = {_plain(candidate): candidate for candidate in candidates}
    plain = _plain(name)
    if plain in known:
        return known[plain]
    if SYNONYMS.get(name.lower()) in known.values():
        return SYNONYMS[name.lower()]
    found = get_close_matches(plain, known, n=1, cutoff=0.6)
    return known[found[0]] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def unknown_name(what: str, name: object, candidates: Iterable[str]) -> str:
    """The end of a sentence about a name that is not among the candidates."""
    known = sorted(candidates)
    guess = nearest(name, known) if isinstance(name, str) else None
    if guess is not None:
        return f'is no known {what}: did you mean "{guess}"?'
    return f"is no known {what}: use one of {', '.join(known)}"
