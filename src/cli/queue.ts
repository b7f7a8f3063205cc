/** Mail on its way: what is there, and what an operator does to it. */
import { formatOptionalInstant } from '../clock.ts'
import {
  cancelEmails,
  holdDomain,
  listQueue,
  type QueuedEmail,
  queueStates,
  releaseDomain,
  retryEmails,
} from '../features/messages/operate.ts'
import { displayDomain, parseDomain } from '../mail/address.ts'
import { type Context, type Input, type Result, UsageError, withCore } from './command.ts'
import { escapeControls, formatTable, formatTime, shorten } from './text.ts'

export async function listQueueCommand(context: Context, input: Input): Promise<Result> {
  const senderDomain = readDomain(input, 'senderDomain', '--sender-domain')
  const filter = {
    state: readState(input),
    domain: readDomain(input, 'domain', '--domain'),
    senderDomain: senderDomain && displayDomain(senderDomain),
  }
  const emails = await withCore(context, (core) => listQueue(core, filter))
  return { json: emails.map(toJson), text: formatQueue(emails) }
}

export async function retryCommand(context: Context, { args }: Input): Promise<Result> {
  await withCore(context, (core) => retryEmails(core, args))
  return { json: { ids: args }, text: `Due now: ${args.length}.` }
}

export async function cancelCommand(context: Context, { args }: Input): Promise<Result> {
  await withCore(context, (core) => cancelEmails(core, args))
  return { json: { ids: args }, text: `Cancelled: ${args.length}.` }
}

export async function holdCommand(context: Context, input: Input): Promise<Result> {
  const domain = requireDomain(input)
  const emails = await withCore(context, (core) => holdDomain(core, domain))
  const text = `Mail to ${describeName(domain)} is held, ${emails} of what waited.`
  return { json: { domain, emails }, text }
}

export async function releaseCommand(context: Context, input: Input): Promise<Result> {
  const domain = requireDomain(input)
  const emails = await withCore(context, (core) => releaseDomain(core, domain))
  const text = `Mail to ${describeName(domain)} goes on, ${emails} due now.`
  return { json: { domain, emails }, text }
}

/** When it is tried next; null when it is not. */
export function nextAttemptAt({ state, dueAt, retryAt }: QueuedEmail): number | null {
  if (state === 'queued' || state === 'deferred') return dueAt
  return state === 'sending' ? retryAt : null
}

export function toJson(email: QueuedEmail) {
  return {
    id: email.id,
    to: email.recipient,
    from: email.fromAddress,
    subject: email.subject,
    state: email.state,
    status: email.status,
    nextAttemptAt: formatOptionalInstant(nextAttemptAt(email)),
    attempts: email.attemptCount,
  }
}

function formatQueue(emails: QueuedEmail[]): string {
  const rows = emails.map((email) => [
    email.id,
    email.state,
    String(email.attemptCount),
    formatTime(nextAttemptAt(email)) ?? '-',
    email.fromAddress,
    email.recipient,
    shorten(email.subject, 50),
  ])
  const head = ['ID', 'STATE', 'TRIES', 'NEXT', 'FROM', 'TO', 'SUBJECT']
  return formatTable(head, rows, 'Nothing there.')
}

function readState(input: Input) {
  return input.choice('state', queueStates)
}

function readDomain(input: Input, option: string, flag: string): string | undefined {
  const given = input.text(option)
  if (given === undefined) return undefined
  const domain = parseDomain(given)
  if (domain === undefined) throw new UsageError(`${flag}: expected a domain name`)
  return domain
}

function requireDomain(input: Input): string {
  return readDomain(input, 'domain', '--domain') ?? ''
}

function describeName(domain: string): string {
  return escapeControls(displayDomain(domain))
}
