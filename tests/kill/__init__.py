"""Every writing command, killed at every step that changes the disk, and then run again."""
