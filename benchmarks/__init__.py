"""What the gate and the dialects cost, as ratios to what a harness pays anyway: `python -m benchmarks`."""
