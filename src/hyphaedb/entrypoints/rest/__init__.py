"""The HTTP face: one mesh verb a route, problem+json for every fault, streams that resume."""
