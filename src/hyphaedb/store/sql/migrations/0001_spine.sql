-- The spine: meshes, agents, cells, the graph, the journal and the inboxes.
--
-- Rules every table keeps, so that the schema distributes over Citus as it stands:
-- mesh_id is the first column of every key, index and foreign key; ids are minted by the
-- client (UUIDv7 for what has an order in time); no trigger, no sequence, no volatile default.
-- `mesh` and `model` are small and shaped as reference tables.

CREATE TABLE hyphaedb.model (
    model_id   uuid PRIMARY KEY,
    name       text NOT NULL,
    dimension  smallint NOT NULL CHECK (dimension BETWEEN 8 AND 3500),
    created_at timestamptz NOT NULL,
    UNIQUE (name, dimension)
);

CREATE TABLE hyphaedb.mesh (
    mesh_id    uuid PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    model_id   uuid NOT NULL REFERENCES hyphaedb.model (model_id),
    settings   jsonb NOT NULL,
    paused     boolean NOT NULL,
    shadow     boolean NOT NULL,
    created_at timestamptz NOT NULL
);

-- Who pumps a mesh. epoch rises at every take-over and fences every write of a worker;
-- seq orders inbox rows and dot orders settled diffs, both in commit order; dots have no gaps.
CREATE TABLE hyphaedb.mesh_owner (
    mesh_id      uuid PRIMARY KEY REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    owner        uuid,
    host         text,
    pid          integer,
    pid_started  double precision,
    epoch        bigint NOT NULL,
    lease_until  timestamptz,
    seq          bigint NOT NULL,
    dot          bigint NOT NULL,
    next_ordinal integer NOT NULL,
    graph_epoch  bigint NOT NULL,
    documents    bigint NOT NULL,
    lexemes      bigint NOT NULL,
    swept_at     timestamptz
) WITH (fillfactor = 50);

-- The calibration panel of a mesh: which cells, drawn with which seed.
CREATE TABLE hyphaedb.panel (
    mesh_id    uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    version    integer NOT NULL,
    seed       bigint NOT NULL,
    cell_ids   uuid[] NOT NULL,
    drawn_from integer NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, version)
);

CREATE TABLE hyphaedb.principal (
    mesh_id      uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    principal_id uuid NOT NULL,
    kind         text NOT NULL,
    name         text NOT NULL,
    trust        real NOT NULL CHECK (trust BETWEEN 0 AND 1),
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, principal_id)
);

-- holder_id owns the footprint and the position: the agent itself, or its role's.
CREATE TABLE hyphaedb.agent (
    mesh_id        uuid NOT NULL,
    agent_id       uuid NOT NULL,
    principal_id   uuid NOT NULL,
    holder_id      uuid NOT NULL,
    name           text NOT NULL,
    kind           text NOT NULL,
    role           text,
    instance       text,
    interest_text  text NOT NULL,
    interest_tags  text[] NOT NULL,
    interest_types text[] NOT NULL,
    interest       halfvec,
    attention      integer CHECK (attention > 0),
    active_days    integer NOT NULL,
    active_on      date,
    registered_at  timestamptz NOT NULL,
    retired_at     timestamptz,
    PRIMARY KEY (mesh_id, agent_id),
    UNIQUE (mesh_id, name),
    FOREIGN KEY (mesh_id, principal_id) REFERENCES hyphaedb.principal (mesh_id, principal_id)
        ON DELETE CASCADE
) WITH (fillfactor = 70);

CREATE INDEX agent_holder ON hyphaedb.agent (mesh_id, holder_id);

-- Moving positions stay out of every vector index: drift would leave dead entries there.
CREATE TABLE hyphaedb.agent_position (
    mesh_id   uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    holder_id uuid NOT NULL,
    e         halfvec NOT NULL,
    moved_at  timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, holder_id)
) WITH (fillfactor = 50);
ALTER TABLE hyphaedb.agent_position ALTER COLUMN e SET STORAGE PLAIN;

CREATE TABLE hyphaedb.mute (
    mesh_id    uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    kind       text NOT NULL,
    subject    text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, kind, subject)
);

CREATE TABLE hyphaedb.session (
    mesh_id    uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    session_id uuid NOT NULL,
    name       text NOT NULL,
    agent_id   uuid NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz,
    PRIMARY KEY (mesh_id, session_id)
);

CREATE INDEX session_name ON hyphaedb.session (mesh_id, name);

CREATE TABLE hyphaedb.cell (
    mesh_id      uuid NOT NULL,
    cell_id      uuid NOT NULL,
    layer        smallint NOT NULL CHECK (layer BETWEEN 0 AND 2),
    type         text NOT NULL,
    body         text NOT NULL,
    agent_id     uuid NOT NULL,
    principal_id uuid NOT NULL,
    session_id   uuid,
    tags         text[] NOT NULL,
    metadata     jsonb NOT NULL,
    ref          text,
    salience     real NOT NULL CHECK (salience BETWEEN 0 AND 1),
    confidence   real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    standing     text NOT NULL,
    state        text NOT NULL,
    content_hash bytea NOT NULL,
    windows      smallint NOT NULL,
    replaces     uuid,
    sources      uuid[] NOT NULL,
    lexemes      integer NOT NULL,
    tsv          tsvector NOT NULL,
    created_at   timestamptz NOT NULL,
    valid_from   timestamptz NOT NULL,
    valid_to     timestamptz,
    expires_at   timestamptz,
    PRIMARY KEY (mesh_id, cell_id),
    FOREIGN KEY (mesh_id, agent_id) REFERENCES hyphaedb.agent (mesh_id, agent_id) ON DELETE CASCADE
);
-- One standing cell for one text: an exact repeat finds it instead of making a copy.
CREATE UNIQUE INDEX cell_content ON hyphaedb.cell (mesh_id, layer, content_hash)
    WHERE state = 'active';
CREATE INDEX cell_session ON hyphaedb.cell (mesh_id, session_id, cell_id)
    WHERE session_id IS NOT NULL;
CREATE INDEX cell_agent ON hyphaedb.cell (mesh_id, agent_id, cell_id);
CREATE INDEX cell_type ON hyphaedb.cell (mesh_id, type, cell_id);
CREATE INDEX cell_ref ON hyphaedb.cell (mesh_id, ref, cell_id) WHERE ref IS NOT NULL;
CREATE INDEX cell_replaces ON hyphaedb.cell (mesh_id, replaces) WHERE replaces IS NOT NULL;
-- The pending lists are kept short because every search reads them whole.
CREATE INDEX cell_text ON hyphaedb.cell USING gin (tsv) WITH (gin_pending_list_limit = 512);
CREATE INDEX cell_tags ON hyphaedb.cell USING gin (tags) WITH (gin_pending_list_limit = 512)
    WHERE tags <> '{}';
CREATE INDEX cell_metadata ON hyphaedb.cell USING gin (metadata jsonb_path_ops)
    WITH (gin_pending_list_limit = 512) WHERE metadata <> '{}';

CREATE TABLE hyphaedb.cell_stats (
    mesh_id       uuid NOT NULL,
    cell_id       uuid NOT NULL,
    confidence    real NOT NULL,
    recalls       integer NOT NULL,
    confirmations integer NOT NULL,
    recalled_at   timestamptz,
    used_at       timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, cell_id),
    FOREIGN KEY (mesh_id, cell_id) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
) WITH (fillfactor = 70);

-- The only table with HNSW indexes (made per layer and dimension when a mesh needs them).
-- Rows are written once; nothing here is ever updated in place.
CREATE TABLE hyphaedb.cell_vector (
    mesh_id   uuid NOT NULL,
    cell_id   uuid NOT NULL,
    model_id  uuid NOT NULL,
    layer     smallint NOT NULL,
    dimension smallint NOT NULL,
    e         halfvec NOT NULL,
    PRIMARY KEY (mesh_id, cell_id, model_id),
    FOREIGN KEY (mesh_id, cell_id) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
);
ALTER TABLE hyphaedb.cell_vector ALTER COLUMN e SET STORAGE PLAIN;

-- The unindexed tail: acknowledged vectors that recall scans exactly until the worker drains them.
-- A cell that is closed leaves it at once and its time to live is kept here as well, so that the
-- scan need not look at the cells.
CREATE TABLE hyphaedb.fresh_vector (
    mesh_id    uuid NOT NULL,
    cell_id    uuid NOT NULL,
    model_id   uuid NOT NULL,
    layer      smallint NOT NULL,
    dimension  smallint NOT NULL,
    expires_at timestamptz,
    e          halfvec NOT NULL,
    PRIMARY KEY (mesh_id, cell_id, model_id),
    FOREIGN KEY (mesh_id, cell_id) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE hyphaedb.fresh_vector ALTER COLUMN e SET STORAGE PLAIN;

-- How often each lexeme occurs in a mesh: core Postgres keeps no such count, ranking needs it.
CREATE TABLE hyphaedb.term (
    mesh_id   uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    lexeme    text NOT NULL,
    documents integer NOT NULL,
    PRIMARY KEY (mesh_id, lexeme)
) WITH (fillfactor = 70);

-- day counts the holder's active days, so an agent on holiday does not forget.
CREATE TABLE hyphaedb.footprint (
    mesh_id      uuid NOT NULL,
    holder_id    uuid NOT NULL,
    cell_id      uuid NOT NULL,
    day          integer NOT NULL,
    created_at   timestamptz,
    recalled_at  timestamptz,
    used_at      timestamptz,
    confirmed_at timestamptz,
    recalled_in  uuid,
    PRIMARY KEY (mesh_id, holder_id, cell_id),
    FOREIGN KEY (mesh_id, cell_id) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX footprint_cell ON hyphaedb.footprint (mesh_id, cell_id);
-- What a holder recalled in a session: its own knowledge when it stores there again.
CREATE INDEX footprint_recalled ON hyphaedb.footprint (mesh_id, holder_id, recalled_in)
    WHERE recalled_in IS NOT NULL;

-- A cell's own links, written once. targets are link ordinals of the same mesh and layer;
-- costs are hop costs in micro-units of energy. Reverse links are derived, never stored.
CREATE TABLE hyphaedb.link (
    mesh_id    uuid NOT NULL,
    layer      smallint NOT NULL,
    ordinal    integer NOT NULL,
    cell_id    uuid NOT NULL,
    targets    integer[] NOT NULL,
    costs      integer[] NOT NULL,
    PRIMARY KEY (mesh_id, layer, ordinal),
    UNIQUE (mesh_id, layer, cell_id),
    FOREIGN KEY (mesh_id, cell_id) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
);

CREATE TABLE hyphaedb.edge (
    mesh_id    uuid NOT NULL,
    edge_id    uuid NOT NULL,
    layer      smallint NOT NULL,
    src        uuid NOT NULL,
    dst        uuid NOT NULL,
    kind       text NOT NULL,
    omega      real NOT NULL CHECK (omega > 0 AND omega <= 1),
    cost       integer NOT NULL CHECK (cost >= 1000000),
    bandwidth  integer CHECK (bandwidth > 0),
    bridge     boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, edge_id),
    UNIQUE (mesh_id, layer, src, dst, kind),
    FOREIGN KEY (mesh_id, src) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE,
    FOREIGN KEY (mesh_id, dst) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
);
CREATE INDEX edge_dst ON hyphaedb.edge (mesh_id, dst);

-- Where a leaf hangs in the graph: a holder's nearest cells at the position it was attached from.
CREATE TABLE hyphaedb.attachment (
    mesh_id     uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    layer       smallint NOT NULL,
    leaf_id     uuid NOT NULL,
    cell_ids    uuid[] NOT NULL,
    e           halfvec NOT NULL,
    attached_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, layer, leaf_id)
) WITH (fillfactor = 50);

CREATE TABLE hyphaedb.beacon (
    mesh_id    uuid NOT NULL,
    beacon_id  uuid NOT NULL,
    agent_id   uuid NOT NULL,
    name       text NOT NULL,
    text       text NOT NULL,
    radius     real NOT NULL CHECK (radius BETWEEN -1 AND 1),
    types      text[] NOT NULL,
    tags       text[] NOT NULL,
    e          halfvec NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, beacon_id),
    UNIQUE (mesh_id, agent_id, name),
    FOREIGN KEY (mesh_id, agent_id) REFERENCES hyphaedb.agent (mesh_id, agent_id) ON DELETE CASCADE
);

-- What travels. cause makes a derived diff unique; about is the other cell it concerns
-- (the one superseded, the other half of a contradiction).
CREATE TABLE hyphaedb.diff (
    mesh_id    uuid NOT NULL,
    diff_id    uuid NOT NULL,
    kind       text NOT NULL,
    cell_id    uuid NOT NULL,
    about      uuid,
    layer      smallint NOT NULL,
    generation smallint NOT NULL CHECK (generation BETWEEN 0 AND 3),
    cause      text,
    agent_id   uuid NOT NULL,
    energy     integer NOT NULL,
    state      text NOT NULL,
    attempt    smallint NOT NULL,
    next_at    timestamptz NOT NULL,
    error      text,
    dot        bigint,
    created_at timestamptz NOT NULL,
    settled_at timestamptz,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, diff_id),
    UNIQUE (mesh_id, cause),
    FOREIGN KEY (mesh_id, cell_id) REFERENCES hyphaedb.cell (mesh_id, cell_id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX diff_pending ON hyphaedb.diff (mesh_id, next_at, diff_id) WHERE state = 'pending';
CREATE INDEX diff_dead ON hyphaedb.diff (mesh_id, diff_id) WHERE state = 'dead';
CREATE INDEX diff_cell ON hyphaedb.diff (mesh_id, cell_id);
CREATE INDEX diff_live ON hyphaedb.diff (mesh_id, dot) WHERE state = 'done';

CREATE TABLE hyphaedb.wave (
    mesh_id     uuid NOT NULL,
    diff_id     uuid NOT NULL,
    settled     integer NOT NULL,
    rounds      integer NOT NULL,
    gate        integer NOT NULL,
    truncated   text,
    shadow      boolean NOT NULL,
    hops        jsonb NOT NULL,
    refused     jsonb NOT NULL,
    graph_epoch bigint NOT NULL,
    run_at      timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, diff_id),
    FOREIGN KEY (mesh_id, diff_id) REFERENCES hyphaedb.diff (mesh_id, diff_id) ON DELETE CASCADE
);

-- Scores are micro-units; path runs from the origin to the last cell before the agent.
CREATE TABLE hyphaedb.delivery (
    mesh_id    uuid NOT NULL,
    diff_id    uuid NOT NULL,
    agent_id   uuid NOT NULL,
    cell_id    uuid NOT NULL,
    route      text NOT NULL,
    score      integer NOT NULL,
    relevance  integer NOT NULL,
    interest   integer NOT NULL,
    energy     integer NOT NULL,
    hops       smallint NOT NULL,
    path       uuid[] NOT NULL,
    energies   integer[] NOT NULL,
    beacon_id  uuid,
    shadow     boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, diff_id, agent_id),
    FOREIGN KEY (mesh_id, diff_id) REFERENCES hyphaedb.diff (mesh_id, diff_id) ON DELETE CASCADE,
    FOREIGN KEY (mesh_id, agent_id) REFERENCES hyphaedb.agent (mesh_id, agent_id) ON DELETE CASCADE
);
CREATE INDEX delivery_cell ON hyphaedb.delivery (mesh_id, cell_id);
CREATE INDEX delivery_agent ON hyphaedb.delivery (mesh_id, agent_id, created_at);

CREATE TABLE hyphaedb.inbox (
    mesh_id      uuid NOT NULL,
    agent_id     uuid NOT NULL,
    seq          bigint NOT NULL,
    diff_id      uuid NOT NULL,
    score        integer NOT NULL,
    state        text NOT NULL,
    leased_until timestamptz,
    read_at      timestamptz,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, agent_id, seq),
    UNIQUE (mesh_id, agent_id, diff_id),
    FOREIGN KEY (mesh_id, diff_id, agent_id)
        REFERENCES hyphaedb.delivery (mesh_id, diff_id, agent_id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX inbox_unread ON hyphaedb.inbox (mesh_id, agent_id, seq) WHERE state <> 'read';
CREATE INDEX inbox_expiry ON hyphaedb.inbox (mesh_id, expires_at);

-- What the faces changed and the mesh's owner must take into its mirror; claimed by existence.
CREATE TABLE hyphaedb.signal (
    mesh_id   uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    signal_id uuid NOT NULL,
    kind      text NOT NULL,
    subject   uuid NOT NULL,
    other     uuid,
    at        timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, signal_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);

CREATE TABLE hyphaedb.idempotency (
    mesh_id      uuid NOT NULL REFERENCES hyphaedb.mesh (mesh_id) ON DELETE CASCADE,
    scope        text NOT NULL,
    key          text NOT NULL,
    request_hash bytea NOT NULL,
    answer       jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (mesh_id, scope, key)
);
CREATE INDEX idempotency_age ON hyphaedb.idempotency (mesh_id, created_at);

-- Links and typed edges as the paper's one edge table (Eq. 3); the slow truth of the mirror.
CREATE VIEW hyphaedb.topology_edge WITH (security_invoker = true) AS
SELECT l.mesh_id, l.layer, l.cell_id AS src, t.cell_id AS dst, 'semantic' AS kind,
       1000000.0 / x.cost AS omega, NULL::integer AS bandwidth, x.cost
FROM hyphaedb.link l
CROSS JOIN LATERAL unnest(l.targets, l.costs) AS x (ordinal, cost)
JOIN hyphaedb.link t ON t.mesh_id = l.mesh_id AND t.layer = l.layer AND t.ordinal = x.ordinal
UNION ALL
SELECT e.mesh_id, e.layer, e.src, e.dst, e.kind, e.omega, e.bandwidth, e.cost
FROM hyphaedb.edge e
UNION ALL
SELECT a.mesh_id, a.layer, c.cell_id, a.leaf_id, 'subscription', 1.0, NULL::integer, 1000000
FROM hyphaedb.attachment a CROSS JOIN LATERAL unnest(a.cell_ids) AS c (cell_id);
