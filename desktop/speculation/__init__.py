"""What speculation does: the switch, the strip of rounds, the live figures."""
