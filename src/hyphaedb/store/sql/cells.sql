-- Cells: written once, confirmed, closed; and what hangs on them.

-- name: cell_insert
-- The whole acknowledged store in one statement and one commit: cell, statistics, vector in the
-- unindexed tail, the author's footprint, the session and the diff. No row comes back where an
-- active cell already says the same.
WITH c AS (
    INSERT INTO hyphaedb.cell (mesh_id, cell_id, layer, type, body, agent_id, principal_id,
        session_id, tags, metadata, ref, salience, confidence, standing, state, content_hash,
        windows, replaces, sources, lexemes, tsv, created_at, valid_from, expires_at)
    SELECT %(mesh_id)s::uuid, %(cell_id)s::uuid, %(layer)s::smallint, %(type)s, %(body)s,
        %(agent_id)s::uuid, %(principal_id)s::uuid, %(session_id)s::uuid, %(tags)s::text[],
        %(metadata)s::jsonb, %(ref)s, %(salience)s::real, %(confidence)s::real, %(standing)s,
        'active', %(content_hash)s::bytea, %(windows)s::smallint, %(replaces)s::uuid,
        %(sources)s::uuid[], length(t.tsv), t.tsv, %(created_at)s::timestamptz,
        %(valid_from)s::timestamptz, %(expires_at)s::timestamptz
    FROM (SELECT to_tsvector('pg_catalog.english',
        translate(%(body)s::text || ' ' || %(words)s::text, '/', ' '))) t (tsv)
    ON CONFLICT (mesh_id, layer, content_hash) WHERE state = 'active' DO NOTHING
    RETURNING mesh_id, cell_id
), stats AS (
    INSERT INTO hyphaedb.cell_stats (mesh_id, cell_id, confidence, recalls, confirmations, used_at)
    SELECT mesh_id, cell_id, %(confidence)s::real, 0, 0, %(created_at)s::timestamptz FROM c
), vector AS (
    INSERT INTO hyphaedb.fresh_vector (mesh_id, cell_id, model_id, layer, dimension, expires_at, e)
    SELECT mesh_id, cell_id, %(model_id)s::uuid, %(layer)s::smallint, %(dimension)s::smallint,
        %(expires_at)s::timestamptz, %(e)s::halfvec FROM c
), foot AS (
    INSERT INTO hyphaedb.footprint (mesh_id, holder_id, cell_id, day, created_at)
    SELECT mesh_id, %(holder_id)s::uuid, cell_id, %(day)s::integer, %(created_at)s::timestamptz
    FROM c
), place AS (
    INSERT INTO hyphaedb.session (mesh_id, session_id, name, agent_id, started_at)
    SELECT mesh_id, %(session_id)s::uuid, %(session)s, %(agent_id)s::uuid,
        %(created_at)s::timestamptz
    FROM c WHERE %(session_id)s::uuid IS NOT NULL
    ON CONFLICT DO NOTHING
), news AS (
    INSERT INTO hyphaedb.diff (mesh_id, diff_id, kind, cell_id, about, layer, generation, cause,
        agent_id, energy, state, attempt, next_at, created_at, expires_at)
    SELECT mesh_id, %(diff_id)s::uuid, %(diff_kind)s::text, cell_id, %(about)s::uuid,
        %(layer)s::smallint, %(generation)s::smallint, %(cause)s, %(agent_id)s::uuid,
        %(energy)s::integer, 'pending', 0, %(created_at)s::timestamptz,
        %(created_at)s::timestamptz, %(diff_expires_at)s::timestamptz
    FROM c WHERE %(diff_id)s::uuid IS NOT NULL
)
SELECT cell_id FROM c;

-- name: cell_same
-- The active cell that already says this, with its author.
SELECT cell_id, agent_id FROM hyphaedb.cell
WHERE mesh_id = %(mesh_id)s AND layer = %(layer)s::smallint
  AND content_hash = %(content_hash)s::bytea AND state = 'active';

-- name: cells
-- Cells by id, in the order asked, with author, session and statistics.
SELECT c.cell_id, c.agent_id, a.name, s.name, c.type, c.layer, c.body, c.tags, c.metadata, c.ref,
       c.salience, t.confidence, c.state, c.created_at, c.valid_from, c.valid_to, c.expires_at,
       t.confirmations, c.replaces, c.sources,
       a.holder_id, c.principal_id, c.session_id, c.standing, c.windows, c.lexemes, t.recalls,
       t.recalled_at, t.used_at
FROM unnest(%(cell_ids)s::uuid[]) WITH ORDINALITY AS x (cell_id, place)
JOIN hyphaedb.cell c ON c.mesh_id = %(mesh_id)s AND c.cell_id = x.cell_id
JOIN hyphaedb.cell_stats t ON t.mesh_id = c.mesh_id AND t.cell_id = c.cell_id
JOIN hyphaedb.agent a ON a.mesh_id = c.mesh_id AND a.agent_id = c.agent_id
LEFT JOIN hyphaedb.session s ON s.mesh_id = c.mesh_id AND s.session_id = c.session_id
ORDER BY x.place;

-- name: cell_vectors
-- Vectors of cells by id, wherever they are kept.
SELECT cell_id, e FROM hyphaedb.cell_vector
WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
UNION ALL
SELECT cell_id, e FROM hyphaedb.fresh_vector
WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[]);

-- name: cell_hold
-- Keep cells from being erased until this transaction ends; says which are still there.
SELECT cell_id FROM hyphaedb.cell
WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
ORDER BY cell_id FOR KEY SHARE;

-- name: cell_hold_touch
-- The same with their statistics, for a transaction that touches several cells one after another.
WITH held AS MATERIALIZED (
    SELECT cell_id FROM hyphaedb.cell
    WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
    ORDER BY cell_id FOR KEY SHARE
)
SELECT t.cell_id FROM held h
JOIN hyphaedb.cell_stats t ON t.mesh_id = %(mesh_id)s AND t.cell_id = h.cell_id
ORDER BY t.cell_id FOR UPDATE OF t;

-- name: cell_confirm
-- A holder vouches for a cell. Counts once a holder, never for the author's own. Locks as every
-- statement about a cell does, cell, statistics, footprint, so that none waits in a ring.
WITH held AS MATERIALIZED (
    SELECT mesh_id, cell_id FROM hyphaedb.cell
    WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s FOR KEY SHARE
), s AS MATERIALIZED (
    SELECT t.mesh_id, t.cell_id FROM held h
    JOIN hyphaedb.cell_stats t ON t.mesh_id = h.mesh_id AND t.cell_id = h.cell_id
    FOR UPDATE OF t
), f AS (
    INSERT INTO hyphaedb.footprint AS p (mesh_id, holder_id, cell_id, day, confirmed_at)
    SELECT s.mesh_id, %(holder_id)s::uuid, s.cell_id, %(day)s::integer, %(now)s::timestamptz
    FROM s
    ON CONFLICT (mesh_id, holder_id, cell_id) DO UPDATE
    SET confirmed_at = excluded.confirmed_at, day = greatest(p.day, excluded.day)
    WHERE p.confirmed_at IS NULL AND p.created_at IS NULL
    RETURNING mesh_id, cell_id
)
UPDATE hyphaedb.cell_stats s
SET confirmations = s.confirmations + 1, used_at = %(now)s::timestamptz
FROM f WHERE s.mesh_id = f.mesh_id AND s.cell_id = f.cell_id;

-- name: cell_close
-- End an active cell's validity: superseded or retracted. No row where it no longer stood. Its
-- vector leaves the tail, which holds nothing but what stands.
WITH c AS (
    UPDATE hyphaedb.cell SET state = %(state)s, valid_to = %(now)s::timestamptz
    WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s AND state = 'active'
    RETURNING mesh_id, cell_id
), moved AS (
    DELETE FROM hyphaedb.fresh_vector f USING c
    WHERE f.mesh_id = c.mesh_id AND f.cell_id = c.cell_id
    RETURNING f.mesh_id, f.cell_id, f.model_id, f.layer, f.dimension, f.e
), kept AS (
    INSERT INTO hyphaedb.cell_vector (mesh_id, cell_id, model_id, layer, dimension, e)
    SELECT mesh_id, cell_id, model_id, layer, dimension, e FROM moved
    ON CONFLICT DO NOTHING
)
SELECT cell_id FROM c;

-- name: cell_touch
-- Recalled cells: counted, and left in the reader's footprint. Locks cells, statistics and
-- footprints, in this order and by id, so that neither two readers nor a reader and an erasing
-- wait for each other in a ring.
WITH held AS MATERIALIZED (
    SELECT cell_id FROM hyphaedb.cell
    WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
    ORDER BY cell_id FOR KEY SHARE
), s AS MATERIALIZED (
    SELECT t.cell_id FROM held h
    JOIN hyphaedb.cell_stats t ON t.mesh_id = %(mesh_id)s AND t.cell_id = h.cell_id
    ORDER BY t.cell_id FOR UPDATE OF t
), u AS (
    UPDATE hyphaedb.cell_stats t SET recalls = t.recalls + 1, recalled_at = %(now)s::timestamptz
    FROM s WHERE t.mesh_id = %(mesh_id)s AND t.cell_id = s.cell_id
)
INSERT INTO hyphaedb.footprint AS p (mesh_id, holder_id, cell_id, day, recalled_at, recalled_in)
SELECT %(mesh_id)s::uuid, %(holder_id)s::uuid, s.cell_id, %(day)s::integer,
       %(now)s::timestamptz, %(session_id)s::uuid
FROM s ORDER BY s.cell_id
ON CONFLICT (mesh_id, holder_id, cell_id) DO UPDATE
SET recalled_at = excluded.recalled_at, recalled_in = excluded.recalled_in,
    day = greatest(p.day, excluded.day);

-- name: cell_used
-- Cells a holder cited or stored upon: the mark that keeps salience from fading.
WITH held AS MATERIALIZED (
    SELECT cell_id FROM hyphaedb.cell
    WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(%(cell_ids)s::uuid[])
    ORDER BY cell_id FOR KEY SHARE
), s AS MATERIALIZED (
    SELECT t.cell_id FROM held h
    JOIN hyphaedb.cell_stats t ON t.mesh_id = %(mesh_id)s AND t.cell_id = h.cell_id
    ORDER BY t.cell_id FOR UPDATE OF t
), u AS (
    UPDATE hyphaedb.cell_stats t SET used_at = %(now)s::timestamptz
    FROM s WHERE t.mesh_id = %(mesh_id)s AND t.cell_id = s.cell_id
)
INSERT INTO hyphaedb.footprint AS p (mesh_id, holder_id, cell_id, day, used_at)
SELECT %(mesh_id)s::uuid, %(holder_id)s::uuid, s.cell_id, %(day)s::integer, %(now)s::timestamptz
FROM s ORDER BY s.cell_id
ON CONFLICT (mesh_id, holder_id, cell_id) DO UPDATE
SET used_at = excluded.used_at, day = greatest(p.day, excluded.day);

-- name: cell_footprints
-- Who touched a cell and how, oldest first.
SELECT holder_id, cell_id, day, created_at, recalled_at, used_at, confirmed_at, recalled_in
FROM hyphaedb.footprint
WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s
ORDER BY holder_id LIMIT %(limit)s::integer;

-- name: answer_get
-- The answer a key was given before.
SELECT request_hash, answer FROM hyphaedb.idempotency
WHERE mesh_id = %(mesh_id)s AND scope = %(scope)s AND key = %(key)s;

-- name: answer_put
-- Keep an answer under its key; no row where there is one.
INSERT INTO hyphaedb.idempotency (mesh_id, scope, key, request_hash, answer, created_at)
VALUES (%(mesh_id)s, %(scope)s, %(key)s, %(request_hash)s::bytea, %(answer)s::jsonb,
        %(now)s::timestamptz)
ON CONFLICT DO NOTHING;

-- name: answers_expire
-- Drop old answers, a batch at a time.
DELETE FROM hyphaedb.idempotency
WHERE mesh_id = %(mesh_id)s AND (scope, key) IN (
    SELECT scope, key FROM hyphaedb.idempotency
    WHERE mesh_id = %(mesh_id)s AND created_at < %(before)s::timestamptz
    ORDER BY created_at LIMIT %(limit)s::integer);
