"""Reading what a model wrote: one grammar a file. No model output raises."""
