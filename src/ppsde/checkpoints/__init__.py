"""Runs on disk: plain data with a checksum, written whole or not at all, and taken up again to the last bit."""
