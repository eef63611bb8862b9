-- The delivery log as the engine asks it: who has heard of a cell, and how much somebody got.

-- name: recipients
-- Live agents that received any diff of a cell, or touched it themselves.
SELECT a.agent_id FROM hyphaedb.agent a
WHERE a.mesh_id = %(mesh_id)s AND a.retired_at IS NULL AND (
    EXISTS (SELECT 1 FROM hyphaedb.delivery d
            WHERE d.mesh_id = a.mesh_id AND d.cell_id = %(cell_id)s AND d.agent_id = a.agent_id
              AND NOT d.shadow)
    OR EXISTS (SELECT 1 FROM hyphaedb.footprint f
               WHERE f.mesh_id = a.mesh_id AND f.cell_id = %(cell_id)s
                 AND f.holder_id = a.holder_id))
ORDER BY a.agent_id LIMIT %(limit)s::integer;

-- name: deliveries_count
-- Deliveries of a cell's diffs.
SELECT count(*) FROM hyphaedb.delivery WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s;

-- name: swept_count
-- Deliveries that sweeps added.
SELECT count(*) FROM hyphaedb.delivery WHERE mesh_id = %(mesh_id)s AND route = 'sweep';

-- name: past_counts
-- What sweeps brought each agent from before it registered.
SELECT d.agent_id, count(*) FROM hyphaedb.delivery d
JOIN hyphaedb.agent a ON a.mesh_id = d.mesh_id AND a.agent_id = d.agent_id
JOIN hyphaedb.diff f ON f.mesh_id = d.mesh_id AND f.diff_id = d.diff_id
WHERE d.mesh_id = %(mesh_id)s AND d.route = 'sweep' AND f.created_at < a.registered_at
GROUP BY d.agent_id;

-- name: diffs_hold
-- Keep diffs from being erased until this transaction ends; says which are still there.
SELECT diff_id FROM hyphaedb.diff
WHERE mesh_id = %(mesh_id)s AND diff_id = ANY(%(diff_ids)s::uuid[])
ORDER BY diff_id FOR KEY SHARE;
