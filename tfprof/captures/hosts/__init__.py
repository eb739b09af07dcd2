"""Runs of many hosts: parts made by several processes or machines, and answers from them."""
