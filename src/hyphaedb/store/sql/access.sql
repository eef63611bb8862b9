-- Meshes, their models and mutes.

-- name: model_add
-- A model by name and dimension, once.
INSERT INTO hyphaedb.model (model_id, name, dimension, created_at)
VALUES (%(model_id)s::uuid, %(name)s, %(dimension)s::smallint, %(now)s::timestamptz)
ON CONFLICT (name, dimension) DO NOTHING;

-- name: mesh_add
-- A mesh and the row its owner will hold; no row where the name is taken.
WITH m AS (
    INSERT INTO hyphaedb.mesh (mesh_id, name, model_id, settings, paused, shadow, created_at)
    SELECT %(mesh_id)s::uuid, %(name)s, o.model_id, %(settings)s::jsonb, false, false,
           %(now)s::timestamptz
    FROM hyphaedb.model o WHERE o.name = %(model)s AND o.dimension = %(dimension)s::smallint
    ON CONFLICT (name) DO NOTHING
    RETURNING mesh_id
)
INSERT INTO hyphaedb.mesh_owner (mesh_id, epoch, seq, dot, next_ordinal, graph_epoch, documents,
    lexemes)
SELECT mesh_id, 0, 0, 0, 0, 0, 0, 0 FROM m;

-- name: mesh_by_name
-- One mesh with its model and settings.
SELECT m.mesh_id, m.name, o.name, o.dimension, m.created_at, m.paused, m.shadow, m.model_id,
       m.settings
FROM hyphaedb.mesh m JOIN hyphaedb.model o ON o.model_id = m.model_id
WHERE m.name = %(name)s;

-- name: mesh_by_id
-- The same by id.
SELECT m.mesh_id, m.name, o.name, o.dimension, m.created_at, m.paused, m.shadow, m.model_id,
       m.settings
FROM hyphaedb.mesh m JOIN hyphaedb.model o ON o.model_id = m.model_id
WHERE m.mesh_id = %(mesh_id)s;

-- name: meshes
-- Meshes by name, a page.
SELECT m.mesh_id, m.name, o.name, o.dimension, m.created_at, m.paused, m.shadow, m.model_id,
       m.settings
FROM hyphaedb.mesh m JOIN hyphaedb.model o ON o.model_id = m.model_id
WHERE m.name > %(after)s ORDER BY m.name LIMIT %(limit)s::integer;

-- name: mesh_steer
-- Pause or shadow a mesh; what is not given stays.
UPDATE hyphaedb.mesh SET paused = coalesce(%(paused)s::boolean, paused),
    shadow = coalesce(%(shadow)s::boolean, shadow)
WHERE mesh_id = %(mesh_id)s;

-- name: mute_add
-- Silence an agent's inbox, an author or a type.
INSERT INTO hyphaedb.mute (mesh_id, kind, subject, created_at)
VALUES (%(mesh_id)s, %(kind)s, %(subject)s, %(now)s::timestamptz)
ON CONFLICT DO NOTHING;

-- name: mute_remove
-- Lift a mute.
DELETE FROM hyphaedb.mute
WHERE mesh_id = %(mesh_id)s AND kind = %(kind)s AND subject = %(subject)s;

-- name: mutes
-- What is silenced.
SELECT kind, subject FROM hyphaedb.mute WHERE mesh_id = %(mesh_id)s
ORDER BY kind, subject LIMIT %(limit)s::integer;

-- name: vector_indexes
-- The HNSW indexes there are, by name, and whether each is usable.
SELECT c.relname, i.indisvalid FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'hyphaedb' AND c.relname ~ '^cell_vector_l[0-9]+_d[0-9]+$'
ORDER BY c.relname;

-- name: mesh_counts
-- Gauges of one mesh that have to be counted.
SELECT (SELECT count(*) FROM hyphaedb.cell WHERE mesh_id = %(mesh_id)s),
       (SELECT count(*) FROM hyphaedb.agent WHERE mesh_id = %(mesh_id)s AND retired_at IS NULL),
       (SELECT count(*) FROM hyphaedb.beacon WHERE mesh_id = %(mesh_id)s),
       (SELECT count(*) FROM hyphaedb.fresh_vector WHERE mesh_id = %(mesh_id)s),
       (SELECT count(*) FROM hyphaedb.diff WHERE mesh_id = %(mesh_id)s AND state = 'pending'),
       (SELECT count(*) FROM hyphaedb.diff WHERE mesh_id = %(mesh_id)s AND state = 'dead'),
       (SELECT count(*) FROM hyphaedb.delivery WHERE mesh_id = %(mesh_id)s),
       (SELECT count(*) FROM hyphaedb.inbox WHERE mesh_id = %(mesh_id)s AND state <> 'read'
          AND expires_at > %(now)s::timestamptz);

-- name: drop_cells
-- Some of a mesh's cells; what hangs on them goes with them by foreign keys. Locked in the order
-- of ids, as everybody locks cells, or a reader and an erasing wait for each other in a ring.
DELETE FROM hyphaedb.cell WHERE mesh_id = %(mesh_id)s AND cell_id = ANY(ARRAY(
    SELECT cell_id FROM hyphaedb.cell WHERE mesh_id = %(mesh_id)s
    ORDER BY cell_id LIMIT %(limit)s::integer FOR UPDATE));

-- name: drop_principals
-- Some of those who take part, with their agents and beacons.
DELETE FROM hyphaedb.principal WHERE mesh_id = %(mesh_id)s AND principal_id = ANY(ARRAY(
    SELECT principal_id FROM hyphaedb.principal WHERE mesh_id = %(mesh_id)s
    ORDER BY principal_id LIMIT %(limit)s::integer FOR UPDATE));

-- name: drop_terms
-- Some of the counted words.
DELETE FROM hyphaedb.term WHERE mesh_id = %(mesh_id)s AND lexeme = ANY(ARRAY(
    SELECT lexeme FROM hyphaedb.term WHERE mesh_id = %(mesh_id)s
    ORDER BY lexeme LIMIT %(limit)s::integer FOR UPDATE));

-- name: drop_sessions
-- Some of the sessions.
DELETE FROM hyphaedb.session WHERE mesh_id = %(mesh_id)s AND session_id = ANY(ARRAY(
    SELECT session_id FROM hyphaedb.session WHERE mesh_id = %(mesh_id)s
    ORDER BY session_id LIMIT %(limit)s::integer FOR UPDATE));

-- name: drop_answers
-- Some of the answers kept for repeated requests.
DELETE FROM hyphaedb.idempotency WHERE mesh_id = %(mesh_id)s AND (scope, key) IN (
    SELECT scope, key FROM hyphaedb.idempotency WHERE mesh_id = %(mesh_id)s
    ORDER BY scope, key LIMIT %(limit)s::integer);

-- name: drop_mesh
-- The mesh itself with the little that is left of it.
DELETE FROM hyphaedb.mesh WHERE mesh_id = %(mesh_id)s;
