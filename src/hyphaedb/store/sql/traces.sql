-- What became of a diff: its wave, its deliveries, and who knows a cell.

-- name: wave
-- One wave's record.
SELECT settled, rounds, gate, truncated, shadow, hops, refused, graph_epoch, run_at
FROM hyphaedb.wave WHERE mesh_id = %(mesh_id)s AND diff_id = %(diff_id)s;

-- name: deliveries_of_diff
-- One diff's deliveries, best score first, with names.
SELECT d.diff_id, d.cell_id, d.agent_id, a.name, d.route, d.score, d.relevance, d.interest,
       d.energy, d.hops, d.path, d.energies, b.name, d.created_at, d.shadow
FROM hyphaedb.delivery d
JOIN hyphaedb.agent a ON a.mesh_id = d.mesh_id AND a.agent_id = d.agent_id
LEFT JOIN hyphaedb.beacon b ON b.mesh_id = d.mesh_id AND b.beacon_id = d.beacon_id
WHERE d.mesh_id = %(mesh_id)s AND d.diff_id = %(diff_id)s
ORDER BY d.score DESC, a.name LIMIT %(limit)s::integer;

-- name: delivered_pairs
-- Which agents have which diffs, for sweeps.
SELECT diff_id, agent_id FROM hyphaedb.delivery
WHERE mesh_id = %(mesh_id)s AND diff_id = ANY(%(diff_ids)s::uuid[])
LIMIT %(limit)s::integer;

-- name: delivered_since
-- How many deliveries each agent got since a moment: what its attention has left.
SELECT agent_id, count(*) FROM hyphaedb.delivery
WHERE mesh_id = %(mesh_id)s AND agent_id = ANY(%(agent_ids)s::uuid[])
  AND created_at > %(since)s::timestamptz AND NOT shadow
GROUP BY agent_id;

-- name: headlines
-- The first characters of cells, for paths.
SELECT cell_id, left(body, 200) FROM hyphaedb.cell
WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[]);

-- name: who_saw
-- Who knows a cell: the author, who got it, read it, recalled it or confirmed it.
SELECT a.name, x.delivered_at, x.read_at, f.recalled_at, f.confirmed_at, c.agent_id = a.agent_id
FROM hyphaedb.cell c
JOIN hyphaedb.agent a ON a.mesh_id = c.mesh_id
LEFT JOIN LATERAL (
    SELECT min(d.created_at) AS delivered_at, min(i.read_at) AS read_at
    FROM hyphaedb.delivery d
    LEFT JOIN hyphaedb.inbox i
        ON i.mesh_id = d.mesh_id AND i.agent_id = d.agent_id AND i.diff_id = d.diff_id
    WHERE d.mesh_id = c.mesh_id AND d.cell_id = c.cell_id AND d.agent_id = a.agent_id
      AND NOT d.shadow
) x ON true
LEFT JOIN hyphaedb.footprint f
    ON f.mesh_id = c.mesh_id AND f.cell_id = c.cell_id AND f.holder_id = a.holder_id
WHERE c.mesh_id = %(mesh_id)s AND c.cell_id = %(cell_id)s
  AND (c.agent_id = a.agent_id OR x.delivered_at IS NOT NULL OR f.recalled_at IS NOT NULL
       OR f.confirmed_at IS NOT NULL)
ORDER BY c.agent_id = a.agent_id DESC, a.name LIMIT %(limit)s::integer;

-- name: receipt
-- Which agents a diff was delivered to, and which of them have read it.
SELECT a.name, i.state = 'read' FROM hyphaedb.delivery d
JOIN hyphaedb.agent a ON a.mesh_id = d.mesh_id AND a.agent_id = d.agent_id
LEFT JOIN hyphaedb.inbox i
    ON i.mesh_id = d.mesh_id AND i.agent_id = d.agent_id AND i.diff_id = d.diff_id
WHERE d.mesh_id = %(mesh_id)s AND d.diff_id = %(diff_id)s AND NOT d.shadow
ORDER BY a.name LIMIT %(limit)s::integer;
