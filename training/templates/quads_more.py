"""More of the written ones: numbers in prose, people, process, data, models, machines, decisions.

The form is that of ``quads``: a statement | the same | what it excludes | beside the point.
"""

from __future__ import annotations

_LINES = """
{s} keeps two copies of each file. | Every file in {s} exists twice. | {s} stores a single copy of each file. | {s} stores mostly images.
Marcus leads the migration of {s}. | The migration of {s} is in the hands of Marcus. | Keiko is in charge of migrating {s}. | Marcus wrote a document on the migration of {s}.
The nightly backup takes about twenty minutes. | A backup run is over after roughly 20 min each night. | The nightly backup runs for six hours. | The nightly backup is stored on disk.
After the refactoring the package has no circular imports. | The refactoring removed all import cycles. | There are still three import cycles in the package. | The refactoring touched ninety files.
We bill per seat. | Customers pay for each user. | Billing depends on the data volume, the number of users does not matter. | The invoice is a PDF.
Hash partitioning was chosen over range partitioning. | We partition by hash rather than by range. | The table uses range partitions. | The table has sixteen partitions.
Cold start of the function takes four seconds. | The function needs 4 s when started cold. | The function starts cold in under 200 ms. | The function is invoked by a queue.
Our SLA promises 99.9 percent. | We guarantee availability of 99.9 %. | Customers are promised an uptime of 99.99 %. | Uptime is measured by an outside probe.
Engineers are on call for one week at a time. | On-call shifts last seven days. | On-call shifts change every day. | Engineers get paid for being on call.
The team is fully remote. | Nobody in the team works from an office. | The team meets in the Berlin office every day. | The team has nine people.
The classifier prefers precision over recall. | We would rather miss a case than raise a false alarm. | False alarms are fine as long as the classifier misses nothing. | The classifier has four labels.
Training data ends in 2023. | Nothing after 2023 is in the training data. | The training data goes up to last month. | Training data is stored as Parquet.
Prompts are versioned together with the code. | Prompts live in git next to the code that uses them. | Prompts are edited in the admin UI and are not under version control. | Prompts are written in English.
The LLM may call tools that write. | Write access through tools is given to the LLM. | The LLM only gets read-only tools. | The LLM answers within ten seconds.
Agents share one memory. | There is a single memory for all agents. | Each agent has a private memory that no other can see. | Agents are started by the scheduler.
We evaluate on a held-out set that nobody trains on. | The test set is never used for training. | The evaluation set is part of the training data. | The evaluation takes an hour.
Model weights are stored in half precision. | The weights are kept as 16-bit floats. | The weights are kept in full 32-bit precision. | The model has twelve layers.
Requests are routed by user id. | The id of the user decides where a request goes. | Requests are spread at random. | Requests carry a user id.
Writes need a quorum of two nodes. | A write succeeds once two nodes have it. | A single node is enough for a write to succeed. | The cluster has three nodes.
Elections take under a second. | A new leader is found in less than 1000 ms. | It takes half a minute to elect a new leader. | The leader handles all writes.
The disk of the primary is full. | There is no space left on the primary. | The primary has plenty of free disk space. | The primary has an SSD.
TLS certificates are renewed automatically. | Nobody has to renew certificates by hand. | Certificates have to be renewed manually each quarter. | Certificates are issued for the main domain.
SSH access with passwords is disabled. | You can only log in over SSH with a key. | SSH logins with a password work. | SSH listens on a high port.
The feature was dropped from the release. | The release ships without the feature. | The feature is part of the release. | The feature was demonstrated to customers.
The customer agreed to the new price. | The new price was accepted by the customer. | The customer refused the new price. | The customer has twenty seats.
We had no incidents in March. | March passed without an incident. | There were four incidents in March. | Incidents are written up in the wiki.
Every service has a runbook. | There is a runbook for each of the services. | Most services lack a runbook. | Runbooks are written in Markdown.
{s} will not be part of the first milestone. | The first milestone goes without {s}. | {s} is delivered with milestone one. | The first milestone is in May.
The prototype was built in a week. | It took seven days to build the prototype. | Building the prototype took three months. | The prototype has a dark theme.
Nothing is cached in the browser. | The browser does not cache anything. | Assets are cached in the browser for a year. | The browser shows a progress bar.
All timestamps have millisecond precision. | Times are stored to the millisecond. | Timestamps are stored in whole seconds. | Timestamps are in the second column.
The parser accepts trailing commas. | A comma at the end of a list is fine for the parser. | The parser rejects trailing commas. | The parser was generated from a grammar.
Comparing strings ignores accents. | Accents make no difference when strings are compared. | "cafe" and "café" are different strings to us. | Strings are stored as UTF-8.
Data is sent to the warehouse in real time. | The warehouse receives data as it happens. | The warehouse is loaded once a night. | The warehouse has a cost limit.
Analysts cannot see raw events. | Raw events are hidden from analysts. | Analysts work on the raw events. | Analysts use a notebook.
Deleted branches can be restored for 90 days. | You can bring back a deleted branch within three months. | A deleted branch is gone for good. | Branches are listed on the project page.
The mobile app is written natively for both platforms. | There are two native apps, one for each platform. | One Flutter code base serves both mobile platforms. | The mobile app has a rating of four stars.
Push notifications are opt-in. | Users get push notifications only if they asked for them. | Push notifications are on by default. | Push notifications have a title.
Support for plugins was removed in version 5. | Since version 5 there are no plugins anymore. | Version 5 and later load plugins. | Version 5 came out in autumn.
The queue is drained before shutdown. | Before stopping, all jobs in the queue are finished. | On shutdown queued jobs are thrown away. | The queue is shown on the dashboard.
Workers pull jobs when they are idle. | An idle worker fetches its next job itself. | A dispatcher assigns jobs to workers. | Workers are written in Go.
The rollback took ten minutes. | Rolling back was over after ten minutes. | Rolling back was not possible. | The rollback was announced in the channel.
A user can belong to several organisations. | Users may be members of more than one organisation. | Each user belongs to exactly one organisation. | Organisations have a logo.
Email addresses are unique across the whole system. | The same email address cannot be used by two accounts. | Two accounts may share an email address. | Email addresses are shown in the profile.
The default role for new members is viewer. | New members start as viewers. | New members are editors by default. | Roles are shown on the members page.
We do not track users across sites. | There is no cross-site tracking. | Visitors are followed across sites with a third-party cookie. | The site has a cookie banner.
Personal access tokens never expire. | A personal access token is valid forever. | Personal access tokens run out after 90 days. | Personal access tokens start with a prefix.
The library has no dependencies. | The library stands on its own. | The library pulls in thirty packages. | The library is on its fourth release.
Load balancing happens at layer 7. | The load balancer works on HTTP requests. | The load balancer forwards TCP connections without looking into them. | The load balancer has two addresses.
The vendor fixed the bug upstream. | The bug was fixed by the vendor. | The vendor refuses to fix the bug. | The vendor has a bug tracker.
We froze the schema until the launch. | No schema changes before the launch. | The schema may still be changed before the launch. | The schema has a diagram.
Search results are personalised. | Each user gets results of their own. | Everyone sees the same search results. | Search results have a snippet.
Batch imports bypass validation. | Nothing is validated in a batch import. | Batch imports are validated like any other write. | Batch imports run at night.
{s} needs more than 16 GB of memory. | 16 GB of RAM are not enough for {s}. | {s} runs fine with 4 GB of memory. | {s} is started by a script.
There are more reads than writes. | Reads outnumber writes. | The load is dominated by writes. | Reads and writes are counted.
The experiment showed no effect. | We saw no difference in the experiment. | The experiment increased conversion by eight percent. | The experiment ran for two weeks.
We will not renew the licence. | The licence is going to lapse. | The licence was renewed for three years. | The licence covers fifty users.
The old API key still works. | The old API key is valid. | The old API key was revoked. | The old API key has 32 characters.
Debug builds contain assertions, release builds do not. | Assertions are compiled out of release builds. | Assertions stay active in release builds. | Release builds are signed.
Lena approved the budget for {s}. | The budget for {s} got the approval of Lena. | Lena declined the budget for {s}. | The budget for {s} is reviewed each year.
The meeting was moved to Thursday. | We now meet on Thursday. | The meeting takes place on Tuesday. | The meeting has an agenda.
Hotfixes go straight to production. | A hotfix does not pass through staging. | Hotfixes are tested in staging first, like everything else. | Hotfixes are marked in the log.
Only UTF-8 is accepted. | Input in any other encoding than UTF-8 is refused. | Latin-1 input is accepted as well. | Input is read line by line.
We measure time in milliseconds everywhere. | All durations are in ms. | Durations are given in seconds. | Durations are logged.
The API is read-only. | Nothing can be changed through the API. | Records can be created and updated through the API. | The API is described in the portal.
"""


def more_quads() -> tuple[tuple[str, str, str, str], ...]:
    """(statement, paraphrase, contradiction, related) for each line."""
    found = []
    for line in _LINES.strip().splitlines():
        statement, paraphrase, contradiction, related = line.split(" | ")
        found.append((statement, paraphrase, contradiction, related))
    return tuple(found)


MORE_QUADS = more_quads()
