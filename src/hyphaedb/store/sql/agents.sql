-- Agents, their positions, where they hang in the graph, and beacons.

-- name: agent_add
-- A new agent with a principal of its own. A newcomer to a role starts on the role's day.
-- No row where the name is taken.
WITH a AS (
    INSERT INTO hyphaedb.agent (mesh_id, agent_id, principal_id, holder_id, name, kind, role,
        instance, interest_text, interest_tags, interest_types, interest, attention,
        active_days, active_on, registered_at)
    SELECT %(mesh_id)s::uuid, %(agent_id)s::uuid, %(principal_id)s::uuid, %(holder_id)s::uuid,
        %(name)s, %(kind)s::text, %(role)s, %(instance)s, %(interest_text)s,
        %(interest_tags)s::text[], %(interest_types)s::text[], %(interest)s::halfvec,
        %(attention)s::integer, coalesce(r.days, 0), r.latest, %(now)s::timestamptz
    FROM (SELECT max(active_days) AS days, max(active_on) AS latest FROM hyphaedb.agent
          WHERE mesh_id = %(mesh_id)s::uuid AND holder_id = %(holder_id)s::uuid) r
    ON CONFLICT (mesh_id, name) DO NOTHING
    RETURNING mesh_id, principal_id
)
INSERT INTO hyphaedb.principal (mesh_id, principal_id, kind, name, trust, created_at)
SELECT mesh_id, principal_id, %(kind)s::text, %(name)s, %(trust)s::real, %(now)s::timestamptz
FROM a;

-- name: agent_renew
-- An agent registers again: back from retirement, with new interests where it states any.
UPDATE hyphaedb.agent SET retired_at = NULL,
    interest_text = coalesce(%(interest_text)s, interest_text),
    interest_tags = coalesce(%(interest_tags)s::text[], interest_tags),
    interest_types = coalesce(%(interest_types)s::text[], interest_types),
    interest = CASE WHEN %(interest_text)s IS NULL THEN interest ELSE %(interest)s::halfvec END,
    attention = coalesce(%(attention)s::integer, attention)
WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s;

-- name: agent_by_name
-- One agent.
SELECT a.agent_id, a.name, a.kind, a.role, a.instance, a.interest_text, a.interest_tags,
       a.interest_types, a.active_days,
       EXISTS (SELECT 1 FROM hyphaedb.mute m WHERE m.mesh_id = a.mesh_id AND m.kind = 'agent'
               AND m.subject = a.name),
       a.registered_at, a.retired_at, a.principal_id, a.holder_id, a.interest, a.attention
FROM hyphaedb.agent a WHERE a.mesh_id = %(mesh_id)s AND a.name = %(name)s;

-- name: agents
-- Agents by name, a page; retired ones only where asked for.
SELECT a.agent_id, a.name, a.kind, a.role, a.instance, a.interest_text, a.interest_tags,
       a.interest_types, a.active_days,
       EXISTS (SELECT 1 FROM hyphaedb.mute m WHERE m.mesh_id = a.mesh_id AND m.kind = 'agent'
               AND m.subject = a.name),
       a.registered_at, a.retired_at, a.principal_id, a.holder_id, a.interest, a.attention
FROM hyphaedb.agent a
WHERE a.mesh_id = %(mesh_id)s AND a.name > %(after)s
  AND (%(retired)s::boolean OR a.retired_at IS NULL)
ORDER BY a.name LIMIT %(limit)s::integer;

-- name: agent_retire
-- An agent leaves; what it wrote stays.
UPDATE hyphaedb.agent SET retired_at = %(now)s::timestamptz
WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s AND retired_at IS NULL;

-- name: holder_day
-- A holder is active on a date: one more day for all its instances, the first time that date.
UPDATE hyphaedb.agent SET active_days = active_days + 1, active_on = %(today)s::date
WHERE mesh_id = %(mesh_id)s AND holder_id = %(holder_id)s
  AND (active_on IS NULL OR active_on < %(today)s::date);

-- name: holder_days
-- The holder's count of active days.
SELECT coalesce(max(active_days), 0), max(active_on) FROM hyphaedb.agent
WHERE mesh_id = %(mesh_id)s AND holder_id = %(holder_id)s;

-- name: position_put
-- Where a holder stands now.
INSERT INTO hyphaedb.agent_position (mesh_id, holder_id, e, moved_at)
VALUES (%(mesh_id)s, %(holder_id)s, %(e)s::halfvec, %(now)s::timestamptz)
ON CONFLICT (mesh_id, holder_id) DO UPDATE SET e = excluded.e, moved_at = excluded.moved_at;

-- name: position_remove
-- A holder stands nowhere any more, and hangs nowhere.
WITH p AS (
    DELETE FROM hyphaedb.agent_position
    WHERE mesh_id = %(mesh_id)s AND holder_id = %(holder_id)s
)
DELETE FROM hyphaedb.attachment WHERE mesh_id = %(mesh_id)s AND leaf_id = %(holder_id)s;

-- name: positions
-- Where all holders of a mesh stand.
SELECT holder_id, e, moved_at FROM hyphaedb.agent_position
WHERE mesh_id = %(mesh_id)s ORDER BY holder_id LIMIT %(limit)s::integer;

-- name: attachment_put
-- Where a leaf hangs.
INSERT INTO hyphaedb.attachment (mesh_id, layer, leaf_id, cell_ids, e, attached_at)
VALUES (%(mesh_id)s, %(layer)s::smallint, %(leaf_id)s, %(cell_ids)s::uuid[], %(e)s::halfvec,
        %(now)s::timestamptz)
ON CONFLICT (mesh_id, layer, leaf_id) DO UPDATE
SET cell_ids = excluded.cell_ids, e = excluded.e, attached_at = excluded.attached_at;

-- name: attachments
-- Where all leaves of a mesh hang.
SELECT layer, leaf_id, cell_ids, e, attached_at FROM hyphaedb.attachment
WHERE mesh_id = %(mesh_id)s ORDER BY layer, leaf_id LIMIT %(limit)s::integer;

-- name: beacon_put
-- A beacon, or a new shape for the one of that name.
INSERT INTO hyphaedb.beacon (mesh_id, beacon_id, agent_id, name, text, radius, types, tags, e,
    created_at)
VALUES (%(mesh_id)s, %(beacon_id)s, %(agent_id)s, %(name)s, %(text)s, %(radius)s::real,
    %(types)s::text[], %(tags)s::text[], %(e)s::halfvec, %(now)s::timestamptz)
ON CONFLICT (mesh_id, agent_id, name) DO UPDATE
SET text = excluded.text, radius = excluded.radius, types = excluded.types, tags = excluded.tags,
    e = excluded.e
RETURNING beacon_id;

-- name: beacons
-- Beacons of a mesh, or of one agent.
SELECT b.beacon_id, a.name, b.name, b.text, b.radius, b.types, b.tags, b.created_at, b.agent_id,
       b.e
FROM hyphaedb.beacon b
JOIN hyphaedb.agent a ON a.mesh_id = b.mesh_id AND a.agent_id = b.agent_id
WHERE b.mesh_id = %(mesh_id)s
  AND (%(agent_id)s::uuid IS NULL OR b.agent_id = %(agent_id)s::uuid)
ORDER BY a.name, b.name LIMIT %(limit)s::integer;

-- name: beacon_remove
-- A beacon by its agent and name.
DELETE FROM hyphaedb.beacon
WHERE mesh_id = %(mesh_id)s AND agent_id = %(agent_id)s AND name = %(name)s
RETURNING beacon_id;
