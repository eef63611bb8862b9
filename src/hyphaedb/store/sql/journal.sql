-- The journal: diffs, waves, deliveries.

-- name: fence
-- The first statement of every transaction of an owner: it locks the owner's row, moves the
-- counters and says where they stood. No row means that another worker owns the mesh.
UPDATE hyphaedb.mesh_owner
SET seq = seq + %(seq)s::bigint, dot = dot + %(dots)s::bigint,
    next_ordinal = next_ordinal + %(ordinals)s::integer,
    graph_epoch = graph_epoch + %(graph_epochs)s::bigint
WHERE mesh_id = %(mesh_id)s AND epoch = %(epoch)s::bigint
RETURNING seq - %(seq)s::bigint, dot - %(dots)s::bigint,
    next_ordinal - %(ordinals)s::integer, graph_epoch;

-- name: diff_append
-- A diff waits for its wave; no row where its cause has made one already.
INSERT INTO hyphaedb.diff (mesh_id, diff_id, kind, cell_id, about, layer, generation, cause,
    agent_id, energy, state, attempt, next_at, created_at, expires_at, reason)
VALUES (%(mesh_id)s, %(diff_id)s, %(kind)s, %(cell_id)s, %(about)s::uuid, %(layer)s::smallint,
    %(generation)s::smallint, %(cause)s, %(agent_id)s, %(energy)s::integer, 'pending', 0,
    %(created_at)s::timestamptz, %(created_at)s::timestamptz, %(expires_at)s::timestamptz,
    %(reason)s)
ON CONFLICT DO NOTHING;

-- name: diffs
-- Diffs with everything a wave needs to know. Each table is asked by its key, one row a diff, and
-- OFFSET or LIMIT says so: to weigh all orders in which seven tables can be joined costs the server
-- 7 ms a look, ten times as much as the look itself.
SELECT d.diff_id, d.kind, d.cell_id, d.about, d.layer, d.generation, d.cause, d.agent_id, b.name,
       b.holder_id, d.energy, d.attempt, d.created_at, d.expires_at,
       c.type, c.salience, c.tags, c.ref, c.state, c.agent_id, a.name, a.holder_id,
       c.principal_id, c.session_id, c.sources, c.replaces, c.lexemes, c.created_at, c.expires_at,
       (SELECT l.ordinal FROM hyphaedb.link l
        WHERE l.mesh_id = d.mesh_id AND l.layer = d.layer AND l.cell_id = d.cell_id),
       f.e IS NOT NULL,
       ARRAY(SELECT p.cell_id FROM hyphaedb.footprint p
             WHERE p.mesh_id = d.mesh_id AND p.holder_id = b.holder_id
               AND p.recalled_in = c.session_id LIMIT 500),
       coalesce(f.e, (SELECT v.e FROM hyphaedb.cell_vector v
                      WHERE v.mesh_id = d.mesh_id AND v.cell_id = d.cell_id LIMIT 1)),
       d.state, d.next_at, d.dot
FROM (
    SELECT * FROM hyphaedb.diff WHERE mesh_id = %(mesh_id)s {where}
) d
CROSS JOIN LATERAL (
    SELECT * FROM hyphaedb.cell x
    WHERE x.mesh_id = d.mesh_id AND x.cell_id = d.cell_id OFFSET 0
) c
CROSS JOIN LATERAL (
    SELECT x.name, x.holder_id FROM hyphaedb.agent x
    WHERE x.mesh_id = c.mesh_id AND x.agent_id = c.agent_id OFFSET 0
) a
CROSS JOIN LATERAL (
    SELECT x.name, x.holder_id FROM hyphaedb.agent x
    WHERE x.mesh_id = d.mesh_id AND x.agent_id = d.agent_id OFFSET 0
) b
LEFT JOIN LATERAL (
    SELECT x.e FROM hyphaedb.fresh_vector x
    WHERE x.mesh_id = d.mesh_id AND x.cell_id = d.cell_id LIMIT 1
) f ON true;

-- name: where_waiting
-- Diffs whose time has come. Only a failed one has to wait: whoever stored a new one may have a
-- clock ahead of the worker's, or one that was set back since.
state = 'pending' AND (attempt = 0 OR next_at <= %(now)s::timestamptz)
ORDER BY next_at, diff_id LIMIT %(limit)s::integer

-- name: where_live
-- Settled diffs that have not expired, those behind a dot.
state = 'done' AND dot > %(after)s::bigint AND expires_at > %(now)s::timestamptz
ORDER BY dot LIMIT %(limit)s::integer

-- name: pending_count
-- How many diffs wait, counted no further than the limit.
SELECT count(*) FROM (
    SELECT 1 FROM hyphaedb.diff WHERE mesh_id = %(mesh_id)s AND state = 'pending'
    LIMIT %(limit)s::integer) p;

-- name: waves_record
-- What waves found; a replay finds the same and changes nothing.
INSERT INTO hyphaedb.wave (mesh_id, diff_id, settled, rounds, gate, truncated, shadow, hops,
    refused, graph_epoch, run_at)
SELECT %(mesh_id)s::uuid, w.*
FROM unnest(%(diff_ids)s::uuid[], %(settleds)s::integer[], %(rounds)s::integer[],
            %(gates)s::integer[], %(truncateds)s::text[], %(shadows)s::boolean[],
            %(hops)s::jsonb[], %(refused)s::jsonb[], %(graph_epochs)s::bigint[],
            %(run_ats)s::timestamptz[]) w
ON CONFLICT (mesh_id, diff_id) DO UPDATE
SET settled = excluded.settled, rounds = excluded.rounds, gate = excluded.gate,
    truncated = excluded.truncated, shadow = excluded.shadow, hops = excluded.hops,
    refused = excluded.refused, graph_epoch = excluded.graph_epoch, run_at = excluded.run_at;

-- name: deliveries_record
-- Deliveries and their inbox rows in one statement. What an agent has of a diff already is left
-- as it is, so a replay writes nothing; a shadow delivery has no inbox row. Paths arrive end to
-- end in two arrays, each row says where its own ends.
WITH given AS (
    SELECT g.*, (%(paths)s::uuid[])[g.path_from + 1 : g.path_to] AS path,
           (%(path_energies)s::integer[])[g.path_from + 1 : g.path_to] AS energies
    FROM unnest(%(diff_ids)s::uuid[], %(agent_ids)s::uuid[], %(cell_ids)s::uuid[],
                %(routes)s::text[], %(scores)s::integer[], %(relevances)s::integer[],
                %(interests)s::integer[], %(energies)s::integer[], %(hops)s::smallint[],
                %(path_froms)s::integer[], %(path_tos)s::integer[], %(beacon_ids)s::uuid[],
                %(shadows)s::boolean[], %(expires)s::timestamptz[]) WITH ORDINALITY
         AS g (diff_id, agent_id, cell_id, route, score, relevance, interest, energy, hops,
               path_from, path_to, beacon_id, shadow, expires_at, place)
), d AS (
    INSERT INTO hyphaedb.delivery (mesh_id, diff_id, agent_id, cell_id, route, score, relevance,
        interest, energy, hops, path, energies, beacon_id, shadow, created_at)
    SELECT %(mesh_id)s::uuid, diff_id, agent_id, cell_id, route, score, relevance, interest,
        energy, hops, path, energies, beacon_id, shadow, %(now)s::timestamptz
    FROM given ORDER BY place
    ON CONFLICT (mesh_id, diff_id, agent_id) DO NOTHING
    RETURNING diff_id, agent_id
)
INSERT INTO hyphaedb.inbox (mesh_id, agent_id, seq, diff_id, score, state, created_at, expires_at)
SELECT %(mesh_id)s::uuid, d.agent_id, %(seq)s::bigint + row_number() OVER (ORDER BY g.place),
    d.diff_id, g.score, 'unread', %(now)s::timestamptz, g.expires_at
FROM d JOIN given g ON g.diff_id = d.diff_id AND g.agent_id = d.agent_id
WHERE NOT g.shadow
RETURNING diff_id, agent_id, seq;

-- name: diffs_settle
-- Diffs whose waves are done, each with its dot in commit order.
UPDATE hyphaedb.diff d
SET state = 'done', dot = s.dot, settled_at = %(now)s::timestamptz, error = NULL
FROM unnest(%(diff_ids)s::uuid[], %(dots)s::bigint[]) AS s (diff_id, dot)
WHERE d.mesh_id = %(mesh_id)s AND d.diff_id = s.diff_id AND d.state = 'pending';

-- name: diff_fail
-- A wave that failed: try later, or set the diff aside with its reason.
UPDATE hyphaedb.diff
SET attempt = attempt + 1, error = %(error)s, state = %(state)s,
    next_at = %(next_at)s::timestamptz
WHERE mesh_id = %(mesh_id)s AND diff_id = %(diff_id)s AND state = 'pending';

-- name: diffs_retry
-- Dead diffs get another life.
UPDATE hyphaedb.diff SET state = 'pending', attempt = 0, next_at = %(now)s::timestamptz
WHERE mesh_id = %(mesh_id)s AND diff_id IN (
    SELECT diff_id FROM hyphaedb.diff
    WHERE mesh_id = %(mesh_id)s AND state = 'dead'
      AND (%(diff_id)s::uuid IS NULL OR diff_id = %(diff_id)s::uuid)
    ORDER BY diff_id LIMIT %(limit)s::integer);

-- name: diffs_dead
-- Diffs that were given up, with the reason.
SELECT diff_id, cell_id, kind, attempt, error, created_at FROM hyphaedb.diff
WHERE mesh_id = %(mesh_id)s AND state = 'dead' ORDER BY diff_id LIMIT %(limit)s::integer;

-- name: diff_by_id
-- One diff's state.
SELECT diff_id, kind, cell_id, about, layer, generation, agent_id, energy, state, attempt, error,
       dot, created_at, settled_at, expires_at, reason
FROM hyphaedb.diff WHERE mesh_id = %(mesh_id)s AND diff_id = %(diff_id)s;

-- name: diffs_of_cell
-- A cell's diffs, oldest first.
SELECT diff_id, kind, cell_id, about, layer, generation, agent_id, energy, state, attempt, error,
       dot, created_at, settled_at, expires_at, reason
FROM hyphaedb.diff WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s
ORDER BY created_at, diff_id LIMIT %(limit)s::integer;
