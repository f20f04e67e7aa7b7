"""The low-bit copy of the target: levels, packing, kernels, building."""
