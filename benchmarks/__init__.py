"""Figures that the documentation may quote: ratios from one run on one machine."""
