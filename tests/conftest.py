"""Stands here so that tests find `tests.servers`, from wherever they are started."""
