"""Odin's text and its review for agents of others: in the Odin that has their folder open, else in one of their own."""
