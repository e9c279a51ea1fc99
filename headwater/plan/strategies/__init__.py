"""How each technique turns a view's change into a write, one file per technique."""
