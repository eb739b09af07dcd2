"""Results of tools in the form of the reference's JSON (xprof 2.24), if it is not only tables.

Each module has the name of a tool in ``tfprof.tools``, and a function ``to_json``, which takes the
data that the tool has computed (``run/reference_json.py``).
"""
