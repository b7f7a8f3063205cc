/**
 * The octets of an email (RFC 5322). Sent mail is composed from its snapshot as delivery composes it,
 * and signed with the keys and the time of now. Received mail is what the client sent.
 */
import { AppError } from '../../../base/errors.ts'
import { parseAddress } from '../../../formats/address/address.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import { contains } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { inboundMessages } from '../../../store/schema/inbound.ts'
import { contents } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { readRaw } from '../../incoming/receiving/raw.ts'
import { readAttachments } from '../../mail/messages/accept/content.ts'
import { contentOctets } from '../../mail/messages/content-octets.ts'
import { returnPathOf } from '../../mail/messages/delivery/prepare.ts'
import { type LoadedEmail, loadEmails, toSource } from '../../mail/messages/delivery/source.ts'
import { emailNotFound } from '../../mail/messages/explain/email-history.ts'
import type { EmailKey } from './show-email.ts'

type Deps = Pick<Base, 'store' | 'config' | 'keyring' | 'directory'> & {
  outbound: Pick<Outbound, 'sign'>
}

/** Sizes come from the heads of rows; the texts themselves are not read. */
const findBytes = statement<{ bytes: number | null }>(
  () => sql`select case source_type
      when 'INBOUND' then (select size_bytes from inbound_messages
        where received_at = emails.delivered_at and ${contains(sql`summary`, sql`emails.id`)} limit 1)
      else (select ${contentOctets} + chunk_bytes from contents
        where contents.id = emails.content_id) end as bytes
    from emails where id = ${parameter('id')} and project_id = ${parameter('projectId')}`,
)

/** About the size of what an email's octets are made of; 0 for an unknown email. */
export async function findRawBytes({ store }: Pick<Base, 'store'>, key: EmailKey): Promise<number> {
  return (await store.read.find(findBytes, key))?.bytes ?? 0
}

/**
 * @throws AppError RESOURCE_NOT_FOUND for an unknown email, and for one whose octets or content were
 *   cleared by retention; FORBIDDEN for mail of the server to its users; BAD_REQUEST if its templates can
 *   no longer be rendered
 */
export async function readRawEmail(deps: Deps, key: EmailKey): Promise<Uint8Array> {
  const [email] = await loadEmails(deps, [key.id])
  if (email === undefined || email.projectId !== key.projectId) throw emailNotFound(key.id)
  if (email.isPlatform) throw hidden()
  return email.sourceType === 'INBOUND' ? readReceived(deps, email) : compose(deps, email)
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

/** The message came in at the time that its email has as the time of its delivery. */
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
