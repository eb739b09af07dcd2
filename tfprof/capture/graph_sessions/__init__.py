"""Programs that run TF1 sessions."""
