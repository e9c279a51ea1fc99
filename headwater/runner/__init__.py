"""A process that keeps its share of the jobs."""
