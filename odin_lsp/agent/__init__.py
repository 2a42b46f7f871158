"""The loop: messages in, turns one by one."""
