-- The graph in bulk: whole columns come back as a few long byte strings that numpy reads in one
-- pass, because a hundred thousand rows through a driver cost seconds. A block is a walk along an
-- index, so nothing is sorted, and the server holds no more than one block.

-- name: graph_vectors
-- A block of linked cells of a layer with their vectors, in ordinal order.
SELECT string_agg(int4send(ordinal), ''), string_agg(uuid_send(cell_id), ''),
       string_agg(halfvec_send(e), '')
FROM (
    SELECT l.ordinal, l.cell_id, coalesce(v.e, f.e) AS e
    FROM (
        SELECT mesh_id, ordinal, cell_id FROM hyphaedb.link
        WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND ordinal > %(after)s::integer
        ORDER BY ordinal LIMIT {limit}
    ) l
    LEFT JOIN hyphaedb.cell_vector v ON v.mesh_id = l.mesh_id AND v.cell_id = l.cell_id
    LEFT JOIN hyphaedb.fresh_vector f ON f.mesh_id = l.mesh_id AND f.cell_id = l.cell_id
    ORDER BY l.ordinal
) b;

-- name: graph_links
-- A block of own links of a layer, in ordinal order.
SELECT string_agg(int4send(ordinal), ''),
       string_agg(int4send(cardinality(targets)), ''),
       string_agg(array_send(targets), ''), string_agg(array_send(costs), '')
FROM (
    SELECT ordinal, targets, costs FROM hyphaedb.link
    WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND ordinal > %(after)s::integer
    ORDER BY ordinal LIMIT {limit}
) b;

-- name: graph_standing
-- A block of what a wave must know of linked cells beyond their vectors, in ordinal order.
SELECT string_agg(int4send(ordinal), ''), string_agg(float4send(salience), ''),
       string_agg(float8send(used_at), ''), string_agg(boolsend(active), '')
FROM (
    SELECT l.ordinal, c.salience, extract(epoch FROM t.used_at)::double precision AS used_at,
           c.state = 'active' AS active
    FROM (
        SELECT mesh_id, ordinal, cell_id FROM hyphaedb.link
        WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND ordinal > %(after)s::integer
        ORDER BY ordinal LIMIT {limit}
    ) l
    JOIN hyphaedb.cell c ON c.mesh_id = l.mesh_id AND c.cell_id = l.cell_id
    JOIN hyphaedb.cell_stats t ON t.mesh_id = l.mesh_id AND t.cell_id = l.cell_id
    ORDER BY l.ordinal
) b;

-- name: graph_footprints
-- A block of a mesh's footprints, by holder and cell. The flags say created 1, recalled 2, used 4,
-- confirmed 8.
SELECT string_agg(uuid_send(holder_id), ''), string_agg(uuid_send(cell_id), ''),
       string_agg(int4send(day), ''), string_agg(int4send(flags), '')
FROM (
    SELECT holder_id, cell_id, day,
           (created_at IS NOT NULL)::integer + 2 * (recalled_at IS NOT NULL)::integer
           + 4 * (used_at IS NOT NULL)::integer + 8 * (confirmed_at IS NOT NULL)::integer AS flags
    FROM hyphaedb.footprint
    WHERE mesh_id = %(mesh_id)s
      AND (holder_id, cell_id) > (%(after_holder)s::uuid, %(after_cell)s::uuid)
    ORDER BY holder_id, cell_id LIMIT {limit}
) b;

-- name: links_insert
-- New cells' own links. A cell that is linked, or gone, is left out.
INSERT INTO hyphaedb.link (mesh_id, layer, ordinal, cell_id, targets, costs)
SELECT %(mesh_id)s::uuid, %(layer)s::smallint, g.ordinal, g.cell_id,
       (%(targets)s::integer[])[g.link_from + 1 : g.link_to],
       (%(costs)s::integer[])[g.link_from + 1 : g.link_to]
FROM unnest(%(ordinals)s::integer[], %(cell_ids)s::uuid[], %(link_froms)s::integer[],
            %(link_tos)s::integer[]) AS g (ordinal, cell_id, link_from, link_to)
JOIN hyphaedb.cell c ON c.mesh_id = %(mesh_id)s AND c.cell_id = g.cell_id
ON CONFLICT DO NOTHING;

-- name: edge_insert
-- Typed edges and bridges; one a pair and kind.
INSERT INTO hyphaedb.edge (mesh_id, edge_id, layer, src, dst, kind, omega, cost, bandwidth, bridge,
    created_at)
VALUES (%(mesh_id)s, %(edge_id)s, %(layer)s::smallint, %(src)s, %(dst)s, %(kind)s,
    %(omega)s::real, %(cost)s::integer, %(bandwidth)s::integer, %(bridge)s::boolean,
    %(now)s::timestamptz)
ON CONFLICT DO NOTHING;

-- name: edge_put
-- A typed edge between two cells; again for the same pair and kind it changes the weight.
INSERT INTO hyphaedb.edge (mesh_id, edge_id, layer, src, dst, kind, omega, cost, bandwidth, bridge,
    created_at)
VALUES (%(mesh_id)s, %(edge_id)s, %(layer)s::smallint, %(src)s, %(dst)s, %(kind)s,
    %(omega)s::real, %(cost)s::integer, %(bandwidth)s::integer, false, %(now)s::timestamptz)
ON CONFLICT (mesh_id, layer, src, dst, kind) DO UPDATE
SET omega = excluded.omega, cost = excluded.cost, bandwidth = excluded.bandwidth, bridge = false
RETURNING edge_id;

-- name: edges
-- All edges of a mesh.
SELECT edge_id, layer, src, dst, kind, omega, cost, bandwidth, bridge, created_at
FROM hyphaedb.edge WHERE mesh_id = %(mesh_id)s ORDER BY edge_id LIMIT %(limit)s::integer;

-- name: panel_put
-- A calibration panel; a version is drawn once.
INSERT INTO hyphaedb.panel (mesh_id, version, seed, cell_ids, drawn_from, created_at)
VALUES (%(mesh_id)s, %(version)s::integer, %(seed)s::bigint, %(cell_ids)s::uuid[],
    %(drawn_from)s::integer, %(now)s::timestamptz)
ON CONFLICT DO NOTHING;

-- name: panel
-- The latest panel.
SELECT version, seed, cell_ids, drawn_from, created_at FROM hyphaedb.panel
WHERE mesh_id = %(mesh_id)s ORDER BY version DESC LIMIT 1;

-- name: terms_count
-- Words of newly linked cells into the term statistics, in word order so that no two writers
-- wait for each other in a ring; the totals move with them.
WITH found AS (
    SELECT w.lexeme, count(*)::integer AS documents
    FROM hyphaedb.cell c CROSS JOIN LATERAL unnest(c.tsv) w
    WHERE c.mesh_id = %(mesh_id)s AND c.cell_id = ANY(%(cell_ids)s::uuid[])
    GROUP BY w.lexeme ORDER BY w.lexeme
), counted AS (
    INSERT INTO hyphaedb.term AS t (mesh_id, lexeme, documents)
    SELECT %(mesh_id)s::uuid, lexeme, documents FROM found
    ON CONFLICT (mesh_id, lexeme) DO UPDATE SET documents = t.documents + excluded.documents
), total AS (
    SELECT count(*) AS documents, coalesce(sum(lexemes), 0) AS lexemes FROM hyphaedb.cell
    WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
)
UPDATE hyphaedb.mesh_owner o
SET documents = o.documents + total.documents, lexemes = o.lexemes + total.lexemes
FROM total WHERE o.mesh_id = %(mesh_id)s;
