"""Refreshes that are killed with SIGKILL, and refreshes that race each other."""
