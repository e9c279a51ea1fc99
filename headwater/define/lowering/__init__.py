"""From the text of a query to the operators of `vocabulary.algebra`."""
