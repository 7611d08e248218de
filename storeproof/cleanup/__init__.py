"""What a run makes is removed on every way out, and what killed runs left is removed by the next one."""
