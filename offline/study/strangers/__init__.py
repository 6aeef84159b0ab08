"""What other light, gloves, the other hand and a tilted camera cost."""
