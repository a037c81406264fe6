"""What a sample is made of: running prose in sentences, and pools of words, numbers and identifiers."""
