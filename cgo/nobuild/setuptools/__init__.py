"""Shadows setuptools while pip downloads a source package; see ../mesonpy.py."""
