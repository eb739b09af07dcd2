"""Runs of many hosts: several processes or machines make parts, and tools answer from these."""
