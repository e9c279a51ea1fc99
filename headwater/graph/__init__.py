"""Refreshes of many views: which ones, to which versions of the sources, in which order."""
