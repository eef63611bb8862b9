"""The hardest of the written ones: what is beside the point looks like a contradiction.

The fourth field has the same predicate for another subject, place or time, or adds a detail. The
form is that of ``quads``.
"""

from __future__ import annotations

_LINES = """
Password resets are valid for one hour. | A reset link stops working sixty minutes after it was sent. | Password reset links can be used for three days. | Invitation links are valid for a week.
The order service publishes to Kafka. | Events of the order service end up on a Kafka topic. | The order service posts its events to RabbitMQ. | The shipping service publishes to RabbitMQ.
Ingrid reviews all database migrations. | No migration goes through without Ingrid having looked at it. | Omar reviews the database migrations. | Omar reviews all changes to the API.
{s} times out after two seconds. | After 2000 ms {s} gives up waiting. | {s} waits for a full minute before it times out. | {s} retries after one minute.
Warnings from the scanner block the release. | We cannot release as long as the scanner complains. | We release even if the scanner finds something. | The scanner runs before each release.
Production runs in three zones. | There are three availability zones in production. | All of production is in a single zone. | Staging runs in a single zone.
The web client may not talk to the ledger. | Calls from the web client to the ledger are forbidden. | The web client posts bookings straight to the ledger. | The back office talks to the ledger.
The batch job runs on the old servers. | It is the old servers that run the batch job. | The batch job was moved to the new cluster. | The web server runs on the new cluster.
Public endpoints use kebab-case paths. | Paths of public endpoints are in kebab-case. | Public endpoints have paths in snake_case. | Database columns are in snake_case.
Offsets are committed after processing. | We commit an offset only when the message has been handled. | Offsets are committed as soon as a message arrives. | Database transactions are committed by the caller.
Previews are rendered when somebody asks for them. | A preview is not made until it is needed. | Previews are made in advance when the file is saved. | Previews are made with ImageMagick.
Hugo has the pager tonight. | Tonight it is Hugo who is on call. | Dana is on call tonight. | Dana has the pager tomorrow.
New prices are visible within a minute. | It takes less than sixty seconds until a new price shows. | A new price shows up only the next morning. | New prices are approved within a day.
Guests may send ten messages an hour. | Without an account you can write at most ten messages per hour. | Guests can send as many messages as they want. | Members may send a thousand messages an hour.
The slow test was disabled. | We no longer run the slow test. | The slow test is run with every build. | The slow query was optimised.
We are staying with Java 17. | There will be no move away from Java 17. | We are now on Java 21. | The agent needs Java 8.
Outgoing traffic on port 25 is blocked. | Nothing gets out through port 25. | Port 25 is open for outgoing traffic. | Incoming traffic on port 22 is blocked.
Version 4.2 fixed the deadlock. | The deadlock is gone as of 4.2. | 4.2 still deadlocks under load. | Version 4.2 introduced a new setting.
Each customer has a separate bucket. | Buckets are per customer. | The files of all customers are in one bucket. | Each customer has an account manager.
No new features until the migration is over. | During the migration feature work is suspended. | Features are being developed in parallel with the migration. | No new hires until the end of the year.
Robots never log in to the console. | Console logins are for humans only. | The deploy bot logs in to the console. | Robots have keys that expire.
A confirmed booking cannot be changed. | Bookings are final once they are confirmed. | Agents can still change a booking after confirmation. | A draft booking can be changed.
The new index cut query time from 900 ms to 80 ms. | With the new index, queries are about ten times as fast. | Queries became slower with the new index. | The new index takes 900 MB.
We decided against microfrontends. | Microfrontends were considered and turned down. | The portal is made of microfrontends. | We decided against a native app.
Removing a team removes its projects. | When a team is deleted its projects go with it. | Projects survive the deletion of their team. | Removing a user removes their tokens.
Monday's incident was a network problem. | The network was what failed on Monday. | What failed on Monday was the database, the network was fine. | Sunday's incident was a full disk.
Every response has a request id. | No response is sent without a request id. | Error responses carry no request id. | Every log line has a time.
Type errors fail the build. | The build does not pass with type errors. | Type errors are reported but the build goes on. | Lint warnings do not fail the build.
Attachments may have 20 MB. | An attachment can be as large as twenty megabytes. | Attachments over 5 MB are rejected. | Avatars over 5 MB are rejected.
One process writes to the log file. | Only a single process has the log file open for writing. | Many processes write to the log file at once. | Many processes read the log file.
The agent needs kernel 5.4 or newer. | Kernels older than 5.4 cannot run the agent. | The agent runs on kernel 4.19. | The agent was tested on kernel 6.1.
Credentials are kept in the secret manager. | The secret manager is where credentials live. | Credentials are in a file next to the code. | Feature flags are kept in a file next to the code.
The switch was completed on Friday. | Since Friday everybody is on the new system. | Half of the users are still on the old system. | The switch was planned by the data team.
{s} was migrated off Heroku. | {s} does not run on Heroku anymore. | {s} is hosted on Heroku. | The status page is hosted on Heroku.
Connections are closed after 30 seconds without traffic. | An idle connection lives for half a minute. | Idle connections are kept open for an hour. | Connections are opened on demand.
Search requests may be served from stale data. | Search results can be out of date. | Search always reflects the latest write. | Search requests are logged.
Each deploy is tagged. | There is a git tag for every deploy. | Deploys leave no tag in git. | Each deploy is announced.
We pay the invoice within 14 days. | Invoices are paid in two weeks at the latest. | We take two months to pay an invoice. | Customers pay within 30 days.
Zoe has left the company. | Zoe does not work here anymore. | Zoe runs the platform team. | Zoe built the first version of the importer.
The importer is idempotent: files can be sent again. | Sending a file to the importer twice is harmless. | A file that is sent twice is imported twice. | The importer handles files of any size.
Threads share the connection. | One connection is used by all threads. | Each thread opens a connection of its own. | Threads share the configuration.
{s} gets its time from NTP. | NTP sets the clock of {s}. | The clock of {s} is set by hand. | {s} gets its settings from a file.
Data older than a year is moved to cold storage. | After twelve months data goes to the archive tier. | All data stays in hot storage forever. | Logs older than a week are compressed.
Sorting is done by the database. | The database returns rows in order. | We sort the rows in the browser. | Filtering is done in the browser.
The endpoint is rate limited. | You cannot call the endpoint as often as you like. | There is no limit on calls to the endpoint. | The endpoint is documented.
Approvals by the author do not count. | Authors cannot approve their own changes. | An author may approve their own change. | Approvals by bots count.
The upgrade to Postgres 16 failed and was rolled back. | We are back on the old Postgres after the upgrade to 16 went wrong. | Postgres 16 has been running without trouble since the upgrade. | The upgrade to Postgres 16 was planned for two hours.
There is a free plan. | You can use the product without paying. | Every plan costs money. | There is a plan for teams.
The experiment is over. | The experiment has ended. | The experiment is still running. | The experiment had two arms.
Translations are made by people. | Human translators do the translations. | Translations come from a machine and nobody checks them. | Reviews are made by people.
GET requests never change anything. | GET is free of side effects. | Opening the unsubscribe link with GET removes the subscription. | POST requests change things.
The scheduler runs in UTC. | Cron times are in universal time. | Cron times follow Berlin time. | The reports show Berlin time.
Values are cached for five minutes. | A value stays in the cache for 300 s. | Values are never cached. | Values are computed in five milliseconds.
Access logs contain no IP addresses. | IP addresses are stripped from the access log. | The access log records the IP address of each visitor. | Audit logs record the IP address of each admin.
The contract forbids subcontractors. | Subcontracting is ruled out by the contract. | Under the contract we may use subcontractors. | The contract was signed in May.
The gateway adds the tenant header. | The tenant header is set by the gateway. | Clients have to send the tenant header themselves. | The gateway removes cookies.
Releases are cut from main. | A release is made from the main branch. | Each release comes from a long-lived develop branch. | Hotfixes are cut from a tag.
There is no need to restart after changing a flag. | Flags take effect without a restart. | Changing a flag has no effect until the service is restarted. | There is no need to log out after changing the password.
We no longer mirror the repository. | The mirror of the repository was given up. | The repository is mirrored every ten minutes. | We no longer build for 32-bit.
{s} cannot see soft-deleted rows. | Rows that are marked as deleted are invisible to {s}. | {s} shows soft-deleted rows as well. | Admins can see soft-deleted rows.
The ETL moved to Dagster. | Dagster runs the ETL these days. | The ETL is a shell script started by cron. | The cleanup is a shell script started by cron.
We use spaces, not tabs. | Indentation is done with spaces. | Code is indented with tabs. | Makefiles are indented with tabs.
Load tests run against a separate cluster. | There is a cluster of its own for load tests. | Load tests are run in production. | Smoke tests are run in production.
All traffic goes through the mesh. | No service is reached other than through the mesh. | {s} bypasses the mesh and talks to the database directly. | The mesh is Istio.
The consumer group has twelve members. | Twelve consumers are in the group. | There are four consumers in the group. | The topic has four partitions.
Dates are written year first. | We write dates as YYYY-MM-DD. | Dates have the day first, as in 31.12.2025. | Times are written with seconds.
The watchdog kills {s} when it hangs. | If {s} hangs, the watchdog ends it. | Nothing happens when {s} hangs, somebody has to notice. | The watchdog was added in spring.
We will open an office in Lisbon. | An office in Lisbon is coming. | The plan for a Lisbon office was abandoned. | We opened an office in Porto.
The survey is anonymous. | Nobody can tell who gave which answer in the survey. | Answers in the survey are stored with the name of the employee. | The survey has ten questions.
Model outputs are checked by a second model. | A second model reviews what the first one says. | Nobody and nothing checks the output of the model. | Model outputs are stored for a week.
The demo data is reset each night. | Every night the demo starts from fresh data. | Changes to the demo data stay. | The demo data has fifty customers.
A blank password is refused. | You cannot set an empty password. | An empty password is accepted. | A blank description is accepted.
The CDN caches HTML. | HTML pages are served from the CDN's cache. | The CDN passes HTML through and caches images only. | The CDN compresses images.
{s} uses a read-only account for reports. | Reports in {s} are made with an account that cannot write. | {s} makes reports with the admin account. | {s} makes reports in PDF.
Refunds need the approval of a lead. | No refund without a lead saying yes. | Support can refund without asking anybody. | Discounts need the approval of sales.
The old cluster was switched off in June. | In June we shut the old cluster down. | The old cluster still serves a third of the traffic. | The new cluster was switched on in May.
The parser is hand-written. | We wrote the parser ourselves, without a generator. | The parser is generated by ANTLR. | The lexer has forty tokens.
Nothing in the app blocks the main thread. | All slow work is kept off the main thread. | The app reads files on the main thread. | The app has one window.
Vectors have 384 dimensions. | Each vector is made of 384 numbers. | Vectors have 1536 dimensions. | There are 1536 vectors.
Scores lie between 0 and 1. | No score is below zero or above one. | Scores go up to 100. | There are 100 scores.
{s} must not be used for new projects. | New projects have to do without {s}. | {s} is our choice for new projects. | {s} was used for many projects.
The grace period is ten days. | Customers have ten days of grace. | There is no grace period. | The trial period is ten days.
Duplicate events are dropped by the consumer. | The consumer throws duplicates away. | The consumer processes duplicates again. | The producer numbers its events.
The team agreed on trunk-based development. | Everyone commits to trunk, that is what the team agreed. | The team works with long-lived branches. | The team agreed on pair programming.
"""


def hard_quads() -> tuple[tuple[str, str, str, str], ...]:
    """(statement, paraphrase, contradiction, beside the point) for each line."""
    found = []
    for line in _LINES.strip().splitlines():
        statement, paraphrase, contradiction, related = line.split(" | ")
        found.append((statement, paraphrase, contradiction, related))
    return tuple(found)


HARD_QUADS = hard_quads()
