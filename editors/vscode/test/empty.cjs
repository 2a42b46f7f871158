// What costs nothing to load, to compare with.
