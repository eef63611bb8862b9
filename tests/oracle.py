"""The slow truth the protocol is held against: plain Python over dictionaries, whole numbers only.

Nothing here is fast and nothing is shared with the code under test. Graphs are
``links[v] = [(u, cost), ...]``, costs and energies in micro-units. ``relays(v)`` says whether v
passes on what it received; the origin always does.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence

Links = Mapping[int, Sequence[tuple[int, int]]]
Relays = Callable[[int], bool]


def everybody(_: int) -> bool:
    """A gate that is open."""
    return True


def algorithm_one(
    links: Links, origin: int, energy: int, hops_max: int, passes: Relays = everybody
) -> set[int]:
    """The paper's Algorithm 1 line by line; the visited set travels with each copy of the diff.

    ``passes`` is the gate of line 12, asked of the neighbour. Explodes beyond a dozen nodes.
    """
    delivered: set[int] = set()

    def propagate(node: int, left: int, hop: int, visited: frozenset[int]) -> None:
        if left <= 0 or hop >= hops_max or node in visited:
            return
        delivered.add(node)
        for neighbour, cost in links.get(node, ()):
            if neighbour in visited | {node}:
                continue
            if not passes(neighbour) or left < cost:
                continue
            propagate(neighbour, left - cost, hop + 1, visited | {node})

    propagate(origin, energy, 0, frozenset())
    return delivered


def cheapest_first(
    links: Links, origin: int, energy: int, relays: Relays = everybody
) -> list[tuple[int, int, int, int]]:
    """Dijkstra: (node, cost, hops, parent) by (cost, hops, node); among equals the lowest parent.

    The origin's parent is -1. No hop limit.
    """
    order: list[tuple[int, int, int, int]] = []
    seen: set[int] = set()
    queue = [(0, 0, origin, -1)] if energy > 0 else []
    while queue:
        cost, hops, node, parent = heapq.heappop(queue)
        if node in seen:
            continue
        seen.add(node)
        order.append((node, cost, hops, parent))
        if node != origin and not relays(node):
            continue
        for neighbour, price in links.get(node, ()):
            if neighbour not in seen and cost + price < energy:
                heapq.heappush(queue, (cost + price, hops + 1, neighbour, node))
    return order


def by_hop_count(
    links: Links, origin: int, energy: int, hops_max: int, relays: Relays = everybody
) -> dict[int, tuple[int, int]]:
    """Least cost of every node reached with at most ``hops_max - 1`` hops, and its fewest hops.

    One sweep a hop count over everything known so far: whatever the order, the least stays.
    """
    if energy <= 0 or hops_max < 1:
        return {}
    at: dict[int, int] = {origin: 0}  # least cost at exactly this hop count
    best = {origin: (0, 0)}
    for hops in range(1, hops_max):
        following: dict[int, int] = {}
        for node, cost in at.items():
            if node != origin and not relays(node):
                continue
            for neighbour, price in links.get(node, ()):
                arrival = cost + price
                if arrival < energy and arrival < following.get(neighbour, energy):
                    following[neighbour] = arrival
        for node, cost in following.items():
            best[node] = min(best.get(node, (cost, hops)), (cost, hops))
        at = following
    return best


def graph_of(
    own: Mapping[int, Mapping[int, int]],
    m: int,
    edges: Iterable[tuple[int, int, int]] = (),
) -> dict[int, list[tuple[int, int]]]:
    """The whole graph that follows from live own links ``own[v] = {u: cost}`` and edges.

    Own links; the m cheapest sources of each cell, then the lower one; a cell on the list of
    none of its targets goes onto the list of its cheapest; edges as they are.
    """
    sources: dict[int, list[tuple[int, int]]] = {v: [] for v in own}
    for v, targets in own.items():
        for u, cost in targets.items():
            sources[u].append((cost, v))
    lists = {u: sorted(entries)[:m] for u, entries in sources.items()}
    forced: dict[int, list[tuple[int, int]]] = {v: [] for v in own}
    for v, targets in own.items():
        if targets and not any((cost, v) in lists[u] for u, cost in targets.items()):
            cost, u = min((cost, u) for u, cost in targets.items())
            forced[u].append((cost, v))
    graph = {v: sorted(targets.items()) for v, targets in own.items()}
    for u, entries in lists.items():
        graph[u] += [(v, cost) for cost, v in entries + forced[u]]
    for source, target, cost in edges:
        graph[source].append((target, cost))
    return {v: sorted(ways) for v, ways in graph.items()}


def reached_from(links: Links, start: int) -> set[int]:
    """Everything some chain of links leads to from ``start``, itself included."""
    seen = {start}
    ahead = [start]
    while ahead:
        for neighbour, _ in links.get(ahead.pop(), ()):
            if neighbour not in seen:
                seen.add(neighbour)
                ahead.append(neighbour)
    return seen


def strong_components(links: Links) -> list[set[int]]:
    """Groups of nodes that all reach each other, by what each reaches and is reached from."""
    backward: dict[int, list[tuple[int, int]]] = {v: [] for v in links}
    for v, ways in links.items():
        for u, cost in ways:
            backward[u].append((v, cost))
    left = set(links)
    groups = []
    while left:
        node = min(left)
        group = reached_from(links, node) & reached_from(backward, node)
        groups.append(group)
        left -= group
    return groups
