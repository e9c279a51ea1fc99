"""Every kind of view under every kind of change, kept in every way, one beside the other."""
