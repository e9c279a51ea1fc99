"""Doubles for the tests of those who build on Headwater: real code on a small footing."""
