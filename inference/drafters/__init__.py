"""Drafters: each proposes what may come next."""
