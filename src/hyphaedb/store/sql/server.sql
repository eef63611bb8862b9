-- What a connection must know about its server before anything else is asked.

-- name: server_facts
-- Versions of the server and of pgvector (installed, and what could be installed).
SELECT current_setting('server_version_num')::integer,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
       (SELECT n.nspname FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace
        WHERE x.extname = 'vector'),
       (SELECT t.oid::bigint FROM pg_type t
        JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
        JOIN pg_extension x ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = x.oid
        WHERE x.extname = 'vector' AND t.typname = 'halfvec');

-- name: configure
-- Session settings of every pooled connection. relaxed_order keeps filtered searches full;
-- jit only ever costs here, no statement runs long enough to repay a compilation.
SELECT set_config('search_path', %(search_path)s, false),
       set_config('TimeZone', 'UTC', false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, false),
       set_config('jit', 'off', false),
       set_config('hnsw.ef_search', '100', false),
       set_config('hnsw.iterative_scan', 'relaxed_order', false);

-- name: lock_migrations
-- One migrator at a time per database; the lock falls with the transaction.
SELECT pg_advisory_xact_lock(%(key)s::bigint);

-- name: migration_table
-- Whether this database has ever been migrated.
SELECT to_regclass('hyphaedb.migration') IS NOT NULL;

-- name: migrations_applied
-- What has been applied, oldest first.
SELECT version, name, checksum, applied_at FROM hyphaedb.migration ORDER BY version;

-- name: migration_record
-- A migration's receipt, in the transaction that ran it.
INSERT INTO hyphaedb.migration (version, name, checksum, applied_at)
VALUES (%(version)s::integer, %(name)s::text, %(checksum)s::text, %(now)s::timestamptz);

-- name: notify
-- A wake-up with an empty payload; always in a transaction of its own.
SELECT pg_notify(%(channel)s::text, '');

-- name: lock_session
-- An advisory lock that lasts as long as its connection.
SELECT pg_advisory_lock(%(key)s::bigint);
