"""Settings a person can change, and the dialog for them."""
