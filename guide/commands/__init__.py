"""The commands of the live side, one file each; nothing else knows about terminals."""
