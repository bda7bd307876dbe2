"""Stands in for the build backend of a source package while pip downloads it.

pip asks the backend for the metadata of a source package even if only the file
is wanted. The real backend would need compilers, BLAS and more downloads for
that; a source package carries its metadata in PKG-INFO already.
"""

import os
import shutil


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    fields = {}
    with open("PKG-INFO", encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():
                break
            key, separator, value = line.rstrip("\n").partition(": ")
            if separator:
                fields.setdefault(key, value)
    name = "%s-%s.dist-info" % (fields["Name"].replace("-", "_"), fields["Version"])
    os.makedirs(os.path.join(directory, name))
    shutil.copy("PKG-INFO", os.path.join(directory, name, "METADATA"))
    return name


def build_wheel(directory, config_settings=None, metadata_directory=None):
    raise SystemExit("this stand-in only answers for metadata; it builds nothing")


def build_sdist(directory, config_settings=None):
    raise SystemExit("this stand-in only answers for metadata; it builds nothing")
