/**
 * The comments of the tables and columns in this folder. A key is `table` or `table.column`. The comments in
 * migrations are of their time; these are true now.
 */
export const DOCS: Record<string, string> = {
  'users.verified_at':
    'When the address was proven; null until then. Read with `users/proof.ts` only.',
  'users.only_project_id':
    'The project of the invitation that made the account, if the invitation was not mailed; null once the address is proven.',
  'users.language': '`xx` or `xx-XX`',
  'users.timezone': 'A name of the IANA time zone database.',
  'users.totp_secret': 'Sealed; not in use until it is confirmed.',
  'users.totp_step': 'The time step of the last accepted code (RFC 6238).',
  identities: 'The accounts of users at other providers.',
  'sessions.issued_at': 'When the cookie was last issued.',
  'sessions.last_used_at': 'When the session was last used, to the minute.',
  account_tokens: 'Single-use tokens of mailed links. Used ones stay until they expire.',
  setup_links: 'The link by which the first user is made in a browser: one row at most.',
  'projects.is_disabled':
    'Also true during a reset of the project, which sets no reason, and once the project is deleted: then the reason is null.',
  'projects.reset_since': 'Set while the project is being reset.',
  'projects.deleted_at': 'Set while the rows of a deleted project are being deleted.',
  'projects.last_reset_since': 'When the last finished reset began, and when it ended.',
  'projects.counted_after':
    'Analytics counts the events behind this `seq`: a reset erased the earlier ones.',
  'projects.postal_address': 'One line, for the footer of marketing mail.',
  'projects.submission_templates':
    'Whether subject and text of submitted mail are templates, unless a message says otherwise.',
  'projects.on_template_fault':
    'Whether mail with a faulty template is sent or refused, if the request does not say.',
  'projects.public_key_may_update':
    'Whether the public key may unsubscribe contacts, change their data and learn their ids.',
  'projects.reputation_since': "The figures of the project's reputation count from here.",
  'projects.public_last_used_at': 'When the public key was last used, to the minute.',
  'projects.customer': 'The customer and the subscription at Stripe.',
  'projects.currency': '`usd`; null until the project subscribes.',
  'projects.subscribed_at':
    'When the subscription began at Stripe. Mail that was sent before is not charged.',
  'projects.limit_transactional': 'Emails in a month (UTC); null: no limit.',
  invitations: '`digest`: the digest of the token in the link; null until the mail is written.',
  'invitations.invited_by': 'The id of the user who invites.',
  'invitations.is_mailed':
    "Whether the link was mailed, so that whoever has it can read the address's mail.",
  analytics_subjects:
    "The subjects of counts. `name`: an id or a text; '' for all subjects beyond the limit of a day.",
  'analytics_subjects.first_day': 'The day (UTC) of the first bucket with the subject.',
  mail_counts: 'Emails by the instant of their acceptance. `span`: the length of a bucket in ms.',
  'mail_counts.subject': 'The id of an `analyticsSubjects` row; 0 for all.',
  'mail_counts.sent': 'Emails that were handed over, or refused for good by the receiver or DNS.',
  'mail_counts.delivered': 'Emails that were handed over and did not bounce later.',
  link_counts: "Clicks on links, by the instant of the email's acceptance.",
  'link_counts.first_clicks': 'Emails whose first click was on this link.',
  event_counts:
    "Events by their own instant. `stream`: the stream of the event's email, '' without an email.",
  counted_events:
    'Events with all that analytics and billing need of their emails. Columns: see `deletedEvents`.',
  deleted_events:
    "Events that were deleted before both followers had counted them. The email's columns are null without an email, or when the email was deleted.",
  'deleted_events.detail':
    "The type of a bounce, the link of a click, the reason of an unsubscription; 'acceptance' for a failure or a suppression that came with the acceptance of its email.",
  'deleted_events.is_first': "Whether it is the email's first open, click or unsubscription.",
  'deleted_events.host':
    'The first server that the email was offered to; null if a smarthost took it.',
  'backups.file': 'The path of the archive; `-` for standard output.',
  'backups.error': 'Null for an attempt that succeeded.',
  'backups.bytes': 'The size of the archive.',
  usage_months: 'Emails in a month, which begins at `startsAt` (UTC), by category.',
  owner_months:
    'Emails of projects without a subscription that their owner has deleted in the month.',
  usage_notices: 'The notices that members got in a month, each once for a limit.',
  'usage_notices.category':
    "'shared': the limit of projects without a subscription, for all categories together.",
  metering_batches: "A batch is one meter event of Stripe, whose identifier is the batch's id.",
  'metering_batches.occurred_at': 'The timestamp of the meter event.',
  'metering_batches.email_ids':
    'The emails of the batch, in the order of their events; empty once they are charged.',
  'metering_batches.meter':
    "The id of the meter of the batch's tries; '' if they used several. Null before the first try, and for batches from before this column.",
  'metering_batches.is_held': 'The batch is fenced.',
  stripe_events: 'The webhook events of Stripe that have taken effect.',
  'campaigns.template_id': 'The template that the campaign was made from.',
  'campaigns.total_recipients':
    'An estimate, null until the audience has been counted; the number of rows once sent.',
  'campaigns.paused_at':
    'Set while a campaign that is SENDING is paused, and while one that is SCHEDULED is fenced.',
  'campaigns.pause_details': 'The figures that the brake saw.',
  campaign_progress: 'A row exists from the moment the campaign begins to send.',
  'campaign_progress.cursor': 'The number of the last contact that was looked at.',
  'campaign_progress.last_number': 'Contacts up to this number existed when the campaign began.',
  'campaign_progress.paced_at': 'When the next row may be due under `maxPerHour`.',
  'campaign_progress.has_old_slots':
    'The untried rows have slots of a pace that is over: they are put aside and get new ones.',
  'campaign_progress.failed_count': 'Failed emails, except for those in `failedUnsubscribedCount`.',
  'campaign_progress.failed_unsubscribed_count':
    'Failed emails whose contact unsubscribed after the row was made.',
  'campaign_progress.refusal_count': 'Emails refused for reputation or content.',
  'campaign_progress.brake_count': 'How often the brake has paused the campaign.',
  'campaign_progress.brake_base': 'The figures from which the brake counts since the last resume.',
  'campaign_links.clickers': 'Emails with a click on the link.',
  'contacts.number': 'The order of lists and walks; not part of the API.',
  'domains.is_mx_found': "The domain's MX is this server, which accepts mail for its mailboxes.",
  'domains.loss_told_at': 'When the members were last told that the domain lost its verification.',
  'events.data':
    "An object for the server's own events. Clients' events may have any JSON: `unwrapEventData`.",
  'events.depth':
    'How many executions of workflows led to the event, one after the other. Null for none, and for events of an email: the row of the email names the execution.',
  generations: 'Each fence begins a generation.',
  'generations.event_seq': 'The last number of an event before the fence.',
  fences: 'Rows with a number or a time up to those of a fence are fenced.',
  'fences.project_id': "'' for the server itself.",
  'fences.mail_until': 'Emails accepted up to this instant are fenced.',
  'fences.is_settled':
    'All waiting mail has been put aside, so mail that is due is newer than the fence.',
  'inbound_messages.reverse_path': 'Empty for the null reverse path.',
  'inbound_messages.client_name': 'The name that the client gave in EHLO or HELO.',
  'inbound_messages.tls': 'Version and cipher; null for a session in clear.',
  'inbound_messages.raw':
    'Null once a report has been processed or retention has cleared the octets; empty when `chunks` has them.',
  'inbound_messages.raw_chunks': 'The number of chunks that the message has.',
  'inbound_messages.attempts': 'How often a reader thread ended while it parsed this message.',
  'inbound_messages.summary': 'The findings, for display.',
  'inbound_messages.is_suspect':
    'The message is parsed alone, because it may have ended a reader thread or the process.',
  'inbound_messages.interruptions':
    'How often the process ended while the message was parsed alone.',
  'inbound_messages.begun_at': 'When the server began to parse the message alone.',
  'inbound_messages.due_at': 'When an interrupted message is parsed again.',
  'inbound_messages.remark':
    'Why mail to a mailbox was ignored, or counted as over a sender limit.',
  'inbound_messages.pending_kind':
    '`mail`: a mailbox is among the recipients. It has no meaning once the message is processed.',
  'inbound_messages.line':
    'The line in which the message waits to be read: the project of its first mailbox, empty for reports.',
  'inbound_messages.is_for_server':
    'The server itself (`postmaster`, `abuse`) is among the recipients.',
  inbound_reading:
    'One row: true while a process parses mail, and still true if the process crashed meanwhile.',
  inbound_usage: 'Triggers maintain these figures.',
  'inbound_usage.owner': "A project's id, `server`, or `reports`.",
  received_recently: 'The mail of the last hour that counts towards the limits of senders.',
  'received_recently.sender': "An authenticated address, or the client's network.",
  'jobs.losses': 'How often the process crashed or hung while the job ran.',
  'jobs.user_id': 'The user who asked for the job; null for a key and for the server itself.',
  'jobs.started_at': 'When the job was first claimed.',
  'jobs.done': 'How many rows, addresses or events are done.',
  'jobs.total': 'How many there are to do; null while it is not known.',
  'jobs.cancelled_at': 'When somebody asked the job to stop; a running job stops after its step.',
  'contents.body': 'The body as given; null once retention has cleared it.',
  'contents.is_text': 'The body is plain text, not HTML.',
  'contents.text':
    'The text part beside HTML; null without one, and once retention has cleared it.',
  'contents.attachments': 'Null without attachments, and once retention has cleared them.',
  'contents.chunk_bytes': 'The size of the attachments that are stored in `chunks`.',
  'contents.links': 'The links of a body that retention has cleared; null while the body exists.',
  'contents.is_literal': 'Subject, body and text are no templates.',
  'contents.warnings':
    'What was lost, guessed or mended when the message was read, in sentences; null = nothing.',
  'contents.recipient_fields':
    'The fields as submitted; null: each recipient gets its own address in To.',
  chunks: "Parts of a value too large for one row: a content's attachments, or a received message.",
  'emails.recipient_domain': 'In A-labels.',
  'emails.subject': 'The template; once an attempt has rendered it, the rendered subject.',
  'emails.variables':
    'Null once retention has cleared it, and for mail of the server to its users.',
  'emails.answered_email_id': 'For received mail: the email that the message replies to.',
  'emails.due_at': 'When the email is due; set while it is queued or deferred.',
  'emails.retry_at':
    'The time of the next attempt, written with the lease before the current attempt begins.',
  'emails.machine_opens': 'Opens by prefetchers, scanners and privacy proxies, counted separately.',
  'emails.template_faults': 'The faults of the latest rendering; null without any.',
  'emails.is_test': 'A test of a campaign: it goes out whether or not its contact is subscribed.',
  'emails.is_platform': 'Mail of the server to its users: outside reputation and billing.',
  'emails.ignores_complaint':
    'The email goes out although the recipient has complained about mail of the project.',
  'emails.figures':
    'Bit set of the campaign figures that include this email (bits: 0010_campaigns.sql).',
  'emails.sealed_variables':
    'The snapshot of mail of the server to its users, sealed (`messages/delivery/prepare.ts`). Whoever writes a final state clears it.',
  'emails.shelf': 'See `store/shelves.ts`.',
  'attempts.final_recipient': 'The final recipient that a report names.',
  reputation_hours:
    "Counts by the hour; `startsAt` is later than the hour's start if the project was enabled within it.",
  reputation_totals: "Counts since the project's `reputationSince`.",
  new_project_hours: 'The emails that a new project was allowed to send, by the hour.',
  'segments.filter_rules':
    'The rules of filters of the last computation or count (features/ground/conditions/changed-filters.ts).',
  'segments.filter_change': 'What new rules of filters changed; null if nothing.',
  'segments.seen_change':
    'The last row of `caused_changes`, and the last event, that the last computation has seen.',
  'segment_members.exited_at': 'Null while the contact is a member.',
  caused_changes:
    'Contacts that an execution of a workflow changed, and the depth of the events that follow.',
  server_questions: 'Questions of commands to the running server.',
  'server_questions.answer': 'Null until the server answers.',
  'idempotency_keys.answer': 'The `data` of the first response.',
  'sandbox_messages.sender': 'The From field as displayed.',
  'suppressions.later_reason':
    'The second reason, if the server suppressed the address first and a person suppressed it later.',
  held_suppressions: 'Automatic suppressions that wait for a confirmation.',
  'held_suppressions.domain': 'In A-labels.',
  'held_suppressions.due_at': 'When the domain is checked again; for cause `domain` only.',
  known_domains: 'Recipient domains that seem to exist (`messages/outcome/suppression-guards.ts`).',
  'uploads.name': "The last part of the image's URL: 32 hexadecimal digits and an extension.",
  'uploads.file': 'The name of the file, a UUIDv7.',
  'uploads.filename': 'The name that the client gave to the file.',
  'webhook_endpoints.events': 'Names of events and patterns, as given.',
  'webhook_endpoints.disabled_reason':
    'Why the service disabled the endpoint; null if a request did.',
  'webhook_endpoints.secret': 'Sealed. The previous one signs, too, until `previousUntil`.',
  'webhook_endpoints.after_seq':
    'Events up to this one make no deliveries: the newest when the endpoint was created or enabled.',
  'webhook_endpoints.failing_since': 'The first failure since the last success.',
  'webhook_endpoints.failed_through':
    'Waiting deliveries up to this number have failed, because the endpoint was disabled then; 0 once their rows say so.',
  'webhook_endpoints.deleted_at': 'A deleted endpoint is hidden; its row follows its deliveries.',
  'webhook_deliveries.number': 'The order of events; not part of the API.',
  'webhook_deliveries.event_seq': 'Null for a test.',
  'webhook_deliveries.due_at':
    '0: due at once, which holds until the first attempt ends; null at the end.',
  'webhook_deliveries.response': 'The beginning of the response of a failed attempt.',
  instance_keys: 'Random keys of this instance.',
  wishes: 'People who left. Rows outlive contacts, emails and a reset, and go with their project.',
  'wishes.project_id': 'Null if the contact and the email were deleted and only the link was left.',
  erased_recipients:
    'Deleted contacts and emails that links in older mail name, and former addresses of contacts.',
  'erased_recipients.contact_id':
    'The contact that has the address now, if it came back; until then, the contact that had it before.',
  unkeyed_wishes:
    'Wishes that earlier versions recorded; the start of the program moves them to `wishes`.',
  'workflows.trigger_event':
    'The stored name of the event that starts executions; null unless the trigger is EVENT.',
  'workflows.segment_id': 'The segment of a SCHEDULE.',
  'workflows.enabled_seq':
    'Events up to this one start nothing: the newest when the workflow was enabled.',
  'workflows.next_fire_at': 'The next firing of a SCHEDULE; null while the workflow is disabled.',
  'workflows.cancelled_through':
    'Active executions up to this number count as cancelled since `cancelledAt`; 0 if none do.',
  'workflows.is_cancelling':
    'Whether rows of executions up to `cancelledThrough` may still be active.',
  'workflows.chain_cut_at': 'When the last start got a row that says that its chain is too deep.',
  'workflows.deleted_at':
    'From this time on nothing shows the workflow, and a job deletes its rows.',
  'workflow_steps.config':
    'As `features/outreach/workflows/graph/step-config.ts` describes it for each type.',
  'workflow_steps.removed_at': 'A removed step stays for the history of executions, hidden.',
  'workflow_executions.number': 'The order of starts; not part of the API.',
  'workflow_executions.due_at':
    'When the engine goes on; null at the end, and while only an event or a webhook ends the wait.',
  'workflow_executions.steps_done': "The number of step rows before the current step's.",
  'workflow_executions.depth':
    'How many executions led to this one, one after the other: 0 unless an event of an execution started it.',
  'workflow_step_executions.scheduled_for': 'The end of a DELAY.',
  'workflow_step_executions.execute_after': 'The timeout of a WAIT_FOR_EVENT.',
  'workflow_waits.event_name': 'The stored name of the event.',
  'workflow_waits.email_id':
    "Only events of this email count; '' if no email was sent yet; null if every event counts.",
  'workflow_waits.after_seq': 'The newest event when the wait began.',
  'workflow_waits.event_seq': 'The event that ends the wait.',
  'workflow_waits.includes_automatic':
    'Whether received mail that a machine sent ends the wait, too.',
  'workflow_requests.request': 'Rendered before the first attempt.',
  'workflow_figures.subject': "A step, a transition, or '' for the workflow.",
  chain_starts: 'How many executions of chains began in a project in a minute.',
}
