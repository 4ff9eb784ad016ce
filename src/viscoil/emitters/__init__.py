"""Where fluid flows in: nozzles, and meshes that fluid comes out of."""
