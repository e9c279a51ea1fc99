"""Run a plan's steps on Spark; touches no target."""
