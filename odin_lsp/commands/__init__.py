"""Running commands: in an environment without secrets, under a supervisor that leaves no process behind."""
