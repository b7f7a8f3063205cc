/**
 * Finds what `queue show` prints about an id: the email with its attempts and reports, or the kind
 * of another row that has the id.
 */
import { type AppError, notFound } from '../../../../base/errors.ts'
import { classifyReply } from '../../../../formats/replies/classify-reply.ts'
import type { BounceReason } from '../../../../formats/replies/reply.ts'
import { eq } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { domains } from '../../../../store/schema/domains.ts'
import {
  type Attempt,
  attempts,
  type Email,
  emails,
  templates,
} from '../../../../store/schema/messages.ts'
import { withRepeated } from '../../../../store/schema/packed-steps.ts'
import { segments } from '../../../../store/schema/segments.ts'
import { workflowExecutions, workflows } from '../../../../store/schema/workflows.ts'
import type { Base } from '../../../ground/base.ts'

export type EmailHistory = { email: Email; attempts: Attempt[] }

/** A row that is no email. `address`: the address of a contact. */
type OtherKind = { kind: string; address?: string }

const TABLES_OF_IDS = [
  { kind: 'a campaign', table: campaigns },
  { kind: 'a project', table: projects },
  { kind: 'a template', table: templates },
  { kind: 'a workflow', table: workflows },
  { kind: 'an execution of a workflow', table: workflowExecutions },
  { kind: 'a segment', table: segments },
  { kind: 'a domain', table: domains },
] as const

type Refusal = Pick<Attempt, 'class' | 'host' | 'replyCode' | 'enhancedCode' | 'replyText'>

const REASONS_ABOUT_SERVER: readonly BounceReason[] = ['blocked', 'authfailure']

/** Loads an email with its attempts, oldest first. @throws AppError RESOURCE_NOT_FOUND */
export async function loadEmailHistory(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<EmailHistory> {
  const email = await store.read.select().from(emails).where(eq(emails.id, id)).get()
  if (email === undefined) {
    throw emailNotFound(id)
  }
  const rows = await store.read
    .select()
    .from(attempts)
    .where(eq(attempts.emailId, id))
    .orderBy(attempts.id)
    .all()
  const history = rows.map((row) => ({ ...row, steps: withRepeated(row.steps, row) }))
  return { email, attempts: history }
}

export function emailNotFound(id: string): AppError {
  return notFound('email', id, `There is no email ${id}.`)
}

/**
 * Finds the kind of the row that has an id that no email has, for operators, who see all projects.
 */
export async function findOtherKind(
  { store: { read } }: Pick<Base, 'store'>,
  id: string,
): Promise<OtherKind | undefined> {
  const { address } = contacts
  const contact = await read.select({ address }).from(contacts).where(eq(contacts.id, id)).get()
  if (contact !== undefined) return { kind: 'a contact', address: contact.address }
  for (const { kind, table } of TABLES_OF_IDS) {
    const found = await read.select({ id: table.id }).from(table).where(eq(table.id, id)).get()
    if (found !== undefined) return { kind }
  }
  return undefined
}

/**
 * Whether a receiver refused this server, and neither the recipient nor the message: its address, its host name, its
 * reverse DNS, or the authentication of its domain. Once the cause is repaired, the same email may arrive. Attempts
 * store the class of a reply; the reason follows from the reply again.
 */
export function judgesServer({
  class: name,
  host,
  replyCode,
  enhancedCode,
  replyText,
}: Refusal): boolean {
  if (name === 'block') return true
  if (name !== 'policy') return false
  const { reason } = classifyReply({
    stage: replyCode === null ? 'late' : 'message',
    reply: { code: replyCode ?? 0, enhancedCode, text: replyText ?? '' },
    ...(host === null ? {} : { mxHost: host }),
  })
  return REASONS_ABOUT_SERVER.includes(reason)
}
