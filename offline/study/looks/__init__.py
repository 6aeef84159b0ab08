"""What a second look, at where things move, tells of the steps."""
