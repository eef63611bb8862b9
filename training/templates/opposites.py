"""Predicates that exclude each other, in several wordings for either side.

A line: wordings of one side | of the other. Two wordings of one side are paraphrases (double
negation among them), a wording of each is a contradiction. {s} is the subject.
"""

from __future__ import annotations

_LINES = """
{s} is enabled; {s} is switched on; {s} is turned on; {s} is active; we activated {s} | {s} is disabled; {s} is switched off; {s} is turned off; {s} is not enabled; we deactivated {s}; {s} is off
{s} is mandatory; {s} is required; you must use {s}; {s} cannot be skipped; nobody gets around {s} | {s} is optional; {s} is not required; you may leave {s} out; {s} can be skipped; using {s} is voluntary
access to {s} is allowed for contractors; contractors may use {s}; contractors are permitted to use {s} | contractors must not use {s}; access to {s} is forbidden for contractors; contractors are banned from {s}; contractors have no access to {s}
{s} runs synchronously; callers wait for {s} to finish; {s} blocks the caller until it is done | {s} runs asynchronously; {s} returns at once and works in the background; callers do not wait for {s}
{s} is open to the internet; {s} is publicly reachable; anyone can reach {s} from outside | {s} is internal only; {s} can only be reached over the VPN; {s} is not exposed to the outside
data in {s} is encrypted at rest; {s} encrypts what it stores; {s} never writes plain text to disk | {s} stores data unencrypted; data in {s} lies on disk in plain text; {s} does not encrypt its storage
{s} is stateless; {s} keeps no state between requests; any instance of {s} can serve any request | {s} is stateful; {s} keeps state in memory between requests; {s} needs sticky sessions
{s} fails open; if the check breaks, {s} lets traffic through; on errors {s} allows the request | {s} fails closed; if the check breaks, {s} rejects everything; on errors {s} denies the request
{s} is thread-safe; {s} can be shared between threads; calling {s} from several threads is fine | {s} is not thread-safe; {s} must not be shared between threads; every thread needs its own {s}
{s} is idempotent; repeating a call to {s} changes nothing; retries against {s} are safe | {s} is not idempotent; repeating a call to {s} creates duplicates; retrying {s} is dangerous
{s} keeps the order of messages; messages leave {s} in the order they came; ordering is guaranteed by {s} | {s} may reorder messages; {s} gives no ordering guarantee; messages can leave {s} out of order
{s} retries failed calls; a failed call is tried again by {s}; {s} makes another attempt after an error | {s} gives up after the first failure; {s} never retries; a failed call in {s} is dropped at once
{s} is deprecated; {s} is on its way out; do not build anything new on {s}; {s} is considered legacy | {s} is the recommended way; new work should build on {s}; {s} is fully supported and current
{s} is production ready; {s} is stable; {s} can be used in production | {s} is experimental; {s} is not ready for production; {s} is still a prototype
{s} is backward compatible; old clients keep working with {s}; {s} does not break existing callers | {s} is a breaking change; old clients stop working with {s}; existing callers have to be adapted to {s}
the change to {s} is permanent; {s} stays like this for good; the change to {s} cannot be undone | the change to {s} is temporary; {s} will be reverted later; the change to {s} can be rolled back
the bug in {s} is fixed; the defect in {s} no longer occurs; {s} has been repaired | the bug in {s} is still open; the defect in {s} still occurs; nobody has fixed {s} yet
{s} is deterministic; the same input to {s} always gives the same result; runs of {s} are reproducible | {s} is non-deterministic; {s} gives different results for the same input; runs of {s} cannot be reproduced
{s} logs every request; each request to {s} leaves a log line; nothing passes {s} unlogged | {s} only logs a sample of requests; most requests to {s} are not logged; request logging is off in {s}
{s} scales automatically; the number of instances of {s} follows the load; autoscaling is on for {s} | {s} is scaled by hand; the number of instances of {s} is fixed; autoscaling is off for {s}
{s} deletes records immediately; a deleted record is gone from {s} at once; {s} does hard deletes | {s} only marks records as deleted; {s} does soft deletes; deleted records stay in {s} and can be restored
{s} validates its input; {s} rejects malformed requests; bad input never gets past {s} | {s} does not check its input; {s} accepts whatever is sent; malformed requests get through {s}
{s} is open source; the code of {s} is public; anyone can read the source of {s} | {s} is closed source; the code of {s} is proprietary; the source of {s} is not published
{s} supports pagination; results of {s} come in pages; large result sets from {s} are split | {s} returns everything at once; {s} has no pagination; results of {s} are not paged
{s} is part of the monorepo; {s} lives in the shared repository; {s} has no repository of its own | {s} has its own repository; {s} was split out of the monorepo; {s} lives in a separate repo
{s} was faster than before; latency of {s} went down; {s} got quicker after the change; the change sped {s} up | {s} was slower than before; latency of {s} went up; the change made {s} slower; {s} regressed in speed
memory use of {s} grew; {s} needs more memory than before; the footprint of {s} increased | memory use of {s} shrank; {s} needs less memory than before; the footprint of {s} was reduced
traffic to {s} is rising; {s} gets more requests every week; load on {s} keeps growing | traffic to {s} is falling; {s} gets fewer requests every week; load on {s} keeps shrinking
{s} can be deployed without downtime; deploying {s} interrupts nobody; users do not notice deployments of {s} | {s} has to be taken down for a deployment; deploying {s} causes an outage; users are locked out while {s} is deployed
deployments of {s} need an approval; somebody has to sign off before {s} goes out; {s} cannot ship without a sign-off | {s} deploys automatically on merge; nobody has to approve deployments of {s}; merging is enough to ship {s}
{s} trusts the caller; {s} does no authorization checks; {s} believes whatever user id it is sent | {s} checks permissions itself; {s} verifies every caller; {s} trusts nobody
tests of {s} run in parallel; the tests of {s} are run concurrently; several tests of {s} run at once | tests of {s} run one after the other; the tests of {s} must run serially; only one test of {s} runs at a time
the migration of {s} is complete; {s} has been fully migrated; nothing of {s} is left on the old system | the migration of {s} has not started; {s} still runs entirely on the old system; {s} has yet to be migrated
{s} holds personal data; {s} stores names and addresses of customers; there is PII in {s} | {s} holds no personal data; {s} is free of PII; {s} never stores anything about persons
{s} reads from the replicas; queries of {s} go to a replica; {s} never queries the primary | {s} reads from the primary; queries of {s} go to the primary; {s} does not use the replicas
a feature flag guards {s}; {s} is behind a flag; {s} can be switched off with a flag | {s} is live for everyone without a flag; {s} is not behind a flag; no flag controls {s}
{s} stops when a job fails; one failed job halts {s}; {s} aborts on the first error | {s} carries on when a job fails; {s} skips failed jobs and continues; errors do not stop {s}
updates to {s} are applied incrementally; {s} only processes what changed; {s} works on deltas | {s} is rebuilt from scratch every time; {s} always reprocesses everything; {s} does full rebuilds
{s} overwrites existing values; the newest write wins in {s}; {s} replaces what is there | {s} keeps existing values; the first write wins in {s}; {s} never overwrites anything
{s} is case-sensitive; upper and lower case matter in {s}; {s} tells "A" from "a" | {s} ignores case; upper and lower case are the same to {s}; {s} is case-insensitive
{s} was approved; the proposal for {s} was accepted; we got the green light for {s} | {s} was rejected; the proposal for {s} was turned down; {s} did not get approved
{s} needs a restart after a config change; config changes take effect in {s} only after a restart | {s} picks up config changes on the fly; {s} reloads its config without a restart; no restart of {s} is needed for new settings
{s} works offline; {s} can be used without a network; {s} needs no connection | {s} needs a network connection; {s} does not work offline; without internet {s} is unusable
{s} shares a database with other services; the schema of {s} is shared; several services write to the tables of {s} | {s} has a database of its own; nobody else touches the tables of {s}; {s} does not share its schema
errors in {s} are shown to users; {s} reports failures to the user; users see what went wrong in {s} | {s} hides errors from users; {s} fails silently; users never see errors of {s}
we pay for {s}; {s} costs us money every month; {s} is a paid product | {s} is free of charge; we use {s} at no cost; {s} costs nothing
{s} is maintained; somebody looks after {s}; {s} still gets updates | {s} is abandoned; nobody looks after {s} anymore; {s} gets no more updates
alerts of {s} page the on-call engineer; {s} wakes somebody up at night; an alert from {s} triggers a page | alerts of {s} only go to a chat channel; {s} never pages anybody; nobody is woken by {s}
{s} is a single point of failure; there is only one instance of {s}; if {s} dies, everything stops | {s} is redundant; {s} survives the loss of an instance; {s} runs in several copies
{s} blocks merging; a red {s} prevents the merge; nothing gets merged while {s} fails | {s} is informational; merging is possible even if {s} fails; a red {s} does not block the merge
the root cause lies in {s}; {s} caused the outage; the incident was {s}'s fault | {s} had nothing to do with the outage; {s} was ruled out as the cause; the incident was not caused by {s}
{s} limits requests per client; clients of {s} are throttled; {s} enforces a rate limit | {s} has no rate limit; clients can call {s} as often as they like; {s} does not throttle anybody
backups of {s} are tested; we restore backups of {s} regularly; restoring {s} is practised | backups of {s} have never been tested; nobody ever tried to restore {s}; restores of {s} are untested
{s} buffers writes; {s} collects writes and flushes them later; writes to {s} are batched | {s} writes through; every write to {s} goes straight to disk; writes to {s} are not buffered
{s} is multi-tenant; several customers share one {s}; tenants share {s} | each customer gets a separate {s}; {s} is single-tenant; {s} is never shared between customers
{s} accepts connections over plain HTTP; {s} can be called without TLS; TLS is not needed for {s} | {s} insists on HTTPS; {s} refuses unencrypted connections; TLS is compulsory for {s}
{s} loads eagerly; {s} is loaded at startup; {s} gets initialised when the process starts | {s} loads lazily; {s} is loaded on first use; {s} is not initialised until somebody needs it
the API of {s} is frozen; the interface of {s} will not change anymore; no more API changes in {s} | the API of {s} is still in flux; the interface of {s} may change any time; expect API changes in {s}
generated code of {s} is checked in; we commit the generated files of {s}; the generated sources of {s} are in git | generated code of {s} is not checked in; the generated files of {s} are git-ignored; {s} is generated at build time and never committed
{s} pins its dependencies; versions in {s} are locked; {s} uses exact versions | {s} floats its dependencies; {s} takes whatever version is newest; versions in {s} are not locked
the queue of {s} is bounded; {s} refuses work when its queue is full; {s} applies back pressure | the queue of {s} is unbounded; {s} queues without limit; {s} accepts work no matter how long the queue is
{s} runs as root; {s} has root privileges; the process of {s} is privileged | {s} runs as an unprivileged user; {s} never has root; {s} dropped its root privileges
support for {s} was added; {s} is supported; we now support {s} | support for {s} was removed; {s} is not supported; we do not support {s}
{s} may call the database directly; direct database access from {s} is fine | {s} must go through the API; {s} must not touch the database directly; direct database access from {s} is off limits
{s} handles time zones itself; {s} converts to local time; times from {s} are local | {s} only deals in UTC; {s} never converts to local time; times from {s} are always UTC
"""


def oppositions() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Wordings of one side and of the other, for each line."""
    found = []
    for line in _LINES.strip().splitlines():
        one, other = line.split(" | ")
        found.append((tuple(one.split("; ")), tuple(other.split("; "))))
    return found


OPPOSITIONS = tuple(oppositions())

#: What is stated on a flag, rule or feature rather than on a system.
FEATURES = (
    "two-factor login|dark mode|the new checkout flow|request signing|verbose logging|code review|"
    "query caching|the retry queue|telemetry|strict mode|the lint step|IP allow-listing|"
    "compression|the audit trail|soft delete|the beta banner|read-only mode|server-side rendering|"
    "branch protection|auto-merge|the circuit breaker|prefetching|hot reload|debug mode|"
    "CSRF protection|automatic failover|the nightly job|schema validation|rate limiting|SSO|"
    "type checking|the coverage gate|session pinning|the legacy importer|HTTP/2|connection pooling|"
    "signed commits|the smoke test|anonymous access|webhook delivery|image resizing|data masking"
).split("|")
