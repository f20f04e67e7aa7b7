"""Borrador's engine: a whole program without a window, `python -m inference`."""
