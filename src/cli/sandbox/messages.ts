/** Lists and shows the mail that the sandbox stored instead of sending it. */
import { formatInstant } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { getSandboxMessage, listSandboxMessages } from '../../features/messages/sandbox-messages.ts'
import { decodeMessage } from '../../mail/decode-message.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { formatTable, formatTime, shorten } from '../engine/text.ts'
import { readLimit } from '../options/limit.ts'

const DEFAULT_LIMIT = 100

export async function listSandboxCommand(context: CommandContext, input: Input): Promise<Result> {
  const limit = readLimit(input, DEFAULT_LIMIT)
  const oneMore = await withCore(context, (core) => listSandboxMessages(core, limit + 1))
  const stored = oneMore.slice(0, limit)
  const json = stored.map(({ id, receivedAt, sender, recipient, subject }) => ({
    id,
    receivedAt: formatInstant(receivedAt),
    from: sender,
    to: recipient,
    subject,
  }))
  const rows = stored.map(({ id, receivedAt, sender, recipient, subject }) => [
    String(id),
    formatTime(receivedAt) ?? '',
    recipient,
    shorten(subject, 60),
    sender,
  ])
  const head = ['ID', 'RECEIVED', 'TO', 'SUBJECT', 'FROM']
  const table = formatTable(head, rows, 'The sandbox is empty.')
  const more = oneMore.length > limit ? ['There are more; --limit shows them.'] : []
  return { json, text: [table, ...more].join('\n\n') }
}

/** Prints the message as it arrived, or one decoded part. */
export async function showSandboxCommand(context: CommandContext, input: Input): Promise<Result> {
  const id = readMessageNumber(input)
  const parts = (['html', 'text'] as const).filter((part) => input.has(part))
  if (parts.length > 1) throw new UsageError('give either --html or --text')
  const raw = await withCore(context, (core) => getSandboxMessage(core, id))
  const [part] = parts
  return part === undefined ? { raw } : { raw: await readPart(raw, part) }
}

/** @throws UsageError */
export function readMessageNumber({ args: [id = ''] }: Input): number {
  if (!/^\d{1,15}$/.test(id)) throw new UsageError('expected the number of a sandbox message')
  return Number(id)
}

/** Returns a decoded part in UTF-8. */
async function readPart(raw: Buffer, part: 'html' | 'text'): Promise<Buffer> {
  const text = (await decodeMessage(raw))[part]
  if (text === null) throw new AppError('BAD_REQUEST', `The message has no ${part} part.`)
  return Buffer.from(text.endsWith('\n') ? text : `${text}\n`)
}
