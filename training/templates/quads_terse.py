"""Written ones in the terse forms of commits, settings and logs, and decisions with their reasons.

The form is that of ``quads``: a statement | the same | what it excludes | beside the point.
"""

from __future__ import annotations

_LINES = """
fix: close file handles in the exporter | The exporter now closes its file handles. | The exporter still leaks file handles. | fix: wrong column order in the exporter
feat: add dark theme to settings page | The settings page has got a dark theme. | The settings page only has a light theme. | feat: add search to settings page
chore: drop Node 16 | Node 16 is no longer supported. | Node 16 is part of the test matrix. | chore: add Node 22 to the test matrix
revert: enable HTTP/3 | HTTP/3 is off again. | HTTP/3 is on for all users. | revert: new icons
perf: batch inserts in groups of 500 | Inserts are now sent 500 at a time. | Each row is inserted with a statement of its own. | perf: cache the compiled templates
refactor: move validation into the model layer | Validation now happens in the model layer. | Validation is done in the controllers. | refactor: move logging into a middleware
`max_connections = 200` | The connection limit is two hundred. | At most 50 connections are allowed. | `max_files = 50`
`retry.enabled=false` | Retries are switched off in the config. | Failed calls are retried three times. | `cache.enabled=true`
`LOG_LEVEL=debug` is set in production. | Production logs at debug level. | Production only logs errors. | `LOG_LEVEL=error` is set in the tests.
GET /users returns 200 with an empty list when nobody matches. | If there is no match, /users answers with an empty list. | GET /users returns 404 when nobody matches. | GET /teams returns 404 for an unknown team.
POST /orders returns 202 and works in the background. | Orders are accepted with a 202 and processed later. | POST /orders only returns when the order has been processed. | DELETE /orders returns 204.
Exit code 3 means a timeout. | On timeout the tool ends with code 3. | Exit code 3 means that the file was not found. | Exit code 2 means wrong usage.
Cron: `0 3 * * *` cleanup | Cleanup starts at three in the morning. | Cleanup starts at noon. | Cron: `0 12 * * *` report
Use tabs in Go files. | Go code is indented with tabs. | Go files are indented with four spaces. | Python files are indented with four spaces.
/var/data is on the SSD. | The SSD holds /var/data. | /var/data is on a network share. | /var/log is on a network share.
Decision: no Kubernetes until we have more than ten services, a VM is enough. | We stay on plain VMs for now instead of Kubernetes. | All services were moved to Kubernetes. | We have seven services at the moment.
Decision: write the parser ourselves because no library keeps comments. | We build our own parser. | We use an existing library to parse. | Comments start with a hash.
Decision: Redis only as cache, never as the source of truth. | Nothing may exist in Redis alone. | The cart is stored in Redis and nowhere else. | Redis has 2 GB of memory.
Decision: one repo for app and API. | App and API share a repository. | App and API have separate repositories. | The API has a changelog.
Decision: we sell through partners only. | There are no direct sales. | Customers can buy directly on our site. | Partners get a discount.
Rejected: storing blobs in Postgres. | We will not keep blobs in Postgres. | Blobs are stored in a Postgres table. | Postgres stores the names of blobs.
Workaround: restart the worker every six hours until the leak is found. | As long as the leak is not found, the worker gets a restart four times a day. | The worker needs no restarts. | The worker was moved to a larger machine.
Incident 231: root cause was a missing index. | A missing index led to incident 231. | Incident 231 was caused by a memory leak. | Incident 232 was caused by a memory leak.
Incident review: detection took 40 minutes since no alert fired. | It took forty minutes to notice, there was no alert. | An alert fired within a minute of the failure. | The review was held on Thursday.
Learned: the vendor's sandbox resets every Sunday. | Each Sunday the vendor wipes the sandbox. | Data in the vendor's sandbox is kept for good. | The vendor's sandbox has test cards.
Learned: pagination tokens expire after ten minutes. | A pagination token can only be used for ten minutes. | Pagination tokens do not expire. | Upload tokens expire after a day.
Observation: p95 doubles when the cache is cold. | With a cold cache the 95th percentile is twice as high. | A cold cache makes no difference to latency. | The cache is cold after a deploy.
Observation: most tickets come from the importer. | The importer is behind the majority of tickets. | Hardly any ticket is about the importer. | Tickets are sorted by age.
Preference: short functions over comments. | We would rather have short functions than comments. | Long functions are fine as long as they are commented. | Functions have type hints.
Preference: Priya wants stack traces in full. | Priya likes to see complete stack traces. | Priya wants stack traces cut to five lines. | Tom wants stack traces cut to five lines.
Task: rename the column before Friday. | The column has to be renamed by Friday. | The column keeps its name. | The column has an index.
Blocked: we wait for the legal team. | The legal team has to answer before we can go on. | Legal has answered, nothing holds us up. | The legal team has four people.
The token bucket refills at 10 per second. | Ten tokens are added to the bucket each second. | The bucket gets one token a minute. | The token bucket holds 100 tokens.
The hash ring has 128 virtual nodes per host. | There are 128 virtual nodes on the ring for each host. | Each host has a single point on the ring. | The cluster has 8 hosts.
We compare floats with a tolerance of 1e-6. | Floats count as equal if they differ by less than 1e-6. | Floats are compared exactly. | Floats are printed with six digits.
{s} drops privileges after binding port 80. | Once port 80 is bound, {s} continues without root. | {s} keeps running as root. | {s} also listens on port 8080.
{s} writes its pid to /run. | The pid file of {s} is in /run. | {s} does not write a pid file. | {s} writes its log to /var/log.
{s} ignores SIGHUP. | SIGHUP has no effect on {s}. | On SIGHUP {s} reads its config again. | On SIGTERM {s} finishes its work.
{s} returns results sorted by date. | What {s} returns is ordered by date. | Results of {s} come in no particular order. | {s} returns at most 100 results.
{s} treats an empty string as missing. | To {s}, an empty string is the same as no value. | {s} tells an empty string from a missing value. | {s} trims strings.
{s} opens a circuit after five failures. | Five failures make {s} stop calling for a while. | {s} keeps calling no matter how many calls fail. | {s} opens at nine.
{s} talks to Stripe through a queue. | Calls from {s} to Stripe are queued. | {s} calls Stripe directly within the request. | {s} talks to the tax office by mail.
Use `uuid7` for new tables. | New tables get UUIDv7 keys. | New tables get integer keys. | Old tables have integer keys.
Never log the Authorization header. | The Authorization header must be kept out of the logs. | The Authorization header is written to the access log. | The User-Agent header is written to the access log.
Prefer composition over inheritance here. | In this code base, inheritance is avoided in favour of composition. | Build class hierarchies, composition is discouraged here. | Classes are documented.
Mocks are banned from the tests. | Tests must not use mocks. | The tests rely on mocks for every dependency. | Tests are named after what they test.
We vendor all dependencies. | All dependencies are checked in. | Dependencies are downloaded at build time. | Dependencies are listed in a file.
Images are built for arm64 only. | There are no images for anything but arm64. | Images are built for amd64 and arm64. | Images are about 80 MB.
The team lead decides on releases, not the product manager. | Releases are decided by the team lead. | The product manager decides when to release. | The product manager writes the announcements.
Staging is rebuilt nightly from a snapshot. | Each night staging starts afresh from a snapshot. | Staging has not been rebuilt for a year. | Production is never rebuilt.
Quota: 50 GB per project. | Each project can use fifty gigabytes. | Projects have no quota. | Quota: 5 users per project.
The SDK throws on HTTP errors. | An HTTP error makes the SDK raise an exception. | The SDK returns a result object and never throws on HTTP errors. | The SDK logs HTTP errors.
Subscriptions renew automatically. | A subscription goes on unless it is cancelled. | A subscription ends after a year and has to be bought again. | Subscriptions are paid by card.
The gateway strips trailing slashes. | A slash at the end is removed by the gateway. | The gateway leaves trailing slashes alone. | The gateway adds a request id.
Reads are allowed during maintenance. | You can still read while maintenance is going on. | During maintenance nothing works, not even reads. | Maintenance happens on Sundays.
The new pricing applies to existing customers, too. | Existing customers also pay the new prices. | Existing customers keep their old prices. | The new pricing was announced in June.
The proxy retries idempotent requests only. | Requests that are not idempotent are not retried by the proxy. | The proxy retries every request, POST included. | The proxy keeps connections open.
Two-person rule for production changes. | Nobody changes production alone. | One engineer alone can change production. | Two-week notice for maintenance.
We dropped Sentry for GlitchTip. | GlitchTip took the place of Sentry. | Errors are reported to Sentry. | Sentry offers a free plan.
Elixir was tried and abandoned for {s}. | We experimented with Elixir in {s} and gave it up. | {s} is a pure Elixir project. | Elixir runs on the Erlang VM.
The fallback region was never tested. | Nobody ever tried to run from the fallback region. | We switch to the fallback region once a month as an exercise. | The fallback region is in Sweden.
The queue length is capped at 10k. | No more than 10,000 items fit into the queue. | The queue can grow as long as there is memory. | The queue is emptied at night.
"""


def terse_quads() -> tuple[tuple[str, str, str, str], ...]:
    """(statement, paraphrase, contradiction, beside the point) for each line."""
    found = []
    for line in _LINES.strip().splitlines():
        statement, paraphrase, contradiction, related = line.split(" | ")
        found.append((statement, paraphrase, contradiction, related))
    return tuple(found)


TERSE_QUADS = terse_quads()
