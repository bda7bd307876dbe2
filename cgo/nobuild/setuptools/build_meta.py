"""The hooks of ../mesonpy.py under the name that qdldl asks for."""

from mesonpy import build_sdist, build_wheel, prepare_metadata_for_build_wheel

__all__ = ["build_sdist", "build_wheel", "prepare_metadata_for_build_wheel"]
