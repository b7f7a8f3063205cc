/** What came in for the server itself, and what could not be read. */
import { formatInstant, formatOptionalInstant } from '../clock.ts'
import { listInbound } from '../features/receiving/list.ts'
import { getInbound, type InboundMessage } from '../features/receiving/show.ts'
import { type Context, type Input, type Result, withCore } from './command.ts'
import { formatFields, formatTable, formatTime, shorten } from './text.ts'

type Listed = Pick<InboundMessage, 'recipients' | 'reversePath' | 'sender'>

const none = 'Nothing came in for the server itself, and everything could be read.'

export async function listInboundCommand(context: Context): Promise<Result> {
  const listed = await withCore(context, (core) => listInbound(core))
  const json = listed.map((message) => ({
    id: message.id,
    receivedAt: formatInstant(message.receivedAt),
    from: senderOf(message),
    to: addressesOf(message),
    subject: message.subject,
    kind: message.kind,
    state: message.state,
    error: message.error,
    sizeBytes: message.sizeBytes,
  }))
  const rows = listed.map((message) => [
    message.id,
    formatTime(message.receivedAt) ?? '',
    message.state,
    shorten(addressesOf(message).join(', '), 40),
    shorten(senderOf(message), 40),
    shorten(message.error ?? message.subject ?? '', 60),
  ])
  const head = ['ID', 'RECEIVED', 'STATE', 'TO', 'FROM', 'SUBJECT']
  return { json, text: formatTable(head, rows, none) }
}

export async function showInboundCommand(context: Context, { args }: Input): Promise<Result> {
  const [id = ''] = args
  const message = await withCore(context, (core) => getInbound(core, id))
  if (message.raw !== null) return { raw: message.raw }
  return { json: toJson(message), text: toText(message) }
}

/** Of a message that is gone. */
function toJson({ raw, ...message }: InboundMessage) {
  return {
    ...message,
    receivedAt: formatInstant(message.receivedAt),
    processedAt: formatOptionalInstant(message.processedAt),
  }
}

function toText(message: InboundMessage): string {
  const fields = formatFields({
    state: message.state,
    error: message.error,
    kind: message.kind,
    from: senderOf(message),
    to: addressesOf(message).join(', '),
    subject: message.subject,
    received: formatTime(message.receivedAt),
    read: formatTime(message.processedAt),
    client: `${message.clientName} [${message.clientAddress}], ${message.tls ?? 'in clear'}`,
    size: `${message.sizeBytes} bytes`,
    understood: message.summary === null ? null : JSON.stringify(message.summary),
  })
  return `Inbound message ${message.id}; its text is no longer kept.\n\n${fields}`
}

/** As its From field says once it was read; before that, as its envelope does. */
function senderOf({ sender, reversePath }: Listed): string {
  return sender ?? `<${reversePath}>`
}

function addressesOf({ recipients }: Listed): string[] {
  return recipients.map(({ address }) => address)
}
