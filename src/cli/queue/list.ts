/** `queue list`: mail on its way, or all mail to one recipient, with the reason for its state. */
import { formatOptionalInstant } from '../../base/clock.ts'
import { explainEmails } from '../../features/mail/messages/explain/explain-emails.ts'
import type { Explanation } from '../../features/mail/messages/explain/facts.ts'
import {
  countEnded,
  countListed,
  type EndedCount,
  listQueue,
  type QueuedEmail,
  type QueueSelection,
  queueStates,
} from '../../features/mail/messages/queue/queue-list.ts'
import { loadProject } from '../../features/tenancy/accounts/projects/projects.ts'
import { displayDomain } from '../../formats/address/address.ts'
import { parseShownAddress } from '../../formats/address/named-mailbox.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { formatCommand } from '../engine/command-line.ts'
import type { Terminal } from '../engine/terminal.ts'
import { escapeControls, formatTable, formatTime, shorten, widthOf, wrap } from '../engine/text.ts'
import { readLimit } from '../options/list-options.ts'
import { describeRecipient, findAboutRecipient } from './about-recipient.ts'
import { createLiveSource, describeSilence } from './live.ts'
import { readDomain } from './operate.ts'

const DEFAULT_LIMIT = 1_000
const HEAD = ['ID', 'STATE', 'TRIES', 'NEXT', 'FROM', 'TO', 'SUBJECT', 'REASON']
const MAX_SUBJECT = 50
const MAX_REASON = 160
/** Columns of a terminal that does not know its width and reports 0. */
const DEFAULT_COLUMNS = 80
const INDENT = '  '

type ListedEmail = QueuedEmail & Explanation

type QueueRow = {
  id: string
  state: string
  tries: string
  next: string
  from: string
  to: string
  subject: string
  reason: string
}

export async function listQueueCommand(context: CommandContext, input: Input): Promise<Result> {
  const selection = readSelection(input)
  const limit = readLimit(input, DEFAULT_LIMIT)
  const { recipient, projectId } = selection
  const { configPath } = context
  const found = await withCore(context, async (core) => {
    if (projectId !== undefined) await loadProject(core, projectId)
    const oneMore = await listQueue(core, { ...selection, limit: limit + 1 })
    const emails = oneMore.slice(0, limit)
    const total = oneMore.length > limit ? await countListed(core, selection) : limit
    const source = createLiveSource(core)
    const explained = await explainEmails(core, emails, source.find)
    const ended = recipient === undefined ? await countEnded(core, selection) : null
    const about =
      recipient === undefined
        ? null
        : await findAboutRecipient(core, { recipient, projectId }, emails)
    const live = source.found()
    return { emails, total, explained, ended, about, live, now: core.now() }
  })
  const listed = found.emails.flatMap((email) => {
    const explanation = found.explained.get(email.id)
    return explanation === undefined ? [] : [{ ...email, ...explanation }]
  })
  const text = [
    formatQueueRows(
      listed.map((email) => toRow(email, found.now)),
      { stdout: context.terminal.stdout, isWhole: recipient !== undefined },
    ),
    ...describeMore(found.total, limit),
    ...describeSilence(found.live),
    ...(found.ended === null
      ? []
      : describeEnded(found.ended, input, { shown: listed.length, configPath })),
    ...(found.about === null ? [] : describeRecipient(found.about, listed, configPath)),
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
    reasonCode: email.reasonCode,
    reasonData: email.reasonData,
  }
}

/** Formats the time of the next attempt; a time that has passed is `due now`. */
export function formatNext(nextAttemptAt: number | null, now: number): string | null {
  if (nextAttemptAt === null) return null
  return nextAttemptAt <= now ? 'due now' : formatTime(nextAttemptAt)
}

/**
 * Formats a table with one line for each email, which programs can read. If a terminal is too
 * narrow for the table, each email becomes a block, with lines of their own for addresses and
 * reason. Reasons are shortened only at a terminal, and only without `isWhole`.
 */
export function formatQueueRows(
  rows: readonly QueueRow[],
  { stdout, isWhole }: { stdout: Terminal['stdout']; isWhole: boolean },
): string {
  const isTerminal = stdout.isTTY === true
  const table = formatTable(
    HEAD,
    rows.map((row) => toCells(row, isWhole || !isTerminal)),
    'No matching mail.',
  )
  if (!isTerminal || rows.length === 0) return table
  const columns = stdout.columns || DEFAULT_COLUMNS
  const isFitting = table.split('\n').every((line) => widthOf(line) <= columns)
  return isFitting ? table : formatBlocks(rows, columns)
}

function toRow(email: ListedEmail, now: number): QueueRow {
  return {
    id: email.id,
    state: email.state,
    tries: String(email.attemptCount),
    next: formatNext(email.nextAttemptAt, now) ?? '-',
    from: email.fromAddress,
    to: email.recipient,
    subject: email.subject,
    reason: email.reason,
  }
}

function toCells(row: QueueRow, isWhole: boolean): string[] {
  const { id, state, tries, next, from, to, subject, reason } = row
  const said = isWhole ? reason : shorten(reason, MAX_REASON)
  return [id, state, tries, next, from, to, shorten(subject, MAX_SUBJECT), said]
}

/** Formats each email as a block; the first line of the block has the cells of known width. */
function formatBlocks(rows: readonly QueueRow[], columns: number): string {
  const short = rows.map(({ id, state, tries, next }) => [id, state, tries, next])
  const [head = '', ...lines] = formatTable(HEAD.slice(0, 4), short, '').split('\n')
  const blocks = rows.map(({ from, to, subject, reason }, index) =>
    [
      lines[index] ?? '',
      ...[`to ${to}, from ${from}: ${shorten(subject, MAX_SUBJECT)}`, reason].flatMap((text) =>
        wrap(escapeControls(text), columns - INDENT.length).map((line) => INDENT + line),
      ),
    ].join('\n'),
  )
  return [head, ...blocks].join('\n\n')
}

/**
 * The line after a list that is not complete. `total`: null if more emails exist and were not
 * counted.
 */
function describeMore(total: number | null, limit: number): string[] {
  if (total === null) return ['There are more; --limit shows them.']
  return total > limit ? [`And ${total - limit} more; --limit shows them.`] : []
}

/** The paragraph on finished mail, below the list of mail that is on its way. */
function describeEnded(
  { counts, searchedRows }: EndedCount,
  input: Input,
  { shown, configPath }: { shown: number } & Pick<CommandContext, 'configPath'>,
): string[] {
  const given = input.text('state')
  if (counts.length === 0 || (given !== undefined && shown > 0)) return []
  const figures = counts.map(({ state, count }) => `${count} ${state}`).join(', ')
  const among =
    searchedRows === null
      ? 'Finished mail'
      : `Finished mail among the newest ${searchedRows} emails`
  const words = ['queue', 'list', ...repeatSelection(input), '--state', 'ended']
  return [`${among}: ${figures}. To list it: ${formatCommand(words, configPath)}`]
}

function repeatSelection(input: Input): string[] {
  const flags = { project: '--project', domain: '--domain', senderDomain: '--sender-domain' }
  return Object.entries(flags).flatMap(([option, flag]) => {
    const value = input.text(option)
    return value === undefined ? [] : [flag, value]
  })
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
