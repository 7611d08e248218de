"""What the stores with a log have in common, whatever they lie about."""
