"""What a material does in the simulator, measured and compared with closed forms."""

from viscoil.rheology.rheometer import Figure, Report, measure

__all__ = ["Figure", "Report", "measure"]
