"""One grammar a file."""
