"""The parts of one view's refresh; `refresh.py` puts them in order."""
