"""Exactly once: rows and frontier in one Delta commit, and proof that it was ours."""
