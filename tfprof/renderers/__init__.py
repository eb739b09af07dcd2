"""Answers as text for people. A renderer turns plain data into text and computes nothing."""
