"""Answers of tools in the form of the reference's JSON (xprof 2.24), where that is not just tables.

Each module has the name of a tool in ``tfprof.tools``, and ``to_json``, which takes what the tool
has worked out (``run/reference_json.py``).
"""
