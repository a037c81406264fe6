"""Who answers: one file per backend, opened by name through the registry."""
