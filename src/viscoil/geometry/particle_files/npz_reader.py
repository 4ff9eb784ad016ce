"""Arrays of NumPy (.npz): frames that `viscoil run` wrote, and files made the same way."""

import io
import zipfile

import numpy as np
import numpy.typing as npt

from viscoil.core.errors import ParticleFileError
from viscoil.geometry.particle_files.limits import MAX_BYTES, damaged

Floats = npt.NDArray[np.float64]


def is_npz(data: bytes) -> bool:
    """Whether the first bytes are those of a zip archive."""
    return data.startswith(b"PK\x03\x04")


def read_npz(data: bytes) -> tuple[Floats, Floats | None]:
    """The arrays `position` and, if it is there, `velocity`, both (n, 3)."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > MAX_BYTES:
                text = f"unpacks to more than {MAX_BYTES >> 20} MiB: thin it out or split it"
                raise ParticleFileError(text)
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            if "position" not in arrays.files:
                known = ", ".join(arrays.files) or "nothing"
                raise ParticleFileError(
                    f"has no array position but {known}: save one of shape (n, 3)"
                )
            position = _vectors("position", arrays["position"])
            has_velocity = "velocity" in arrays.files
            return position, _vectors("velocity", arrays["velocity"]) if has_velocity else None
    except ParticleFileError:
        raise
    except Exception:  # damaged bytes make zipfile and NumPy raise many types
        raise damaged("it is no sound .npz archive") from None


def _vectors(name: str, values: npt.NDArray[np.generic]) -> Floats:
    if values.ndim != 2 or values.shape[1] != 3 or values.dtype.kind not in "fiu":
        raise ParticleFileError(
            f"has {name} of shape {values.shape} and type {values.dtype}: save numbers (n, 3)"
        )
    return values.astype(np.float64)
