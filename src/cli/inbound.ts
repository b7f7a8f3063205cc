/**
 * `inbound …`: received mail for the server itself, unreadable mail, and mail over a sender limit.
 */
import { formatInstant, formatOptionalInstant } from '../base/clock.ts'
import {
  countInboundMessages,
  deleteInboundMessages,
  listInboundMessages,
  loadInboundMessage,
  retryFailedInboundMessages,
  retryInboundMessages,
  type ShownMessage,
} from '../features/incoming/receiving/inbound-messages.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { escapeControls, formatFields, formatTable, formatTime, shorten } from './engine/text.ts'

type ListedMessage = Pick<ShownMessage, 'recipients' | 'reversePath' | 'sender'>

const NONE = 'No mail for the server itself, and every message could be read.'

export async function listInboundCommand(context: CommandContext, input: Input): Promise<Result> {
  const isAll = input.has('all')
  const { listed, counts } = await withCore(context, async (core) => ({
    listed: await listInboundMessages(core, { isAll }),
    counts: await countInboundMessages(core),
  }))
  const json = listed.map((message) => ({
    id: message.id,
    receivedAt: formatInstant(message.receivedAt),
    from: senderOf(message),
    to: addressesOf(message),
    subject: message.subject,
    kind: message.kind,
    state: message.state,
    error: message.error,
    remark: message.remark,
    sizeBytes: message.sizeBytes,
  }))
  const rows = listed.map((message) => [
    message.id,
    formatTime(message.receivedAt) ?? '',
    message.state,
    shorten(addressesOf(message).join(', '), 40),
    shorten(senderOf(message), 40),
    shorten(message.error ?? message.remark ?? message.subject ?? '', 90),
  ])
  const head = ['ID', 'RECEIVED', 'STATE', 'TO', 'FROM', 'SUBJECT']
  return { json, text: formatTable(head, rows, describeNone(counts, context)) }
}

/** The text for an empty list: it counts the messages that other options would list. */
function describeNone(
  { waiting, ended }: { waiting: number; ended: number },
  { configPath }: CommandContext,
): string {
  const list = formatCommand(['inbound', 'list', '--all'], configPath)
  const lines = [NONE]
  if (waiting > 0) lines.push(`Waiting to be read: ${waiting}.`)
  if (ended > 0) lines.push(`Read: ${ended}. See the newest with: ${list}`)
  return lines.join('\n')
}

/** Runs `inbound retry`, with either ids or `--failed`. */
export async function retryInboundCommand(context: CommandContext, input: Input): Promise<Result> {
  const { args: ids } = input
  const isFailed = input.has('failed')
  if (isFailed === ids.length > 0) throw new UsageError('give either ids or --failed')
  if (!isFailed) {
    await withCore(context, (core) => retryInboundMessages(core, ids))
    return { json: { ids, messages: ids.length }, text: `To be read again: ${ids.length}.` }
  }
  const messages = await withCore(context, retryFailedInboundMessages)
  return { json: { messages }, text: `To be read again: ${messages}.` }
}

export async function deleteInboundCommand(
  context: CommandContext,
  { args }: Input,
): Promise<Result> {
  await withCore(context, (core) => deleteInboundMessages(core, args))
  return { json: { ids: args }, text: `Deleted: ${args.length}.` }
}

/** Prints the message, or its metadata: with `--facts`, and if the message's text is deleted. */
export async function showInboundCommand(context: CommandContext, input: Input): Promise<Result> {
  const [id = ''] = input.args
  const message = await withCore(context, (core) => loadInboundMessage(core, id))
  if (message.raw === null || input.has('facts')) {
    return { json: toJson(message), text: toText(message) }
  }
  const note = message.error ?? message.remark
  // The note goes to standard error, because standard output holds the message only.
  if (note !== null) context.terminal.stderr.write(`Note: ${escapeControls(note)}\n`)
  return { raw: message.raw }
}

function toJson({ raw, rawChunks, ...message }: ShownMessage) {
  return {
    ...message,
    receivedAt: formatInstant(message.receivedAt),
    processedAt: formatOptionalInstant(message.processedAt),
    begunAt: formatOptionalInstant(message.begunAt),
    dueAt: message.dueAt === 0 ? null : formatInstant(message.dueAt),
  }
}

function toText(message: ShownMessage): string {
  const fields = formatFields({
    state: message.state,
    error: message.error,
    note: message.remark,
    kind: message.kind,
    from: senderOf(message),
    to: addressesOf(message).join(', '),
    subject: message.subject,
    received: formatTime(message.receivedAt),
    read: formatTime(message.processedAt),
    client: `${message.clientName} [${message.clientAddress}], ${message.tls ?? 'in clear'}`,
    size: `${message.sizeBytes} bytes`,
    tries: message.attempts === 0 ? null : String(message.attempts),
    interrupted: message.interruptions === 0 ? null : `${message.interruptions} times`,
    findings: message.summary === null ? null : JSON.stringify(message.summary),
  })
  return `Inbound message ${message.id}${describeGone(message)}.\n\n${fields}`
}

function describeGone({ raw, isWithheld }: ShownMessage): string {
  if (isWithheld) return '; its text is not shown, because the search for links in it failed'
  return raw === null ? '; its text is deleted' : ''
}

/** Returns the From field of a message that was read, else the sender in its envelope. */
function senderOf({ sender, reversePath }: ListedMessage): string {
  return sender ?? `<${reversePath}>`
}

function addressesOf({ recipients }: ListedMessage): string[] {
  return recipients.map(({ address }) => address)
}
