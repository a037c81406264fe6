"""HTTP servers on loopback that tests ask instead of real ones."""
