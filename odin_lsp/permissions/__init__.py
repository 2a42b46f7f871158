"""What a turn may do."""
