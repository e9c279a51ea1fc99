"""What changed in a Delta table, read from its log without Spark."""
