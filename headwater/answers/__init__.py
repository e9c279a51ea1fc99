"""What can be asked of an open project: contents, states, reasons, proofs. Nothing is written."""
