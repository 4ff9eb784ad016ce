"""Who is near whom: Z-order, cells, pair lists, sizes, smoothing functions."""
