"""Opened profiles for assistants: small answers with units, through the Model Context Protocol."""
