"""What the model can do: one file, one tool."""
