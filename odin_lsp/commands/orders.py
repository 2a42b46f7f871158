"""What the process that forks supervisors is told: one byte, and the number of the supervisor."""

FORK, KILL = b"f", b"k"
ORDER_BYTES = 9
