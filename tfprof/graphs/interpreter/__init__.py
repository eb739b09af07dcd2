"""What a program computes, worked out without running it."""
