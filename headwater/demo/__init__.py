"""`headwater demo`: a small shop, several rounds of change, and what each refresh cost."""
