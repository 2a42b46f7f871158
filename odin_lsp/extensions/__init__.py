"""What users and projects plug in: agents, skills, commands, hooks, servers of tools; found and understood, not run."""
