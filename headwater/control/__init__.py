"""What decides which job runs when, and where; no Spark."""
