/**
 * Shows one email of a project: its record with subject and body as the recipient gets them, its
 * attempts with steps and replies, its events, and its state in words; or its octets (RFC 5322).
 * The octets of sent mail are composed from its snapshot, as delivery composes them, and signed
 * with the present keys and time. The octets of received mail are those that the client sent.
 */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { parseJsonText } from '../../../base/json-text.ts'
import { parseAddress } from '../../../formats/address/address.ts'
import { OTHER_PROVIDER } from '../../../formats/address/mailbox-providers.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { EmailEvent } from '../../../records/email.ts'
import { contains, indexedBy, listOf, octets } from '../../../store/dialect.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { inboundMessages } from '../../../store/schema/inbound.ts'
import type { AttachmentFacts } from '../../../store/schema/json-values.ts'
import { type Attempt, contents, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { wholeListing } from '../../ground/listing.ts'
import { readRaw } from '../../incoming/receiving/raw.ts'
import { readAttachments } from '../../mail/messages/accept/content.ts'
import { contentOctets } from '../../mail/messages/content-rows.ts'
import { returnPathOf } from '../../mail/messages/delivery/prepare.ts'
import { type LoadedEmail, loadEmails, toSource } from '../../mail/messages/delivery/source.ts'
import { emailNotFound, loadEmailHistory } from '../../mail/messages/explain/email-history.ts'
import { findWorkflowOrigins } from '../../mail/messages/explain/workflow-origin.ts'
import { toSummary } from '../../mail/messages/summary.ts'
import { type FeedDeps, loadShownEmails } from '../activity/show-emails.ts'
import { findReceivers } from '../receivers/email-receivers.ts'

/** The project and the id of an email. An email of another project counts as unknown. */
type EmailKey = { projectId: string; id: string }

type EventLine = { seq: number; bytes: number }

type EventRow = { seq: number; id: string; name: string; data: string | null; createdAt: number }

/**
 * Events that are shown: an address that follows every link may cause very many, and the first ones
 * say enough.
 */
const MAX_EVENTS = 500

/** SQLite takes the sizes from the heads of the rows, without reading the data. */
const listEvents = statement<EventLine>(
  () => sql`select seq, coalesce(${octets(sql`data`)}, 0) as bytes from events
      ${indexedBy('events_contact')}
    where contact_id = ${parameter('contactId')} and email_id = ${parameter('emailId')}
    order by seq limit ${MAX_EVENTS}`,
)

const listBySeq = statement<EventRow>(
  () => sql`select seq, id, name, data, created_at as "createdAt" from events
    where seq in ${listOf(parameter('seqs'))}`,
)

type Deps = Pick<Base, 'store' | 'config' | 'keyring' | 'directory'> & {
  outbound: Pick<Outbound, 'sign'>
}

/** SQLite takes the sizes from the heads of the rows, without reading the texts. */
const findBytes = statement<{ bytes: number | null }>(
  () => sql`select case source_type
      when 'INBOUND' then (select size_bytes from inbound_messages
        where received_at = emails.delivered_at and ${contains(sql`summary`, sql`emails.id`)} limit 1)
      else (select ${contentOctets} + chunk_bytes from contents
        where contents.id = emails.content_id) end as bytes
    from emails where id = ${parameter('id')} and project_id = ${parameter('projectId')}`,
)

/** @throws AppError RESOURCE_NOT_FOUND */
export async function requireEmail(
  { store }: Pick<Base, 'store'>,
  { projectId, id }: EmailKey,
): Promise<void> {
  const own = and(eq(emails.id, id), eq(emails.projectId, projectId))
  const row = await store.read.select({ id: emails.id }).from(emails).where(own).get()
  if (row === undefined) throw emailNotFound(id)
}

/**
 * Returns the record, and apart from it `events`, which is the record's last field.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function showEmail(deps: FeedDeps, { projectId, id }: EmailKey) {
  const { email, attempts } = await loadEmailHistory(deps, id)
  if (email.projectId !== projectId) throw emailNotFound(id)
  const shown = (await loadShownEmails(deps, [id], { isSummary: false })).shown.get(id)
  if (shown === undefined) throw emailNotFound(id)
  const { contactId } = email
  const origins = await findWorkflowOrigins(deps.store.read, [email])
  const receivers = await findReceivers(deps, [email])
  const lines = await deps.store.scan.list(listEvents, { contactId, emailId: id })
  const record = {
    ...toSummary(email, origins.get(id)),
    subject: shown.subject,
    body: shown.body ?? null,
    text: shown.text ?? null,
    headers: email.headers,
    ...(await describeContent(deps, email.contentId)),
    reason: shown.reason,
    reasonCode: shown.reasonCode,
    reasonData: shown.reasonData,
    nextAttemptAt: formatOptionalInstant(shown.nextAttemptAt),
    receiver: receivers.get(id) ?? OTHER_PROVIDER,
    giveUpAt: formatInstant(email.giveUpAt),
    heldAt: formatOptionalInstant(email.heldAt),
    providerId: email.providerId,
    answeredEmailId: email.answeredEmailId,
    templateFaults: email.templateFaults ?? [],
    attempts: attempts.map(toAttemptView),
  }
  const bytesOf = ({ bytes }: EventLine) => bytes
  const events = wholeListing({ lines, bytesOf, read: (slice) => readEvents(deps, slice) })
  return { record, events }
}

/** Converts an attempt or a report to the form in the API and in `queue show --json`. */
export function toAttemptView(attempt: Attempt) {
  const { replyCode: code, enhancedCode, replyText: text } = attempt
  return {
    at: formatInstant(attempt.at),
    durationMs: attempt.durationMs,
    host: attempt.host,
    address: attempt.address,
    tls: attempt.tls,
    result: attempt.result,
    class: attempt.class,
    reply: code === null && enhancedCode === null ? null : { code, enhancedCode, text },
    error: attempt.error,
    finalRecipient: attempt.finalRecipient,
    maybeDelivered: attempt.isMaybeDelivered,
    steps: attempt.steps,
  }
}

/**
 * The approximate size of the data from which an email's octets are made; 0 for an unknown email.
 */
export async function findRawBytes({ store }: Pick<Base, 'store'>, key: EmailKey): Promise<number> {
  return (await store.read.find(findBytes, key))?.bytes ?? 0
}

/**
 * Returns the octets of an email.
 * @throws AppError RESOURCE_NOT_FOUND for an unknown email, and for one whose octets or content
 * retention has cleared; FORBIDDEN for mail from the server to its users; BAD_REQUEST if the
 * email's templates can no longer be rendered
 */
export async function readRawEmail(deps: Deps, key: EmailKey): Promise<Uint8Array> {
  const [email] = await loadEmails(deps, [key.id])
  if (email === undefined || email.projectId !== key.projectId) throw emailNotFound(key.id)
  if (email.isPlatform) throw hidden()
  return email.sourceType === 'INBOUND' ? readReceived(deps, email) : compose(deps, email)
}

async function readEvents({ store }: Pick<Base, 'store'>, lines: readonly EventLine[]) {
  const seqs = JSON.stringify(lines.map(({ seq }) => seq))
  const rows = await store.scan.list(listBySeq, { seqs })
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  return lines.map(({ seq }) => {
    const row = bySeq.get(seq)
    return row && toEvent(row)
  })
}

function toEvent({ id, name, data, createdAt }: EventRow): EmailEvent {
  return { id, name, data: parseJsonText(data ?? 'null'), createdAt: formatInstant(createdAt) }
}

/**
 * `attachments`: names and types; null if the email has none, and once retention has cleared them.
 * For a sealed message: the files in its body.
 */
async function describeContent({ store }: Pick<Base, 'store'>, contentId: string) {
  const row = await store.read
    .select({ attachments: contents.attachments, warnings: contents.warnings })
    .from(contents)
    .where(eq(contents.id, contentId))
    .get()
  const files = row?.attachments?.flatMap(
    (file): readonly AttachmentFacts[] => file.sealed?.files ?? [file],
  )
  return { attachments: files?.map(toAttachment) ?? null, warnings: row?.warnings ?? [] }
}

function toAttachment({ filename, contentType, contentId, disposition }: AttachmentFacts) {
  return { filename, contentType, contentId, disposition }
}

async function compose(deps: Deps, email: LoadedEmail): Promise<Uint8Array> {
  const content = await loadContent(deps, email)
  const project = await deps.directory.findProject(email.projectId)
  if (content === undefined || email.variables === null || project === undefined) {
    throw cleared(email.id)
  }
  const sender = parseAddress(email.fromAddress)?.domain
  const domain =
    sender === undefined
      ? undefined
      : await deps.directory.findSenderDomain(email.projectId, sender)
  const [returnKey] = deps.keyring.keys('return-path')
  const returnPath = returnPathOf({ ...deps, returnKey }, email, domain)
  const source = toSource(deps, { email, project, content, returnPath })
  const octets = await deps.outbound.sign({ source, keys: domain?.signingKeys ?? [] })
  if (octets === null) {
    throw new AppError('BAD_REQUEST', 'The message of this email can no longer be composed.')
  }
  return octets
}

async function loadContent({ store }: Deps, { contentId }: LoadedEmail) {
  const row = await store.read.select().from(contents).where(eq(contents.id, contentId)).get()
  if (row === undefined || row.body === null) return undefined
  const { id, subject, body, isText, text, isLiteral, recipientFields } = row
  const attachments = await readAttachments({ store }, id, row.attachments ?? [])
  const content = { id, subject, body, isText, text, isLiteral }
  return attachments && { ...content, attachments, ...(recipientFields && { recipientFields }) }
}

/**
 * Finds the octets of received mail by the time of its receipt, which is also the email's time of
 * delivery.
 */
async function readReceived({ store }: Deps, { id }: LoadedEmail): Promise<Uint8Array> {
  const rows = await store.read
    .select()
    .from(inboundMessages)
    .where(
      sql`${inboundMessages.receivedAt} = (select delivered_at from emails where id = ${id})
        and ${contains(inboundMessages.summary, id)}`,
    )
    .limit(1)
  const octets = rows[0] === undefined ? null : await readRaw(store, rows[0])
  if (octets === null) throw cleared(id)
  return octets
}

function hidden(): AppError {
  return new AppError('FORBIDDEN', 'Mail of the server to its users is shown to nobody else.')
}

function cleared(id: string): AppError {
  return new AppError('RESOURCE_NOT_FOUND', 'Retention has cleared the message of this email.', {
    details: { resource: 'email', id },
  })
}
