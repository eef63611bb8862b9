"""A mesh on a server: the same verbs over HTTP, the same errors, streams that resume."""
