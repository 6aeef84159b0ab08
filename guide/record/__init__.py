"""What a session leaves behind, and how others write it down."""
