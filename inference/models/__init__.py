"""Models: finding, fetching, checking and converting them. Loading them into memory is model.py's work."""
