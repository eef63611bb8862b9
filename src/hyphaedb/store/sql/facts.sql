-- What recall reads on from a list of search.sql, in the same statement: {found} is that list.

-- name: candidates
-- The cells of a list and the neighbours of its first ones, in their sessions and over their
-- links, each with what fusion must know: author, exact cosine, salience, days without use, and
-- whether it still stands. A cell comes once for each way to it. Vectors are found wherever they
-- are kept.
WITH found (cell_id, worth, place) AS MATERIALIZED ({found}), ways AS MATERIALIZED (
    SELECT place, 'list' AS way, 0 AS distance, cell_id, worth FROM found
    UNION ALL
    SELECT o.place, 'session', n.steps, n.cell_id, 0 FROM found o
    JOIN hyphaedb.cell c ON c.mesh_id = %(mesh_id)s AND c.cell_id = o.cell_id
    CROSS JOIN LATERAL (
        (SELECT p.cell_id, -(row_number() OVER (ORDER BY p.cell_id DESC))::integer AS steps
         FROM hyphaedb.cell p
         WHERE p.mesh_id = c.mesh_id AND p.session_id = c.session_id AND p.cell_id < c.cell_id
           AND p.state = 'active'
         ORDER BY p.cell_id DESC LIMIT %(session_width)s::integer)
        UNION ALL
        (SELECT p.cell_id, (row_number() OVER (ORDER BY p.cell_id))::integer
         FROM hyphaedb.cell p
         WHERE p.mesh_id = c.mesh_id AND p.session_id = c.session_id AND p.cell_id > c.cell_id
           AND p.state = 'active'
         ORDER BY p.cell_id LIMIT %(session_width)s::integer)
    ) n
    WHERE o.place <= %(session_seeds)s::integer AND c.session_id IS NOT NULL
    UNION ALL
    SELECT o.place, 'link', x.cost, t.cell_id, 0 FROM found o
    JOIN hyphaedb.link l
        ON l.mesh_id = %(mesh_id)s AND l.layer = {layer} AND l.cell_id = o.cell_id
    CROSS JOIN LATERAL (
        SELECT u.ordinal, u.cost FROM unnest(l.targets, l.costs) AS u (ordinal, cost)
        ORDER BY u.cost, u.ordinal LIMIT %(link_width)s::integer
    ) x
    JOIN hyphaedb.link t
        ON t.mesh_id = l.mesh_id AND t.layer = l.layer AND t.ordinal = x.ordinal
    WHERE o.place <= %(link_seeds)s::integer
)
SELECT w.place::integer, w.way, w.distance, c.cell_id, c.agent_id,
       1.0 - ((coalesce(v.e, f.e)::halfvec({dimension})) <=> %(e)s::halfvec({dimension})),
       w.worth, c.salience,
       extract(epoch FROM %(asked_at)s::timestamptz - s.used_at)::double precision / 86400.0,
       c.state = 'active'
FROM ways w
JOIN hyphaedb.cell c ON c.mesh_id = %(mesh_id)s AND c.cell_id = w.cell_id
JOIN hyphaedb.cell_stats s ON s.mesh_id = c.mesh_id AND s.cell_id = c.cell_id
LEFT JOIN hyphaedb.cell_vector v ON v.mesh_id = c.mesh_id AND v.cell_id = c.cell_id
LEFT JOIN hyphaedb.fresh_vector f ON f.mesh_id = c.mesh_id AND f.cell_id = c.cell_id
WHERE (v.cell_id IS NOT NULL OR f.cell_id IS NOT NULL) {where}
ORDER BY w.way = 'list' DESC, w.place;

-- name: found_cells
-- The cells of a list as query cells gives them, with their worth, in the list's order.
WITH found (cell_id, worth, place) AS MATERIALIZED ({found})
SELECT c.cell_id, c.agent_id, a.name, s.name, c.type, c.layer, c.body, c.tags, c.metadata, c.ref,
       c.salience, t.confidence, c.state, c.created_at, c.valid_from, c.valid_to, c.expires_at,
       t.confirmations, c.replaces, c.sources, o.worth
FROM found o
JOIN hyphaedb.cell c ON c.mesh_id = %(mesh_id)s AND c.cell_id = o.cell_id
JOIN hyphaedb.cell_stats t ON t.mesh_id = c.mesh_id AND t.cell_id = c.cell_id
JOIN hyphaedb.agent a ON a.mesh_id = c.mesh_id AND a.agent_id = c.agent_id
LEFT JOIN hyphaedb.session s ON s.mesh_id = c.mesh_id AND s.session_id = c.session_id
ORDER BY o.place;
