"""Parts that algorithms share: formulas as pure functions, adaptive pieces as frozen dataclasses."""
