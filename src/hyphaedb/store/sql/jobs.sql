-- Who pumps a mesh, and what the faces want the owner to take in.

-- name: lease_take
-- Take a mesh that is free, whose lease ran out, or whose owner is known to be dead. The epoch
-- rises, so everything the last owner still tries to write is refused.
UPDATE hyphaedb.mesh_owner
SET owner = %(owner)s::uuid, host = %(host)s, pid = %(pid)s::integer,
    pid_started = %(pid_started)s::double precision, epoch = epoch + 1,
    lease_until = %(until)s::timestamptz
WHERE mesh_id = %(mesh_id)s
  AND (owner IS NULL OR lease_until <= %(now)s::timestamptz
       OR owner = %(owner)s::uuid OR owner = %(dead_owner)s::uuid)
RETURNING epoch;

-- name: lease_renew
-- Hold on to a mesh; no row where it has another owner by now.
UPDATE hyphaedb.mesh_owner SET lease_until = %(until)s::timestamptz
WHERE mesh_id = %(mesh_id)s AND owner = %(owner)s::uuid AND epoch = %(epoch)s::bigint;

-- name: lease_release
-- Give a mesh back.
UPDATE hyphaedb.mesh_owner SET owner = NULL, host = NULL, pid = NULL, pid_started = NULL,
    lease_until = NULL
WHERE mesh_id = %(mesh_id)s AND owner = %(owner)s::uuid AND epoch = %(epoch)s::bigint;

-- name: owner_of
-- The owner's row as it is.
SELECT owner, host, pid, pid_started, epoch, lease_until, seq, dot, next_ordinal, graph_epoch,
       documents, lexemes, swept_at
FROM hyphaedb.mesh_owner WHERE mesh_id = %(mesh_id)s;

-- name: swept
-- When the last sweep began, by the owner only.
UPDATE hyphaedb.mesh_owner SET swept_at = %(at)s::timestamptz
WHERE mesh_id = %(mesh_id)s AND epoch = %(epoch)s::bigint;

-- name: signal_emit
-- Something changed that the owner's mirror does not know.
INSERT INTO hyphaedb.signal (mesh_id, signal_id, kind, subject, other, at)
VALUES (%(mesh_id)s, %(signal_id)s, %(kind)s, %(subject)s, %(other)s::uuid, %(at)s::timestamptz);

-- name: signals
-- Signals that wait, oldest first.
SELECT signal_id, kind, subject, other, at FROM hyphaedb.signal
WHERE mesh_id = %(mesh_id)s ORDER BY signal_id LIMIT %(limit)s::integer;

-- name: signals_clear
-- Signals that were taken in; by id, because later ones may have arrived in between.
DELETE FROM hyphaedb.signal
WHERE mesh_id = %(mesh_id)s AND signal_id = ANY(%(signal_ids)s::uuid[])
RETURNING signal_id, kind, subject, other, at;

-- name: meshes_with_work
-- Meshes where a worker is needed: something waits and nobody holds the lease.
SELECT m.mesh_id, o.owner, o.lease_until FROM hyphaedb.mesh m
JOIN hyphaedb.mesh_owner o ON o.mesh_id = m.mesh_id
WHERE EXISTS (SELECT 1 FROM hyphaedb.diff d WHERE d.mesh_id = m.mesh_id AND d.state = 'pending'
              AND (d.attempt = 0 OR d.next_at <= %(now)s::timestamptz))
   OR EXISTS (SELECT 1 FROM hyphaedb.signal s WHERE s.mesh_id = m.mesh_id)
   OR EXISTS (SELECT 1 FROM hyphaedb.fresh_vector f WHERE f.mesh_id = m.mesh_id)
ORDER BY m.mesh_id LIMIT %(limit)s::integer;
