/** `suppressions …`: suppressed addresses, and held suppressions. */

import { formatInstant } from '../base/clock.ts'
import type { OpenCore } from '../core/open-core.ts'
import { collect } from '../features/ground/listing.ts'
import {
  confirmHeldSuppressions,
  listHeld,
} from '../features/mail/suppressions/held-suppressions.ts'
import {
  addSuppressions,
  deleteAddresses,
  listSuppressions,
  type SuppressionReason,
} from '../features/mail/suppressions/suppressions.ts'
import { undoSuppressions } from '../features/mail/suppressions/undo-suppressions.ts'
import { loadProject } from '../features/tenancy/accounts/projects/projects.ts'
import type { ParsedAddress } from '../formats/address/address.ts'
import { parseShownAddress } from '../formats/address/named-mailbox.ts'
import type { HeldSuppression } from '../records/suppression.ts'
import { suppressionColumns } from '../records/tables.ts'
import { SUPPRESSION_REASONS } from '../records/words.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { escapeControls, formatRecords, formatTable, shorten } from './engine/text.ts'
import { readLimit, readSince } from './options/list-options.ts'

const DEFAULT_LIMIT = 100

export async function listSuppressionsCommand(
  context: CommandContext,
  input: Input,
): Promise<Result> {
  const limit = readLimit(input, DEFAULT_LIMIT)
  if (input.has('held')) return listHeldCommand(context, input, limit)
  const query = {
    projectId: input.text('project'),
    search: input.text('search'),
    reason: readReason(input),
    cursor: input.text('cursor'),
    limit,
  }
  const { items, end } = await onProject(context, input, async (core) =>
    collect(await listSuppressions(core, query)),
  )
  const columns = suppressionColumns(query.projectId === undefined)
  const table = formatRecords(columns, items, describeNone(query))
  const more = end.hasMore ? `\n\nMore: --cursor ${end.cursor}` : ''
  return { json: { data: items, ...end }, text: `${table}${more}` }
}

/** Says that the list is empty, or that the search or the filter found nothing. */
function describeNone({
  search,
  reason,
}: {
  search?: string | undefined
  reason?: unknown
}): string {
  if (search !== undefined) return 'No suppressed address matches the search.'
  return reason === undefined
    ? 'No address is suppressed.'
    : 'No address is suppressed for this reason.'
}

async function listHeldCommand(
  context: CommandContext,
  input: Input,
  limit: number,
): Promise<Result> {
  const other = ['search', 'reason', 'cursor'].find((name) => input.text(name) !== undefined)
  if (other !== undefined)
    throw new UsageError(`--held takes --project and --limit, not --${other}`)
  const projectId = input.text('project')
  const page = await onProject(context, input, (core) => listHeld(core, { projectId, limit }))
  const head = ['ADDRESS', 'REASON', 'SINCE', 'WAITS FOR', 'SOURCE']
  const table = formatTable(head, page.data.map(toHeldRow), 'No suppression is held.')
  const more = page.hasMore ? `\n\n${page.total} in all: --limit shows more.` : ''
  return { json: page, text: `${table}${more}` }
}

export async function addSuppressionsCommand(
  context: CommandContext,
  input: Input,
): Promise<Result> {
  const addition = {
    projectId: input.required('project'),
    addresses: readAddresses(input.args),
    reason: readReason(input) ?? 'MANUAL',
    source: 'command line',
  }
  const done = await onProject(context, input, (core) => addSuppressions(core, addition))
  const text = `Suppressed: ${done.added}; already on the list: ${done.existing}.`
  return { json: done, text }
}

export async function removeSuppressionsCommand(
  context: CommandContext,
  input: Input,
): Promise<Result> {
  const removal = { projectId: input.required('project'), addresses: readAddresses(input.args) }
  const removed = await onProject(context, input, (core) => deleteAddresses(core, removal))
  const missing = new Set(removal.addresses.map(({ address }) => address)).size - removed
  const others = missing === 0 ? '' : ` Not on it: ${missing}.`
  return {
    json: { removed },
    text: `Removed from the list: ${removed}.${others}`,
    isFailed: removed === 0,
  }
}

export async function confirmSuppressionsCommand(
  context: CommandContext,
  input: Input,
): Promise<Result> {
  const scope = readScope(input)
  const done = await onProject(context, input, (core) => confirmHeldSuppressions(core, scope))
  const lines = [
    `Suppressed and unsubscribed since ${formatInstant(scope.since)}: ${done.suppressed}.`,
    ...(done.dropped > 0
      ? [`Dropped because the address has accepted mail since: ${done.dropped}.`]
      : []),
    ...describeRemaining(done, context),
  ]
  return { json: { since: formatInstant(scope.since), ...done }, text: lines.join('\n') }
}

export async function undoSuppressionsCommand(
  context: CommandContext,
  input: Input,
): Promise<Result> {
  const scope = readScope(input)
  const done = await onProject(context, input, (core) => undoSuppressions(core, scope))
  const lines = [
    `Removed from the list since ${formatInstant(scope.since)}: ${done.removed}; subscribed again: ${done.resubscribed}.`,
    `Held suppressions dropped: ${done.dropped}.`,
    ...(done.kept > 0
      ? [`Kept on the list because a person added the address too: ${done.kept}.`]
      : []),
    ...describeRemaining(done, context),
  ]
  return { json: { since: formatInstant(scope.since), ...done }, text: lines.join('\n') }
}

function describeRemaining(
  { remaining }: { remaining: number },
  { configPath }: CommandContext,
): string[] {
  return remaining === 0
    ? []
    : [
        `Still held: ${remaining}. See: ${formatCommand(['suppressions', 'list', '--held'], configPath)}`,
      ]
}

/**
 * Runs `act` after a check that the project of `--project` exists.
 * @throws AppError RESOURCE_NOT_FOUND
 */
function onProject<T>(
  context: CommandContext,
  input: Input,
  act: (core: OpenCore) => Promise<T>,
): Promise<T> {
  const projectId = input.text('project')
  return withCore(context, async (core) => {
    if (projectId !== undefined) await loadProject(core, projectId)
    return act(core)
  })
}

function toHeldRow({ email, reason, createdAt, source, dueAt }: HeldSuppression): string[] {
  const waitsFor = dueAt === null ? 'confirm or undo' : `a second DNS check, ${dueAt}`
  return [email, reason, createdAt, waitsFor, shorten(source, 60)]
}

function readScope(input: Input) {
  const since = readSince(input.required('since'), Date.now())
  return { projectId: input.text('project'), since }
}

function readReason(input: Input): SuppressionReason | undefined {
  const given = input.text('reason')
  const reason = SUPPRESSION_REASONS.find((known) => known === given?.toUpperCase())
  if (given === undefined || reason !== undefined) return reason
  throw new UsageError(`--reason: expected one of ${SUPPRESSION_REASONS.join(', ')}`)
}

function readAddresses(texts: readonly string[]): ParsedAddress[] {
  return texts.map((text) => {
    const address = parseShownAddress(text)
    if (address === undefined) throw new UsageError(`not an address: ${escapeControls(text)}`)
    return address
  })
}
