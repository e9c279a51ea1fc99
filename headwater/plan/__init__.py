"""From what changed to the steps that bring a view up to date. Pure: no Spark, no database."""
