-- Erasing a cell: its text must be nowhere afterwards.

-- name: forget_lock
-- The owner's row first, as a worker does: erasing waits for the wave under way, and the two
-- can never wait for each other.
SELECT 1 FROM hyphaedb.mesh_owner WHERE mesh_id = %(mesh_id)s FOR UPDATE;

-- name: forget_hold
-- Then the cell: whoever would touch it waits, and finds it gone. So nothing is added to what is
-- read of it from here on.
SELECT 1 FROM hyphaedb.cell WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s FOR UPDATE;

-- name: forget_terms
-- Take the cell's words out of the term counts, where they were counted (at linking).
WITH gone AS (
    SELECT w.lexeme, c.lexemes
    FROM hyphaedb.cell c
    JOIN hyphaedb.link l ON l.mesh_id = c.mesh_id AND l.layer = c.layer AND l.cell_id = c.cell_id
    CROSS JOIN LATERAL unnest(c.tsv) w
    WHERE c.mesh_id = %(mesh_id)s AND c.cell_id = %(cell_id)s
), less AS (
    UPDATE hyphaedb.term t SET documents = t.documents - 1
    FROM gone g WHERE t.mesh_id = %(mesh_id)s AND t.lexeme = g.lexeme AND t.documents > 1
), none AS (
    DELETE FROM hyphaedb.term t USING gone g
    WHERE t.mesh_id = %(mesh_id)s AND t.lexeme = g.lexeme AND t.documents <= 1
)
UPDATE hyphaedb.mesh_owner o
SET documents = o.documents - 1, lexemes = o.lexemes - (SELECT max(lexemes) FROM gone)
WHERE o.mesh_id = %(mesh_id)s AND EXISTS (SELECT 1 FROM gone);

-- name: forget_answers
-- Answers that were given about the cell.
DELETE FROM hyphaedb.idempotency
WHERE mesh_id = %(mesh_id)s AND strpos(answer::text, %(cell_id)s::uuid::text) > 0;

-- name: forget_panel
-- A panel that held the cell is drawn again by the worker; the cell leaves it at once.
UPDATE hyphaedb.panel SET cell_ids = array_remove(cell_ids, %(cell_id)s::uuid)
WHERE mesh_id = %(mesh_id)s AND cell_ids @> ARRAY[%(cell_id)s::uuid];

-- name: forget_attachments
-- Leaves that hung on the cell.
UPDATE hyphaedb.attachment SET cell_ids = array_remove(cell_ids, %(cell_id)s::uuid)
WHERE mesh_id = %(mesh_id)s AND cell_ids @> ARRAY[%(cell_id)s::uuid];

-- name: forget_cell
-- The cell; everything of it goes with it by foreign keys.
DELETE FROM hyphaedb.cell WHERE mesh_id = %(mesh_id)s AND cell_id = %(cell_id)s;
