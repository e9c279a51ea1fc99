"""Words that every part shares. Imports nothing else of Headwater."""
