"""Odin as the IDE of agents that run in a terminal: what they want to change is reviewed, on the text on the screen."""
