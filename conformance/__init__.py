"""The conformance suite for dialects."""
