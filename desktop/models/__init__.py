"""The models page: what is installed, what can be had, what is being fetched; and the way to all that."""
