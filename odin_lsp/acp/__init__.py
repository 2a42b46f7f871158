"""The Agent Client Protocol, version 1: the library for editors that speak it, and nothing else of the agent."""
