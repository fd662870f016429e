"""The demonstrations: agents of known rates, and a small local model, measured the whole way through."""
