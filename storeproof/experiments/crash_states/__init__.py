"""Every state that a crash may have left of what a store did to its disk: recorded once, and each put under a start of the store."""
