"""Which folders are open, and what is in force there: settings, trust, the models that the user picked."""
