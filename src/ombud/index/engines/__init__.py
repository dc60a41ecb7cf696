"""The engines: one module each, one line each in `ombud.index.opening.ENGINES`."""
