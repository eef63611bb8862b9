"""The service object and the composition root; every face imports from here."""

from hyphaedb.mesh.home import Home, Wiring
from hyphaedb.mesh.opening import open_mesh
from hyphaedb.mesh.service import Mesh

__all__ = ["Home", "Mesh", "Wiring", "open_mesh"]
