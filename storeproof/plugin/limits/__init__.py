"""The time that a case, a stage and other plugins allow."""
