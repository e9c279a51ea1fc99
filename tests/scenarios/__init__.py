"""The acceptance scenarios, each test numbered in its docstring."""
