-- Recall's lists: nearest vectors and words, each cell with its worth and its place in the list;
-- facts.sql reads on from them. {layer}, {dimension} and {limit} are
-- literals: a parameter would lose the partial HNSW index, or its cost, under a generic plan.

-- name: search_nearest
-- The nearest cells that stand: through the index, and by an exact scan of the unindexed tail,
-- which holds nothing but what stands. The first condition widens the index search for this
-- statement; it is evaluated once, before the scan begins. The iterative scan goes on until
-- enough rows pass.
WITH near AS MATERIALIZED (
    SELECT v.cell_id,
           (v.e::halfvec({dimension})) <=> %(e)s::halfvec({dimension}) AS distance
    FROM hyphaedb.cell_vector v
    JOIN hyphaedb.cell c ON c.mesh_id = v.mesh_id AND c.cell_id = v.cell_id
    WHERE (SELECT set_config('hnsw.ef_search', '{ef}', true)) IS NOT NULL
      AND v.mesh_id = %(mesh_id)s AND v.layer = {layer} AND v.dimension = {dimension} {where}
    ORDER BY (v.e::halfvec({dimension})) <=> %(e)s::halfvec({dimension}) LIMIT {limit}
), tail AS MATERIALIZED (
    SELECT cell_id, e <=> %(e)s::halfvec AS distance
    FROM hyphaedb.fresh_vector
    WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND dimension = {dimension}
      AND (expires_at IS NULL OR expires_at > %(now)s::timestamptz)
    ORDER BY 2 LIMIT {limit}
)
SELECT cell_id, distance, row_number() OVER (ORDER BY distance, cell_id) AS place
FROM (SELECT * FROM near UNION ALL SELECT * FROM tail) x
ORDER BY place LIMIT {limit};

-- name: search_filtered
-- The same under any filter: the tail is sorted before it is joined with its cells, so that only
-- the best of it are looked up.
WITH near AS MATERIALIZED (
    SELECT v.cell_id,
           (v.e::halfvec({dimension})) <=> %(e)s::halfvec({dimension}) AS distance
    FROM hyphaedb.cell_vector v
    JOIN hyphaedb.cell c ON c.mesh_id = v.mesh_id AND c.cell_id = v.cell_id
    WHERE (SELECT set_config('hnsw.ef_search', '{ef}', true)) IS NOT NULL
      AND v.mesh_id = %(mesh_id)s AND v.layer = {layer} AND v.dimension = {dimension} {where}
    ORDER BY (v.e::halfvec({dimension})) <=> %(e)s::halfvec({dimension}) LIMIT {limit}
), tail AS MATERIALIZED (
    SELECT f.cell_id, f.distance
    FROM (
        SELECT mesh_id, cell_id, e <=> %(e)s::halfvec AS distance
        FROM hyphaedb.fresh_vector
        WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND dimension = {dimension}
        ORDER BY 3
    ) f
    JOIN hyphaedb.cell c ON c.mesh_id = f.mesh_id AND c.cell_id = f.cell_id
    WHERE c.mesh_id = %(mesh_id)s {where}
    ORDER BY f.distance LIMIT {limit}
)
SELECT cell_id, distance, row_number() OVER (ORDER BY distance, cell_id) AS place
FROM (SELECT * FROM near UNION ALL SELECT * FROM tail) x
ORDER BY place LIMIT {limit};

-- name: search_exact
-- The nearest among given cells, by their vectors alone.
SELECT cell_id, e <=> %(e)s::halfvec AS distance,
       row_number() OVER (ORDER BY e <=> %(e)s::halfvec, cell_id) AS place
FROM (
    SELECT cell_id, e FROM hyphaedb.cell_vector
    WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
      AND dimension = {dimension}
    UNION ALL
    SELECT cell_id, e FROM hyphaedb.fresh_vector
    WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
      AND dimension = {dimension}
) v
ORDER BY place LIMIT {limit};

-- name: search_scan
-- The slow truth of search_nearest: every vector of the mesh is measured. Without the cast that
-- the index is built over, no plan can use it.
SELECT cell_id, distance, row_number() OVER (ORDER BY distance, cell_id) AS place FROM (
SELECT c.cell_id, v.e <=> %(e)s::halfvec AS distance
FROM (
    SELECT mesh_id, cell_id, e FROM hyphaedb.cell_vector
    WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND dimension = {dimension}
    UNION ALL
    SELECT mesh_id, cell_id, e FROM hyphaedb.fresh_vector
    WHERE mesh_id = %(mesh_id)s AND layer = {layer} AND dimension = {dimension}
) v
JOIN hyphaedb.cell c ON c.mesh_id = v.mesh_id AND c.cell_id = v.cell_id
WHERE c.mesh_id = %(mesh_id)s {where}
ORDER BY distance, c.cell_id LIMIT {limit}
) x ORDER BY place;

-- name: search_matching
-- Cells that pass a filter, no more than the limit.
SELECT c.cell_id FROM hyphaedb.cell c
WHERE c.mesh_id = %(mesh_id)s AND c.layer = {layer} {where}
LIMIT {limit};

-- name: where_standing
-- Cells that stand now.
c.state = 'active' AND (c.expires_at IS NULL OR c.expires_at > %(now)s::timestamptz)

-- name: where_as_of
-- Cells that were valid at a moment, whatever became of them since.
c.valid_from <= %(as_of)s::timestamptz
AND (c.valid_to IS NULL OR c.valid_to > %(as_of)s::timestamptz)
AND (c.expires_at IS NULL OR c.expires_at > %(as_of)s::timestamptz)

-- name: where_types
-- Cells of any of these types.
c.type = ANY(%(types)s::text[])

-- name: where_tags
-- Cells that carry all of these tags.
c.tags <> '{}' AND c.tags @> %(tags)s::text[]

-- name: where_any_tag
-- Cells that carry one of these tags at least.
c.tags <> '{}' AND c.tags && %(any_tags)s::text[]

-- name: where_metadata
-- Cells whose metadata contain this.
c.metadata <> '{}' AND c.metadata @> %(metadata)s::jsonb

-- name: where_agents
-- Cells by any of these authors.
c.agent_id = ANY(%(agent_ids)s::uuid[])

-- name: where_session
-- Cells of any of these sessions.
c.session_id = ANY(%(session_ids)s::uuid[])

-- name: where_ref
-- Cells of this branch, commit or whatever the ref names.
c.ref = %(ref)s

-- name: where_since
-- Cells stored from a moment on.
c.created_at >= %(since)s::timestamptz

-- name: where_until
-- Cells stored before a moment.
c.created_at < %(until)s::timestamptz

-- name: filter_agents
-- Authors by name.
SELECT agent_id FROM hyphaedb.agent
WHERE mesh_id = %(mesh_id)s AND name = ANY(%(names)s::text[]);

-- name: filter_sessions
-- Sessions by name.
SELECT session_id FROM hyphaedb.session WHERE mesh_id = %(mesh_id)s AND name = %(name)s
LIMIT 100;

-- name: word_counts
-- The lexemes of a text, in how many linked cells each occurs, and the totals behind the counts.
-- Slashes are spaces here and where cells are stored: a ticket in a path is the ticket.
SELECT w.lexeme, coalesce(t.documents, 0), o.documents, o.lexemes
FROM hyphaedb.mesh_owner o
CROSS JOIN LATERAL unnest(to_tsvector('pg_catalog.english',
    translate(%(text)s::text, '/', ' '))) w
LEFT JOIN hyphaedb.term t ON t.mesh_id = o.mesh_id AND t.lexeme = w.lexeme
WHERE o.mesh_id = %(mesh_id)s
LIMIT 5000;

-- name: search_words
-- Cells read by a few lexemes and scored by all that count: weight times ts_rank, which grows
-- with how often a cell says a lexeme, from 0.61 towards 1. Long cells are damped a little.
WITH asked AS MATERIALIZED (
    SELECT a.lexeme::tsquery AS lexeme, a.weight
    FROM unnest(%(lexemes)s::text[], %(weights)s::double precision[]) AS a (lexeme, weight)
), scored AS (
    SELECT c.cell_id,
           s.covered / (1.0::double precision - %(share)s::double precision
               + %(share)s::double precision * c.lexemes / %(length)s::double precision)
               AS coverage
    FROM (
        SELECT c.cell_id, c.lexemes, c.tsv FROM hyphaedb.cell c
        WHERE c.mesh_id = %(mesh_id)s AND c.layer = {layer} AND c.tsv @@ %(seek)s::tsquery {where}
        LIMIT {rows}
    ) c
    CROSS JOIN LATERAL (
        SELECT sum(a.weight * ts_rank('{1,1,1,1}', c.tsv, a.lexeme)) FROM asked a
    ) s (covered)
)
SELECT cell_id, coverage, row_number() OVER (ORDER BY coverage DESC, cell_id) AS place
FROM scored ORDER BY place LIMIT {limit};

-- name: tail_drain
-- Move linked cells' vectors from the tail into the indexed table. A search sees each of them in
-- one place or the other, never in both and never in none. Cells are held before their vectors,
-- as erasing does; what somebody else is at work on is left for the next time.
WITH held AS MATERIALIZED (
    SELECT c.mesh_id, c.cell_id FROM hyphaedb.fresh_vector f
    JOIN hyphaedb.link l
        ON l.mesh_id = f.mesh_id AND l.layer = f.layer AND l.cell_id = f.cell_id
    JOIN hyphaedb.cell c ON c.mesh_id = f.mesh_id AND c.cell_id = f.cell_id
    WHERE f.mesh_id = %(mesh_id)s
    ORDER BY f.cell_id LIMIT %(limit)s::integer
    FOR KEY SHARE OF c SKIP LOCKED
), due AS MATERIALIZED (
    SELECT f.mesh_id, f.cell_id, f.model_id FROM held h
    JOIN hyphaedb.fresh_vector f ON f.mesh_id = h.mesh_id AND f.cell_id = h.cell_id
    FOR UPDATE OF f SKIP LOCKED
), moved AS (
    DELETE FROM hyphaedb.fresh_vector f USING due
    WHERE f.mesh_id = due.mesh_id AND f.cell_id = due.cell_id AND f.model_id = due.model_id
    RETURNING f.mesh_id, f.cell_id, f.model_id, f.layer, f.dimension, f.e
)
INSERT INTO hyphaedb.cell_vector (mesh_id, cell_id, model_id, layer, dimension, e)
SELECT mesh_id, cell_id, model_id, layer, dimension, e FROM moved
ON CONFLICT DO NOTHING;

-- name: tail_count
-- How many vectors are not indexed, counted no further than the limit.
SELECT count(*) FROM (
    SELECT 1 FROM hyphaedb.fresh_vector WHERE mesh_id = %(mesh_id)s
    LIMIT %(limit)s::integer) f;

-- name: indexed_count
-- How many vectors of a dimension are in the indexed table, counted no further than the limit.
SELECT count(*) FROM (
    SELECT 1 FROM hyphaedb.cell_vector WHERE dimension = %(dimension)s::smallint
    LIMIT %(limit)s::integer) v;
