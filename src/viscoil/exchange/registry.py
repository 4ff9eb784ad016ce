"""The formats by name; each is imported only when it is asked for."""

from importlib import import_module

from viscoil.core.errors import RunError
from viscoil.core.names import unknown_name
from viscoil.exchange.format import Format

FORMATS = {
    "npz": "viscoil.exchange.npz:NpzFormat",
    "ply": "viscoil.exchange.ply:PlyFormat",
    "bgeo": "viscoil.exchange.bgeo:BgeoFormat",
    "bhclassic": "viscoil.exchange.bgeo:BhclassicFormat",
    "vtp": "viscoil.exchange.vtp:VtpFormat",
    "vdb": "viscoil.exchange.volumes:VdbFormat",
    "usd": "viscoil.exchange.usd.format:UsdFormat",
    "alembic": "viscoil.exchange.alembic:AlembicFormat",
    "blender": "viscoil.exchange.blender:BlenderFormat",
}
"""Where each format is, as module and class; a new one is one line here (and one word in the
`format` of `OutputSpec`, if a run can write it)."""


def find_format(name: str) -> Format:
    """The format that a user calls so; RunError, with the likely meaning, if there is none."""
    if name not in FORMATS:
        raise RunError(f"{name!r} {unknown_name('format', name, FORMATS)}")
    module, kind = FORMATS[name].split(":")
    found: Format = getattr(import_module(module), kind)()
    return found
