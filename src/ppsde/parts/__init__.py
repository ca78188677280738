"""What algorithms share, one idea per file: pure formulae, and adaptive pieces as frozen dataclasses."""
