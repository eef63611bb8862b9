-- What fusion must know of its candidates.

-- name: candidate_facts
-- Candidates that pass the filter: author, exact distance to the query, salience, last use, and
-- whether they still stand. Vectors are found wherever they are kept.
SELECT c.cell_id, c.agent_id,
       (coalesce(v.e, f.e)::halfvec({dimension})) <=> %(e)s::halfvec({dimension}),
       c.salience, s.used_at, c.state = 'active'
FROM hyphaedb.cell c
JOIN hyphaedb.cell_stats s ON s.mesh_id = c.mesh_id AND s.cell_id = c.cell_id
LEFT JOIN hyphaedb.cell_vector v ON v.mesh_id = c.mesh_id AND v.cell_id = c.cell_id
LEFT JOIN hyphaedb.fresh_vector f ON f.mesh_id = c.mesh_id AND f.cell_id = c.cell_id
WHERE c.mesh_id = %(mesh_id)s AND c.cell_id = ANY(%(cell_ids)s::uuid[])
  AND (v.cell_id IS NOT NULL OR f.cell_id IS NOT NULL) {where};
