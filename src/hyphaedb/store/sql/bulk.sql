-- Many cells at once: copied into a staging table, then written as cell_insert writes one.

-- name: bulk_stage
-- Where a batch is copied to; gone with the transaction.
CREATE TEMPORARY TABLE IF NOT EXISTS incoming (
    cell_id uuid, layer smallint, type text, body text, agent_id uuid, principal_id uuid,
    holder_id uuid, day integer, session_id uuid, session text, tags text[], metadata jsonb,
    ref text, salience real, confidence real, standing text, content_hash bytea,
    windows smallint, replaces uuid, sources uuid[], created_at timestamptz,
    valid_from timestamptz, expires_at timestamptz, model_id uuid, dimension smallint, e halfvec,
    words text, diff_id uuid, diff_kind text, about uuid, generation smallint, cause text,
    energy integer, diff_expires_at timestamptz
) ON COMMIT DROP;

-- name: bulk_copy
-- The batch itself.
COPY incoming FROM STDIN (FORMAT BINARY);

-- name: bulk_insert
-- Everything of the batch that says something new.
WITH c AS (
    INSERT INTO hyphaedb.cell (mesh_id, cell_id, layer, type, body, agent_id, principal_id,
        session_id, tags, metadata, ref, salience, confidence, standing, state, content_hash,
        windows, replaces, sources, lexemes, tsv, created_at, valid_from, expires_at)
    SELECT %(mesh_id)s::uuid, cell_id, layer, type, body, agent_id, principal_id, session_id, tags,
        metadata, ref, salience, confidence, standing, 'active', content_hash, windows, replaces,
        sources, length(tsv), tsv, created_at, valid_from, expires_at
    FROM (SELECT *, to_tsvector('pg_catalog.english', translate(body || ' ' || words, '/', ' ')) AS tsv
          FROM incoming ORDER BY cell_id) i
    ON CONFLICT (mesh_id, layer, content_hash) WHERE state = 'active' DO NOTHING
    RETURNING cell_id
), stats AS (
    INSERT INTO hyphaedb.cell_stats (mesh_id, cell_id, confidence, recalls, confirmations, used_at)
    SELECT %(mesh_id)s::uuid, i.cell_id, i.confidence, 0, 0, i.created_at
    FROM incoming i JOIN c USING (cell_id)
), vector AS (
    INSERT INTO hyphaedb.fresh_vector (mesh_id, cell_id, model_id, layer, dimension, expires_at, e)
    SELECT %(mesh_id)s::uuid, i.cell_id, i.model_id, i.layer, i.dimension, i.expires_at, i.e
    FROM incoming i JOIN c USING (cell_id)
), foot AS (
    INSERT INTO hyphaedb.footprint (mesh_id, holder_id, cell_id, day, created_at)
    SELECT %(mesh_id)s::uuid, i.holder_id, i.cell_id, i.day, i.created_at
    FROM incoming i JOIN c USING (cell_id)
), place AS (
    INSERT INTO hyphaedb.session (mesh_id, session_id, name, agent_id, started_at)
    SELECT DISTINCT ON (i.session_id) %(mesh_id)s::uuid, i.session_id, i.session, i.agent_id,
        i.created_at
    FROM incoming i JOIN c USING (cell_id) WHERE i.session_id IS NOT NULL
    ORDER BY i.session_id, i.created_at
    ON CONFLICT DO NOTHING
), news AS (
    INSERT INTO hyphaedb.diff (mesh_id, diff_id, kind, cell_id, about, layer, generation, cause,
        agent_id, energy, state, attempt, next_at, created_at, expires_at)
    SELECT %(mesh_id)s::uuid, i.diff_id, i.diff_kind, i.cell_id, i.about, i.layer, i.generation,
        i.cause, i.agent_id, i.energy, 'pending', 0, i.created_at, i.created_at, i.diff_expires_at
    FROM incoming i JOIN c USING (cell_id) WHERE i.diff_id IS NOT NULL
)
SELECT cell_id FROM c;

-- name: bulk_same
-- The standing cells behind the texts of the batch that were not new.
SELECT layer, content_hash, cell_id, agent_id FROM hyphaedb.cell
WHERE mesh_id = %(mesh_id)s AND state = 'active'
  AND (layer, content_hash) IN (SELECT layer, content_hash FROM incoming);

-- name: bulk_clear
-- Room for the next batch of the same transaction.
DELETE FROM incoming;
