"""An Odin that several front ends share. What is here needs neither pygls nor pydantic: a terminal starts with it."""
