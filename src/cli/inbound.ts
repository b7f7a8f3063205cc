/** What came in for the server itself, what could not be read, and what was capped. */
import { formatInstant, formatOptionalInstant } from '../clock.ts'
import { deleteInbound } from '../features/receiving/delete.ts'
import { countInbound, listInbound } from '../features/receiving/list.ts'
import { retryFailedInbound, retryInbound } from '../features/receiving/retry.ts'
import { getInbound, type InboundMessage } from '../features/receiving/show.ts'
import { type Context, type Input, type Result, UsageError, withCore } from './engine/command.ts'
import { escapeControls, formatFields, formatTable, formatTime, shorten } from './engine/text.ts'

type Listed = Pick<InboundMessage, 'recipients' | 'reversePath' | 'sender'>

const none = 'Nothing came in for the server itself, and everything could be read.'

export async function listInboundCommand(context: Context, input: Input): Promise<Result> {
  const isAll = input.has('all')
  const { listed, counts } = await withCore(context, async (core) => ({
    listed: await listInbound(core, { isAll }),
    counts: await countInbound(core),
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
  return { json, text: formatTable(head, rows, describeNone(counts)) }
}

/** What there is beside an empty list. */
function describeNone({ waiting, ended }: { waiting: number; ended: number }): string {
  const lines = [none]
  if (waiting > 0) lines.push(`Waiting to be read: ${waiting}.`)
  if (ended > 0) lines.push(`Read: ${ended}. See the newest with: pillarbox inbound list --all`)
  return lines.join('\n')
}

/** Exactly one of ids and `--failed`. */
export async function retryInboundCommand(context: Context, input: Input): Promise<Result> {
  const { args: ids } = input
  const isFailed = input.has('failed')
  if (isFailed === ids.length > 0) throw new UsageError('name ids, or give --failed')
  if (!isFailed) {
    await withCore(context, (core) => retryInbound(core, ids))
    return { json: { ids, messages: ids.length }, text: `To be read again: ${ids.length}.` }
  }
  const messages = await withCore(context, retryFailedInbound)
  return { json: { messages }, text: `To be read again: ${messages}.` }
}

export async function deleteInboundCommand(context: Context, { args }: Input): Promise<Result> {
  await withCore(context, (core) => deleteInbound(core, args))
  return { json: { ids: args }, text: `Deleted: ${args.length}.` }
}

/** With `--facts`, and of a message whose text is gone, what is known of it. */
export async function showInboundCommand(context: Context, input: Input): Promise<Result> {
  const [id = ''] = input.args
  const message = await withCore(context, (core) => getInbound(core, id))
  if (message.raw === null || input.has('facts')) {
    return { json: toJson(message), text: toText(message) }
  }
  const note = message.error ?? message.remark
  // Beside the message, which stays as it came.
  if (note !== null) context.terminal.stderr.write(`Note: ${escapeControls(note)}\n`)
  return { raw: message.raw }
}

function toJson({ raw, rawChunks, ...message }: InboundMessage) {
  return {
    ...message,
    receivedAt: formatInstant(message.receivedAt),
    processedAt: formatOptionalInstant(message.processedAt),
    begunAt: formatOptionalInstant(message.begunAt),
    dueAt: message.dueAt === 0 ? null : formatInstant(message.dueAt),
  }
}

function toText(message: InboundMessage): string {
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
    understood: message.summary === null ? null : JSON.stringify(message.summary),
  })
  const gone = message.raw === null ? '; its text is no longer kept' : ''
  return `Inbound message ${message.id}${gone}.\n\n${fields}`
}

/** As its From field says once it was read; before that, as its envelope does. */
function senderOf({ sender, reversePath }: Listed): string {
  return sender ?? `<${reversePath}>`
}

function addressesOf({ recipients }: Listed): string[] {
  return recipients.map(({ address }) => address)
}
