-- Inboxes: durable, per agent, at least once.

-- name: inbox
-- Items of one inbox with everything a reader may be told. Each table is asked by its key, one row
-- an item, and OFFSET or LIMIT says so: on young tables without statistics the server would rather
-- read all cells than look up the few that an item is about, 30 to 50 ms instead of one.
SELECT i.seq, i.diff_id, d.cell_id, d.kind, i.state, c.type, c.body, a.name, s.name, c.ref,
       i.score, v.route, b.name, t.confirmations, d.created_at, i.created_at, i.expires_at,
       v.path, v.energies, c.salience, t.used_at, d.reason
FROM (
    SELECT * FROM hyphaedb.inbox
    WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s {where}
) i
CROSS JOIN LATERAL (
    SELECT x.cell_id, x.kind, x.created_at, x.reason FROM hyphaedb.diff x
    WHERE x.mesh_id = i.mesh_id AND x.diff_id = i.diff_id OFFSET 0
) d
CROSS JOIN LATERAL (
    SELECT x.route, x.path, x.energies, x.beacon_id FROM hyphaedb.delivery x
    WHERE x.mesh_id = i.mesh_id AND x.diff_id = i.diff_id AND x.agent_id = i.agent_id OFFSET 0
) v
CROSS JOIN LATERAL (
    SELECT * FROM hyphaedb.cell x
    WHERE x.mesh_id = i.mesh_id AND x.cell_id = d.cell_id OFFSET 0
) c
CROSS JOIN LATERAL (
    SELECT x.confirmations, x.used_at FROM hyphaedb.cell_stats x
    WHERE x.mesh_id = i.mesh_id AND x.cell_id = d.cell_id OFFSET 0
) t
CROSS JOIN LATERAL (
    SELECT x.name FROM hyphaedb.agent x
    WHERE x.mesh_id = i.mesh_id AND x.agent_id = c.agent_id OFFSET 0
) a
LEFT JOIN LATERAL (
    SELECT x.name FROM hyphaedb.session x
    WHERE x.mesh_id = i.mesh_id AND x.session_id = c.session_id LIMIT 1
) s ON true
LEFT JOIN LATERAL (
    SELECT x.name FROM hyphaedb.beacon x
    WHERE x.mesh_id = i.mesh_id AND x.beacon_id = v.beacon_id LIMIT 1
) b ON true;

-- name: where_best
-- What waits, best score first: unread, or leased by somebody who let it lapse.
state <> 'read' AND (state = 'unread' OR leased_until <= %(now)s::timestamptz)
AND expires_at > %(now)s::timestamptz
ORDER BY score DESC, seq LIMIT %(limit)s::integer

-- name: where_next
-- What waits behind a cursor, in the order it came.
state <> 'read' AND (state = 'unread' OR leased_until <= %(now)s::timestamptz)
AND expires_at > %(now)s::timestamptz AND seq > %(after)s::bigint
ORDER BY seq LIMIT %(limit)s::integer

-- name: inbox_lease
-- Hide items from the agent's other readers until a moment; whoever comes second gets none.
UPDATE hyphaedb.inbox SET state = 'leased', leased_until = %(until)s::timestamptz
WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s AND seq = ANY(%(seqs)s::bigint[])
  AND (state = 'unread' OR (state = 'leased' AND leased_until <= %(now)s::timestamptz))
RETURNING seq;

-- name: inbox_ack
-- Items that were read, by number.
UPDATE hyphaedb.inbox SET state = 'read', read_at = %(now)s::timestamptz, leased_until = NULL
WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s AND seq = ANY(%(seqs)s::bigint[])
  AND state <> 'read'
RETURNING seq, diff_id;

-- name: inbox_unread
-- How many items wait, counted no further than the limit.
SELECT count(*) FROM (
    SELECT 1 FROM hyphaedb.inbox
    WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s AND state <> 'read'
      AND expires_at > %(now)s::timestamptz
    LIMIT %(limit)s::integer) i;

-- name: inbox_expire
-- Items past their time go; the delivery stays on record.
DELETE FROM hyphaedb.inbox WHERE mesh_id = %(mesh_id)s AND (agent_id, seq) IN (
    SELECT agent_id, seq FROM hyphaedb.inbox
    WHERE mesh_id = %(mesh_id)s AND expires_at <= %(now)s::timestamptz
    ORDER BY expires_at LIMIT %(limit)s::integer);
