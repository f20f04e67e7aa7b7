"""Measuring drafters against plain decoding."""
