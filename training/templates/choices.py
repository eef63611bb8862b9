"""One slot, several alternatives: which store, language, protocol, owner. One value excludes others.

Every slot has names for itself and sentences of its own; the frames below hold for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.templates.sides import Draw
from training.templates.words import PEOPLE, TEAMS


@dataclass(frozen=True, slots=True)
class Slot:
    """`names` of the slot, the `values` that exclude each other, and `own` sentences with {s} for
    the subject and {v} for the value."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    own: tuple[str, ...]


def _slot(names: str, values: str, own: str) -> Slot:
    return Slot(*(tuple(part.split("|")) for part in (names, values, own)))


SLOTS = (
    _slot(
        "primary database|main data store|system of record|database",
        "Postgres|MySQL|MongoDB|DynamoDB|Cassandra|CockroachDB|MariaDB|SQLite|Oracle|SQL Server|"
        "Spanner|ScyllaDB|Couchbase|Firestore|YugabyteDB|TiDB|FoundationDB|Neo4j|RethinkDB",
        "{s} stores its data in {v}|data of {s} lives in {v}|{s} persists everything to {v}|"
        "{s} reads and writes {v}|all records of {s} are kept in {v}|{s} is backed by {v}|"
        "we keep the state of {s} in {v}|{v} holds the data behind {s}|{s} talks to {v} for storage",
    ),
    _slot(
        "session store|cache|cache layer|caching backend",
        "Redis|Memcached|Hazelcast|an in-process LRU|Varnish|Valkey|Ehcache|KeyDB|Dragonfly|"
        "Apache Ignite|local disk",
        "{s} caches results in {v}|sessions of {s} are stored in {v}|sessions of {s} live in {v}|"
        "hot keys for {s} sit in {v}|{s} keeps sessions in {v}|{v} caches responses of {s}",
    ),
    _slot(
        "message broker|queue|event bus|messaging layer",
        "Kafka|RabbitMQ|SQS|NATS|Pulsar|Redis Streams|ActiveMQ|Google Pub/Sub|Kinesis|ZeroMQ|"
        "Azure Service Bus|Celery|Sidekiq",
        "{s} publishes its events to {v}|events from {s} flow through {v}|{s} consumes from {v}|"
        "jobs of {s} are queued in {v}|{s} enqueues work on {v}|{v} carries the events of {s}",
    ),
    _slot(
        "implementation language|language|programming language",
        "Go|Rust|Python|Java|Kotlin|TypeScript|C++|Scala|Elixir|Ruby|C#|PHP|Swift|Clojure|Haskell|"
        "Erlang|Zig|plain JavaScript",
        "{s} is written in {v}|we rewrote {s} in {v}|{s} is implemented in {v}|"
        "the codebase of {s} is {v}|{v} is what {s} is coded in|new code in {s} has to be {v}",
    ),
    _slot(
        "web framework|framework|UI framework",
        "React|Vue|Angular|Svelte|Django|Flask|FastAPI|Rails|Spring Boot|Express|Phoenix|Laravel|"
        "Next.js|Ember|SolidJS|ASP.NET",
        "{s} is built with {v}|{s} is a {v} application|{s} runs on top of {v}|"
        "the UI of {s} is done in {v}",
    ),
    _slot(
        "API style|transport|wire protocol|protocol",
        "gRPC|REST|GraphQL|SOAP|WebSockets|Thrift|JSON-RPC|MQTT|AMQP|plain TCP|server-sent events",
        "{s} exposes a {v} interface|clients talk to {s} over {v}|{s} speaks {v}|"
        "calls to {s} go over {v}|{s} is reached via {v}",
    ),
    _slot(
        "serialisation format|payload format|message format|config format",
        "JSON|Protobuf|Avro|XML|MessagePack|YAML|TOML|CBOR|Parquet|CSV|FlatBuffers|INI",
        "{s} emits {v}|messages of {s} are encoded as {v}|{s} sends {v} payloads|"
        "{s} serialises to {v}|files from {s} arrive as {v}|the output of {s} is {v}",
    ),
    _slot(
        "auth method|authentication scheme|login method|authentication",
        "OAuth 2.0|SAML|mutual TLS|API keys|basic auth|JWT bearer tokens|LDAP|session cookies|"
        "passkeys|Kerberos|OpenID Connect|HMAC signatures|magic links",
        "{s} authenticates callers with {v}|users of {s} log in with {v}|access to {s} needs {v}|"
        "{s} verifies requests using {v}|{s} identifies clients by {v}",
    ),
    _slot(
        "cloud provider|hosting|hosting provider|platform",
        "AWS|GCP|Azure|Hetzner|our own data centre|DigitalOcean|Fly.io|Heroku|OVH|IBM Cloud|"
        "Cloudflare Workers|bare metal|Vercel|Scaleway",
        "{s} is hosted on {v}|{s} runs on {v}|we deploy {s} to {v}|the servers of {s} are at {v}|"
        "{v} hosts {s}",
    ),
    _slot(
        "orchestrator|deployment target|runtime platform",
        "Kubernetes|Nomad|ECS|Docker Swarm|systemd units|Lambda|Cloud Run|plain VMs|OpenShift|Mesos",
        "{s} is scheduled by {v}|{s} runs under {v}|{v} runs the containers of {s}|"
        "{s} is deployed as {v} workloads",
    ),
    _slot(
        "CI system|build server|CI",
        "GitHub Actions|Jenkins|GitLab CI|CircleCI|Buildkite|TeamCity|Travis|Drone|Azure Pipelines|"
        "Bamboo|Woodpecker",
        "{s} is built by {v}|the pipeline of {s} runs in {v}|tests of {s} run on {v}|"
        "{v} builds {s} on every push",
    ),
    _slot(
        "deployment strategy|rollout strategy|release process",
        "blue-green deployment|canary releases|rolling updates|big-bang releases|feature flags only|"
        "manual deployment|shadow traffic|recreate deployments",
        "{s} is rolled out with {v}|we ship {s} using {v}|releases of {s} rely on {v}",
    ),
    _slot(
        "hash function|hashing algorithm|password hash",
        "bcrypt|argon2id|scrypt|PBKDF2|SHA-256|MD5|BLAKE3|SHA-1|xxHash|SipHash",
        "{s} hashes with {v}|passwords in {s} are hashed with {v}|{s} computes digests by {v}",
    ),
    _slot(
        "compression|compression codec|codec",
        "gzip|zstd|snappy|lz4|brotli|bzip2|xz|no compression",
        "{s} compresses its output with {v}|payloads of {s} use {v}|blobs of {s} are packed with {v}",
    ),
    _slot(
        "encryption|cipher|encryption scheme",
        "AES-256-GCM|ChaCha20-Poly1305|RSA-OAEP|3DES|AES-128-CBC|XChaCha20|Blowfish|SM4",
        "{s} encrypts data with {v}|secrets in {s} are sealed with {v}|{s} uses {v} at rest",
    ),
    _slot(
        "consistency level|isolation level|consistency model",
        "eventual consistency|strong consistency|snapshot isolation|read committed|serializable|"
        "repeatable read|read-your-writes|causal consistency|read uncommitted",
        "{s} runs with {v}|transactions in {s} use {v}|{s} guarantees {v}|reads from {s} have {v}",
    ),
    _slot(
        "eviction policy|scheduling policy|load balancing policy|algorithm",
        "LRU|LFU|FIFO|random|round robin|least connections|consistent hashing|weighted fair queueing|"
        "priority order|LIFO|shortest job first",
        "{s} picks the next one by {v}|{s} evicts by {v}|{s} distributes requests by {v}|"
        "entries in {s} are chosen {v}",
    ),
    _slot(
        "search backend|search engine|index",
        "Elasticsearch|OpenSearch|Solr|Meilisearch|Typesense|Postgres full text|Algolia|Vespa|Lucene|"
        "Tantivy",
        "{s} searches through {v}|queries of {s} are answered by {v}|{s} indexes documents in {v}",
    ),
    _slot(
        "monitoring stack|metrics backend|observability tool|log store",
        "Prometheus|Datadog|New Relic|CloudWatch|Graphite|InfluxDB|Splunk|Loki|Honeycomb|Zabbix|"
        "the ELK stack|Sentry|Dynatrace",
        "{s} ships its metrics to {v}|logs of {s} go to {v}|{s} is monitored with {v}|"
        "alerts for {s} come from {v}",
    ),
    _slot(
        "package manager|build tool|dependency manager",
        "npm|yarn|pnpm|Bazel|Gradle|Maven|Poetry|uv|pip-tools|CMake|Make|Meson|Cargo|Nix|Bun|conda",
        "{s} is built with {v}|dependencies of {s} are managed by {v}|we build {s} using {v}",
    ),
    _slot(
        "infrastructure tool|IaC tool|provisioning tool|secret store",
        "Terraform|Pulumi|CloudFormation|Ansible|Chef|Puppet|Vault|AWS Secrets Manager|SOPS|"
        "environment variables|Doppler|1Password|Crossplane",
        "{s} is provisioned through {v}|{s} gets its secrets from {v}|config of {s} comes from {v}",
    ),
    _slot(
        "licence|license|open source licence",
        "MIT|Apache-2.0|GPL-3.0|AGPL|BSD|MPL-2.0|a proprietary licence|LGPL|the BSL|ISC",
        "{s} is licensed under {v}|{s} is published as {v}|{s} carries the {v} licence",
    ),
    _slot(
        "ID format|primary key type|identifier scheme",
        "UUIDv4|ULID|auto-increment integers|Snowflake IDs|UUIDv7|natural keys|nanoid|KSUIDs",
        "{s} identifies rows by {v}|IDs in {s} are {v}|{s} uses {v} as keys",
    ),
    _slot(
        "branching model|versioning scheme|merge policy|review policy",
        "trunk-based development|GitFlow|squash merges|merge commits|rebase only|semantic versioning|"
        "calendar versioning|release branches|a monorepo|one repository per service",
        "{s} follows {v}|for {s} we use {v}|code of {s} is managed with {v}",
    ),
    _slot(
        "time zone|locale|character encoding|default currency",
        "UTC|Europe/Berlin|US Eastern time|UTF-8|Latin-1|UTF-16|euros|US dollars|local time",
        "{s} works in {v}|timestamps and texts of {s} are in {v}|{s} assumes {v}",
    ),
    _slot(
        "database access|ORM|data access layer|query layer",
        "SQLAlchemy|Hibernate|raw SQL|Prisma|Entity Framework|jOOQ|Django ORM|Diesel|GORM|"
        "stored procedures|ActiveRecord",
        "{s} accesses tables through {v}|queries in {s} are written with {v}|{s} relies on {v}",
    ),
    _slot(
        "test framework|test runner|testing approach",
        "pytest|unittest|Jest|Vitest|JUnit|Cypress|Playwright|Selenium|RSpec|Mocha|manual testing",
        "{s} is tested with {v}|the suite of {s} uses {v}|{v} runs the tests of {s}",
    ),
    _slot(
        "owner|maintainer|responsible team|code owner|on-call team",
        "|".join((*TEAMS, *PEOPLE)),
        "{s} is owned by {v}|{v} owns {s}|{v} is responsible for {s}|{v} maintains {s}|"
        "ask {v} about changes to {s}|{s} belongs to {v}|{v} is on call for {s}|"
        "approvals for {s} come from {v}",
    ),
    _slot(
        "model|embedding model|classifier|LLM",
        "a fine-tuned BERT|GPT-4o|Claude|Llama 3|XGBoost|logistic regression|a random forest|Mistral|"
        "Gemini|a small T5|MiniLM|a rule engine",
        "{s} scores requests with {v}|predictions of {s} come from {v}|{s} calls {v}",
    ),
    _slot(
        "storage location|region|data location|data residency",
        "Frankfurt|Virginia|Ireland|Singapore|Tokyo|Sydney|Oregon|São Paulo|Mumbai|London|Montreal",
        "{s} is deployed in {v}|data of {s} stays in {v}|{s} lives in the {v} region",
    ),
    _slot(
        "object storage|file storage|upload target|backup target",
        "S3|MinIO|Google Cloud Storage|Azure Blob|a local volume|NFS|Ceph|Backblaze B2|tape|Glacier|"
        "an FTP server",
        "{s} writes files to {v}|uploads of {s} end up in {v}|backups of {s} are kept on {v}|"
        "{s} saves attachments to {v}",
    ),
    _slot(
        "processing mode|delivery guarantee|execution model",
        "synchronously|in nightly batches|as a stream|on demand|asynchronously|in parallel|"
        "at least once|exactly once|at most once|strictly one by one",
        "{s} processes events {v}|{s} handles requests {v}|work in {s} is done {v}|"
        "{s} delivers messages {v}",
    ),
)

#: Frames for a slot with a name {n}; each says that the value holds now.
HOLDS = (
    "{s} uses {v} as its {n}",
    "the {n} of {s} is {v}",
    "we use {v} as the {n} for {s}",
    "{v} is the {n} for {s}",
    "we chose {v} as the {n} for {s}",
    "for {s} the {n} is {v}",
    "{v} was picked as the {n} of {s}",
    "{s}: {n} = {v}",
    "use {v} as the {n} in {s}",
    "the team settled on {v} as {n} for {s}",
    "{n} for {s} is set to {v}",
    "we went with {v} for the {n} of {s}",
    "set the {n} of {s} to {v}",
    "{s} has {v} as {n}",
    "our choice of {n} for {s} is {v}",
    "{s} standardised on {v} as its {n}",
)
#: The value does not hold (any more).
FAILS = (
    "{s} no longer uses {v} as its {n}",
    "{s} does not use {v} as its {n}",
    "we dropped {v} as the {n} for {s}",
    "{v} is not the {n} of {s}",
    "we decided against {v} as the {n} for {s}",
    "{v} was rejected as {n} for {s}",
    "remove {v} as the {n} from {s}",
    "never use {v} as the {n} of {s}",
    "{s} has stopped using {v} as {n}",
    "the {n} of {s} is anything but {v}",
    "{v} is gone from {s}, it is not its {n} anymore",
    "we do not want {v} as the {n} for {s}",
)
#: From {w} to {v}: {v} holds now, {w} does not.
MOVED = (
    "{s} moved from {w} to {v} as its {n}",
    "we replaced {w} with {v} as the {n} of {s}",
    "{s} switched its {n} from {w} to {v}",
    "the {n} of {s} was changed from {w} to {v}",
    "{v} instead of {w} is now the {n} of {s}",
    "migrate the {n} of {s} from {w} to {v}",
    "{v} has superseded {w} as the {n} of {s}",
    "the {n} of {s} is {v} rather than {w}",
    "as {n} for {s}, {v} replaces {w}",
)


def values(draw: Draw, slot: Slot) -> tuple[str, str]:
    """Two values that exclude each other."""
    one, other = draw.two(slot.values)
    while one.lower().lstrip("the ") == other.lower().lstrip("the "):
        one, other = draw.two(slot.values)
    return one, other
