"""Whether a number can be believed: the audit of the data, the ceiling of the load generator, the noise floor, the gates."""
