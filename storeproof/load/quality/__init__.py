"""Whether a figure is valid: the audit of the data, the ceiling of the load generator, the noise floor, the gates."""
