"""Load generation: the engines that run a workload, and the checks of whether its figures are valid."""
