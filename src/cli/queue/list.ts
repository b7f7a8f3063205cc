/** `queue list`: mail on its way, or all mail to one recipient, with the reason for its state. */
import { formatOptionalInstant } from '../../clock.ts'
import { explainEmails } from '../../features/messages/explain/explain-emails.ts'
import type { Explanation } from '../../features/messages/explain/facts.ts'
import {
  countEnded,
  countListed,
  type EndedCount,
  listQueue,
  type QueuedEmail,
  type QueueSelection,
  queueStates,
} from '../../features/messages/queue/queue-list.ts'
import { findSuppressed, type SuppressedAddress } from '../../features/suppressions/find.ts'
import { displayDomain } from '../../mail/address/address.ts'
import { parseShownAddress } from '../../mail/address/named-mailbox.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { escapeControls, formatTable, formatTime, shorten } from '../engine/text.ts'
import { readLimit } from '../options/limit.ts'
import { createLiveSource, describeSilence, formatCommand } from './live.ts'
import { readDomain } from './operate.ts'

const MAX_REASON = 160
const DEFAULT_LIMIT = 1_000

export type ListedEmail = QueuedEmail & Explanation

export async function listQueueCommand(context: CommandContext, input: Input): Promise<Result> {
  const selection = readSelection(input)
  const limit = readLimit(input, DEFAULT_LIMIT)
  const { recipient } = selection
  const found = await withCore(context, async (core) => {
    const oneMore = await listQueue(core, { ...selection, limit: limit + 1 })
    const emails = oneMore.slice(0, limit)
    const total = oneMore.length > limit ? await countListed(core, selection) : limit
    const source = createLiveSource(core)
    const explained = await explainEmails(core, emails, source.find)
    const ended = recipient === undefined ? await countEnded(core, selection) : null
    const suppressed = recipient === undefined ? [] : await findSuppressed(core, recipient)
    const live = source.found()
    return { emails, total, explained, ended, suppressed, live, now: core.now() }
  })
  const listed = found.emails.flatMap((email) => {
    const explanation = found.explained.get(email.id)
    return explanation === undefined ? [] : [{ ...email, ...explanation }]
  })
  const text = [
    formatQueue(listed, { isWhole: recipient !== undefined, now: found.now }),
    ...describeMore(found.total, limit),
    ...describeSilence(found.live),
    ...(found.ended === null ? [] : describeEnded(found.ended, input, listed.length)),
    ...(recipient === undefined ? [] : describeRecipient(recipient, listed, found.suppressed)),
  ]
  return { json: listed.map(toJson), text: text.join('\n\n') }
}

export function toJson(email: ListedEmail) {
  return {
    id: email.id,
    to: email.recipient,
    from: email.fromAddress,
    subject: email.subject,
    state: email.state,
    status: email.status,
    nextAttemptAt: formatOptionalInstant(email.nextAttemptAt),
    attempts: email.attemptCount,
    reason: email.reason,
  }
}

/** Shows `due now` in place of a time that has passed. */
export function formatNext(nextAttemptAt: number | null, now: number): string | null {
  if (nextAttemptAt === null) return null
  return nextAttemptAt <= now ? 'due now' : formatTime(nextAttemptAt)
}

function formatQueue(
  emails: readonly ListedEmail[],
  { isWhole, now }: { isWhole: boolean; now: number },
): string {
  const rows = emails.map((email) => [
    email.id,
    email.state,
    String(email.attemptCount),
    formatNext(email.nextAttemptAt, now) ?? '-',
    email.fromAddress,
    email.recipient,
    shorten(email.subject, 50),
    isWhole ? email.reason : shorten(email.reason, MAX_REASON),
  ])
  const head = ['ID', 'STATE', 'TRIES', 'NEXT', 'FROM', 'TO', 'SUBJECT', 'REASON']
  return formatTable(head, rows, 'No matching mail.')
}

/** `total`: null if there are more emails and they were not counted. */
function describeMore(total: number | null, limit: number): string[] {
  if (total === null) return ['There are more; --limit shows them.']
  return total > limit ? [`And ${total - limit} more; --limit shows them.`] : []
}

/** Describes finished mail, below the list of mail on its way. */
function describeEnded(
  { counts, searchedRows }: EndedCount,
  input: Input,
  shown: number,
): string[] {
  const given = input.text('state')
  if (counts.length === 0 || (given !== undefined && shown > 0)) return []
  const figures = counts.map(({ state, count }) => `${count} ${state}`).join(', ')
  const among =
    searchedRows === null
      ? 'Finished mail'
      : `Finished mail among the newest ${searchedRows} emails`
  const command = formatCommand(['queue', 'list', ...repeatSelection(input), '--state', 'ended'])
  return [`${among}: ${figures}. To list it: ${command}`]
}

function repeatSelection(input: Input): string[] {
  const flags = { project: '--project', domain: '--domain', senderDomain: '--sender-domain' }
  return Object.entries(flags).flatMap(([option, flag]) => {
    const value = input.text(option)
    return value === undefined ? [] : [flag, value]
  })
}

function describeRecipient(
  recipient: string,
  listed: readonly ListedEmail[],
  suppressed: readonly SuppressedAddress[],
): string[] {
  const address = escapeControls(recipient)
  const [newest] = listed
  const isListed = ({ projectId }: SuppressedAddress) =>
    listed.some((email) => email.projectId === projectId && email.state === 'suppressed')
  const unlisted = suppressed.filter((one) => !isListed(one))
  const lists = unlisted.map(({ projectId, reason, source, createdAt }) => {
    const command = ['suppressions', 'remove', '--project', projectId, recipient]
    const why = escapeControls(shorten(source, MAX_REASON))
    return [
      `${address} has been on the suppression list of project ${projectId} since ${formatTime(createdAt)}`,
      `(${reason}: ${why}), so the project sends nothing to it. To change that: ${formatCommand(command)}`,
    ].join(' ')
  })
  const next =
    newest === undefined
      ? `There is no email to ${address}: none was accepted, or its contact was deleted.`
      : `To see the history of one: ${formatCommand(['queue', 'show', newest.id])}`
  return [...lists, next]
}

function readSelection(input: Input): QueueSelection {
  const senderDomain = readDomain(input, 'senderDomain', '--sender-domain')
  return {
    state: readState(input),
    domain: readDomain(input, 'domain', '--domain'),
    senderDomain: senderDomain && displayDomain(senderDomain),
    recipient: readRecipient(input),
    projectId: input.text('project')?.trim().toLowerCase(),
  }
}

function readState(input: Input): QueueSelection['state'] {
  const given = input.text('state')?.toLowerCase()
  const known = [...queueStates, 'ended'] as const
  const state = known.find((name) => name === given)
  if (given === undefined || state !== undefined) return state
  throw new UsageError(`--state: expected one of ${known.join(', ')}`)
}

function readRecipient(input: Input): string | undefined {
  const given = input.text('to')
  if (given === undefined) return undefined
  const parsed = parseShownAddress(given)
  if (parsed === undefined) throw new UsageError('--to: expected an email address')
  return parsed.address
}
