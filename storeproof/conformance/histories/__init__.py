"""What the histories in a bundle show when they are judged again, and whether they can be those of a run."""
