"""Placeholder until the package's own module lands."""
