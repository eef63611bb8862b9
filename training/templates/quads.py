"""Written one by one: a statement | the same in other words | what it excludes | beside the point.

Templates teach forms; these teach what engineers know about the world. {s} is any subject.
"""

from __future__ import annotations

_LINES = """
We deploy {s} only on weekday mornings. | Releases of {s} go out Monday to Friday before noon and at no other time. | {s} is usually deployed on Saturday nights. | Deployments of {s} are announced in the release channel.
Customer data never leaves the EU. | Data about customers is kept inside the European Union at all times. | Customer records are replicated to a data centre in Ohio. | The EU office is in Dublin.
{s} was rewritten in Rust because the garbage collector caused pauses. | To get rid of GC pauses, {s} was ported to Rust. | {s} is still the original Java code. | Garbage collection pauses are visible in the latency graphs of {s}.
Users have to confirm their e-mail address before they can log in. | Logging in is impossible until the e-mail address has been verified. | New users can log in straight away, e-mail verification is optional. | The confirmation e-mail is sent from a no-reply address.
We store money as integers of cents. | Amounts are kept as whole cents, not as floating point. | Prices are saved as floats. | Prices are shown with two decimals.
The nightly job rebuilds the whole index. | Every night the index is recreated from scratch. | The nightly job only adds the documents that changed. | The nightly job sends a mail when it is done.
{s} must answer health checks within a second. | Health checks of {s} have to be answered in under 1000 ms. | {s} may take up to ten seconds to answer a health check. | Health checks of {s} are called by the load balancer.
Feature branches live for at most two days. | A feature branch has to be merged within 48 hours. | Feature branches may stay open for weeks. | Feature branches are named after the ticket.
We do not use an ORM. | Queries are written as plain SQL, there is no object-relational mapper. | All tables are mapped with Hibernate. | The schema has about forty tables.
Every change needs two reviewers. | No change goes in without two people having looked at it. | A single approval is enough to merge. | Reviewers are picked by rotation.
Logs are kept for 30 days. | We throw logs away after a month. | Logs are retained for a whole year. | Logs are written as JSON lines.
The API returns 404 for resources of other tenants. | Asking for another tenant's resource yields a 404. | When a resource belongs to another tenant, the API answers with 403. | Tenants are identified by a header.
Passwords are never logged. | We make sure that no password ends up in a log. | The debug log contains passwords in clear text. | Passwords have to be twelve characters long.
We gave up on microservices and went back to a monolith. | The microservices were merged into one application. | The monolith was split up into a dozen services. | The application has a hundred thousand lines.
Background jobs are processed in the order in which they were created. | The oldest job is always worked on first. | The newest job is picked first. | Background jobs are written in Python.
The mobile app supports tablets. | The app works on tablets as well. | The app can only be used on phones. | The app has a tablet icon.
{s} uses optimistic locking. | Conflicting writes in {s} are detected by a version column instead of locks. | {s} takes a row lock before each update. | Conflicts in {s} are rare.
Retries use exponential backoff. | The wait between attempts doubles each time. | Retries happen at a fixed interval of one second. | Retries are counted in a metric.
Sessions survive a restart. | After a restart users are still logged in. | A restart logs everybody out. | A restart takes about a minute.
Only admins can delete projects. | Deleting a project is reserved for administrators. | Any member of a project is able to delete it. | Deleted projects show up in the audit log.
The cache is shared between all instances. | All instances use one common cache. | Each instance keeps its own cache. | The cache is warmed at startup.
The load test showed that {s} handles 5,000 requests per second. | {s} managed 5k rps in the load test. | Under load {s} collapsed at 800 requests per second. | The load test of {s} ran for an hour.
We write migrations by hand. | Schema migrations are hand-written. | Migrations are generated automatically from the models. | Migrations run before the new version starts.
Downtime during the upgrade is not acceptable. | The upgrade has to happen without an interruption of service. | A short outage during the upgrade is fine with everybody. | The upgrade was scheduled by the platform team.
The client library is generated from the OpenAPI file. | We generate the client from the OpenAPI description. | The client library is maintained by hand. | The OpenAPI file is in the docs folder.
Errors are returned as problem+json. | The API reports errors in the RFC 7807 format. | Errors come back as plain text. | Errors are translated into German.
Anonymous users can read the documentation. | No login is needed to read the docs. | The documentation is only visible after login. | The documentation is built with Sphinx.
{s} is allowed to lose a few events. | It is fine if {s} drops an event now and then. | Not a single event may be lost in {s}. | Events of {s} carry a timestamp.
The staging database is a copy of production with masked names. | Staging has production data in which names are masked. | Staging contains only made-up data. | The staging database is refreshed on Sundays.
We stopped supporting Internet Explorer. | Internet Explorer is not supported anymore. | The site has to work in Internet Explorer. | Two percent of the visitors use an old browser.
The model is retrained every week. | A new model is trained weekly. | The model was trained once and has not been touched since. | The model has twelve features.
GPU instances are too expensive, so inference runs on CPUs. | For cost reasons we do inference on CPU. | Inference runs on GPU nodes. | Inference results are cached.
The old endpoint keeps working until the end of the year. | Until December 31 the old endpoint stays available. | The old endpoint has already been removed. | The old endpoint gets ten calls a day.
Configuration comes from environment variables only. | There are no config files, everything is set in the environment. | Settings are read from a YAML file. | Configuration is validated at startup.
The outage was caused by an expired certificate. | An expired TLS certificate brought us down. | A full disk was behind the outage. | The outage lasted forty minutes.
The outage was caused by a bad deploy. | A faulty release took the site down. | The outage started hours before anything was deployed; a network switch had failed. | The outage was reported by customers.
Memory leaks because listeners are never removed. | The leak comes from event listeners that stay registered. | The leak has nothing to do with listeners, it is the image cache. | The leak shows after two days.
{s} cannot be scaled horizontally. | Adding more instances of {s} does not work. | We just add instances when {s} gets busy. | {s} has a dashboard of its own.
Webhooks are signed with a shared secret. | Each webhook carries a signature made with a shared secret. | Webhooks are sent without any signature. | Webhooks are retried for a day.
We accept payments by card only. | Cards are the only way to pay. | Customers can pay by bank transfer or PayPal. | Payments are settled daily.
Files larger than 10 MB are rejected. | Uploads over 10 MB are refused. | Uploads of 50 MB go through. | Files are scanned for viruses.
Everyone in the team has production access. | All team members can get onto production machines. | Only the two leads have access to production. | Production access is logged.
The report is sent once a day. | The report goes out daily. | The report arrives every hour. | The report lists open incidents.
{s} polls for changes. | {s} asks for changes at regular intervals. | {s} gets notified of changes by push. | {s} handles about ten changes a day.
The frontend talks to {s} directly. | There is nothing between the frontend and {s}. | The frontend reaches {s} only through the gateway. | The frontend is built with Vite.
Tests hit a real database. | The test suite runs against an actual database. | In tests the database is mocked. | The tests take four minutes.
There is no staging environment. | We have no staging. | Everything is tried out in staging first. | The environments are described in the wiki.
We run our own mail server. | Mail is sent from a server that we operate ourselves. | Mail delivery is outsourced to a provider. | Mail templates are in the repository.
The spike was caused by a bot. | A bot was behind the traffic spike. | The spike was real users after the newsletter. | The spike lasted for two hours.
Names are unique per tenant. | Two objects of one tenant cannot have the same name. | A tenant can use one name several times. | Names may have up to 80 characters.
Deleting an account removes all data within 30 days. | All data is erased at most a month after an account was deleted. | Data of deleted accounts is kept indefinitely. | Accounts can be deleted in the settings.
{s} has no tests. | There is not a single test for {s}. | {s} is thoroughly tested. | {s} has three contributors.
The API is versioned in the URL. | The version of the API is part of the path. | Clients choose the API version with a header. | The API has sixty endpoints.
Old versions are supported for two years. | Each version gets fixes for 24 months. | Only the latest version gets fixes. | Versions are tagged in git.
Messages can be delivered twice. | A message may arrive more than once. | Each message arrives exactly once. | Messages have a header with the sender.
The job is safe to run twice. | Running the job again does no harm. | Running the job a second time corrupts the totals. | The job was written by Ingrid.
Clocks of the nodes are synchronised. | All nodes have the same time. | The clocks of the nodes drift apart by minutes. | The nodes are in one rack.
We pinned the base image by digest. | The base image is referenced with its sha256 digest. | The Dockerfile uses the latest tag of the base image. | The base image is Alpine.
The new dashboard replaces the old one. | The old dashboard is superseded by the new one. | The new dashboard exists in addition to the old one, which stays. | The dashboard shows five charts.
{s} was shut down in spring. | We turned {s} off for good last spring. | {s} is running and serves customers today. | {s} was first released in 2019.
The team decided to keep the legacy importer. | The legacy importer stays. | The legacy importer will be thrown out. | The legacy importer reads CSV.
Rollbacks are automatic when the error rate rises. | If errors go up, the release is rolled back without anybody doing anything. | Someone has to roll back by hand. | The error rate is on the dashboard.
Secrets are rotated every 90 days. | Every three months new secrets are issued. | Secrets have never been rotated. | Secrets are listed in the inventory.
Partners connect over a VPN. | Partners need a VPN connection. | Partners reach us over the public internet. | Partners have a support contract.
All services write to one log stream. | There is a single log stream for all services. | Each service has a log stream of its own. | The log stream is compressed.
The importer skips invalid rows. | Rows that are invalid are left out and the import goes on. | One invalid row makes the whole import fail. | The importer reads UTF-8.
Read replicas lag by less than a second. | The replicas are at most one second behind. | Replicas are often half a minute behind. | There are three replicas.
We ship a Docker image. | The product is delivered as a container image. | There is no container image, customers get a tarball. | The product is sold in Europe.
Users are located by IP address. | We find out where users are from their IP. | We never look at IP addresses to find out where a user is. | Users can choose a language.
The index fits into memory. | RAM is large enough for the whole index. | The index is several times larger than the memory. | The index is rebuilt on Sundays.
Performance got better after we added the index. | The new index made things faster. | The new index made things slower. | The new index takes two gigabytes.
Only one instance of the scheduler may run. | There must never be two schedulers at the same time. | Run at least three schedulers for availability. | The scheduler is configured with cron syntax.
Staging and production share a cluster. | One cluster hosts both staging and production. | Staging has a cluster of its own, apart from production. | The cluster has nine nodes.
The contract with the vendor ends in June. | Our vendor contract runs out in June. | The vendor contract was extended to the end of next year. | The vendor sends an invoice each month.
Comments in the code are written in English. | We comment code in English. | Code comments are in German. | Comments explain why.
Null means unknown. | A null stands for a value that we do not know. | Null stands for zero. | Nulls are sorted last.
The flag is on for ten percent of the users. | One user in ten has the flag. | The flag is on for everybody. | The flag was added by the growth team.
The proxy terminates TLS. | TLS ends at the proxy. | TLS is passed through to the application unopened. | The proxy is nginx.
We keep one database per customer. | Every customer has a separate database. | All customers share one database. | Customers are billed monthly.
The timeout was too short and has been raised. | We increased the timeout since it was too small. | The timeout was lowered. | The timeout is part of the config.
The importer is the bottleneck. | It is the importer that slows everything down. | The importer is not the bottleneck; the network is. | The importer was started at noon.
Dependencies are updated automatically. | A bot keeps the dependencies up to date. | We update dependencies by hand twice a year. | There are two hundred dependencies.
{s} has to be restarted every night. | Each night {s} gets a restart. | {s} has been running without a restart for months. | {s} writes a pid file.
The library may be used commercially. | Commercial use of the library is permitted. | The library is for non-commercial use only. | The library has a logo.
Emails are sent in the background. | Sending mail does not hold up the request. | The request waits until the mail has been sent. | Emails have a footer.
The table is partitioned by month. | There is a partition for each month. | The table is not partitioned. | The table has 90 million rows.
Time series are downsampled after a week. | After seven days only averages are kept. | Raw samples are kept forever. | Time series are queried by the dashboards.
Requests without a token get a 401. | A request lacking a token is refused as unauthorised. | Requests without a token are served as guest. | Tokens are opaque strings.
We document decisions as ADRs. | Every decision gets an architecture decision record. | Decisions are not written down anywhere. | Decisions are taken by the leads.
The primary runs in Frankfurt and the standby in Paris. | Frankfurt hosts the primary, Paris the standby. | The primary is in Paris; Frankfurt is the standby. | Frankfurt has three zones.
The consumer acknowledges after processing. | Messages are acknowledged once they have been processed. | The consumer acknowledges a message before it starts to work on it. | The consumer logs message ids.
Invoices are created on the first of the month. | Each month begins with the creation of invoices. | Invoices are created at the end of the quarter. | Invoices have a number.
The ranking ignores the age of a document. | How old a document is does not matter for the ranking. | Newer documents are ranked higher. | The ranking is computed in Java.
The CLI works on Windows. | Windows users can run the CLI. | The CLI only runs on Linux and macOS. | The CLI has coloured output.
Backups are stored in another region. | Backups go to a different region. | Backups sit in the same data centre as the database. | Backups are encrypted.
The lock is released when the process dies. | A dying process gives its lock back. | If the process dies, the lock stays held until someone clears it. | The lock is named after the table.
We use feature toggles to hide unfinished work. | Work in progress is hidden behind toggles. | Unfinished work stays on branches, we have no feature toggles. | The toggles are listed on a page.
Pull requests are squashed. | On merge all commits become one. | Pull requests keep all of their commits. | Pull requests have a template.
The team works in two-week sprints. | Sprints last a fortnight. | We do not do sprints, work is pulled continuously. | The team has six members.
Support answers within four hours. | Customers hear from support in at most 4 h. | Support may take two days to answer. | Support uses a ticket system.
The pager goes to the whole team. | Everybody in the team gets paged. | Only the engineer on duty gets paged. | The pager has a loud tone.
Prices include VAT. | VAT is already part of the prices. | VAT is added on top of the prices. | Prices are rounded.
The search is fuzzy. | The search tolerates typos. | Only exact matches are found. | The search box is at the top.
Coordinates are stored as latitude, longitude. | Latitude comes first, longitude second. | We store longitude before latitude. | Coordinates have six digits.
Indices start at zero. | Counting begins with 0. | The first element has index one. | Indices are 32-bit.
The rate limit counts per API key. | Each API key has a rate limit of its own. | The rate limit is per IP address, whatever the key. | The rate limit is shown in a header.
Writes go to both databases during the migration. | While we migrate, both databases are written. | During the migration only the new database is written. | The migration takes a week.
The design review is done. | We have finished the design review. | The design review is still ahead of us. | The design review has a checklist.
{s} depends on the user service. | {s} does not work without the user service. | {s} has no dependency on any other service. | The user service and {s} were started in the same year.
The vendor's SDK is not allowed in {s}. | {s} must do without the vendor's SDK. | {s} uses the vendor's SDK for all calls. | The vendor's SDK has good documentation.
The fallback is English. | If a translation is missing, English is shown. | Missing translations are shown as keys. | There are eleven translations.
Uploaded images are resized on the server. | The server scales uploaded images. | Images are resized in the browser before the upload. | Uploaded images are shown on the profile.
We disabled swap on all nodes. | No node swaps anymore. | Nodes have 8 GB of swap in use. | Nodes have 64 GB of memory.
A failing linter does not break the build. | The build passes even with lint errors. | Lint errors fail the build. | The linter runs in ten seconds.
Money is transferred in real time. | Transfers happen instantly. | Transfers take up to two banking days. | Transfers are free.
The graph is undirected. | Edges have no direction. | Each edge points from one node to another. | The graph has a million nodes.
There is nothing personal in the export. | The export is free of personal data. | The export lists names and birthdays. | The export is a ZIP file.
The beta is invite-only. | You need an invitation for the beta. | Anyone can join the beta. | The beta starts in autumn.
Nobody uses the SOAP interface anymore. | The SOAP interface has no users left. | Three large customers rely on the SOAP interface. | The SOAP interface was built by an agency.
"""


def quads() -> tuple[tuple[str, str, str, str], ...]:
    """(statement, paraphrase, contradiction, related) for each line."""
    found = []
    for line in _LINES.strip().splitlines():
        statement, paraphrase, contradiction, related = line.split(" | ")
        found.append((statement, paraphrase, contradiction, related))
    return tuple(found)


QUADS = quads()
