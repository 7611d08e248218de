"""Reading a YAML file of the specification: its source lines, inheritance, schema, and the message for a wrong one."""
