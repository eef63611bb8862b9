"""A mesh on a server: the same verbs over HTTP, the same errors, streams that resume."""

from hyphaedb.remote.mesh import RemoteMesh

__all__ = ["RemoteMesh"]
