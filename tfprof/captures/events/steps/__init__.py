"""What a step is, and where its time goes."""
