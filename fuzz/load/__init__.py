"""Servers under load: crowds, rude and hostile clients, and a day of requests."""
