"""Build entry. All metadata lives in pyproject.toml; a native extension will be declared here."""

from setuptools import setup

setup()
