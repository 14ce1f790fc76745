"""Search over an agent project's reference files: cut, indexed and found."""
