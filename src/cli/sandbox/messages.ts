/** Lists and shows the mail that the sandbox stored instead of sending it. */
import { formatInstant } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { OpenCore } from '../../core/open-core.ts'
import { countQueue } from '../../features/mail/messages/queue/queue-list.ts'
import {
  listSandboxMessages,
  loadSandboxMessage,
} from '../../features/mail/messages/sandbox-messages.ts'
import { parseShownAddress } from '../../formats/address/named-mailbox.ts'
import { decodeMessage } from '../../formats/decode-message.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from '../engine/command.ts'
import { formatCommand } from '../engine/command-line.ts'
import { formatTable, formatTime, shorten } from '../engine/text.ts'
import { readLimit } from '../options/list-options.ts'

const DEFAULT_LIMIT = 100

export async function listSandboxCommand(context: CommandContext, input: Input): Promise<Result> {
  const limit = readLimit(input, DEFAULT_LIMIT)
  const to = input.text('to')?.trim()
  const { stored, total, coming } = await withCore(context, async (core) => {
    const { messages, total } = await listSandboxMessages(core, { limit, to })
    const { file, delivery } = core.config
    const isSandbox = delivery.mode === 'sandbox'
    const other = `This server is no sandbox: delivery.mode is ${delivery.mode}${file === null ? '' : ` in ${file}`}.`
    const coming = isSandbox ? await countComing(core, to) : [other]
    return { stored: messages, total, coming }
  })
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
  const none = to === undefined ? 'The sandbox is empty.' : 'The sandbox has no such mail.'
  const isNone = stored.length === 0 && coming.length === 0
  const why = isNone ? explainNone(to, context.configPath) : []
  const more = describeMore(stored.length, total)
  const text = [formatTable(head, rows, none), ...more, ...coming, ...why]
  return { json, text: text.join('\n\n') }
}

function describeMore(shown: number, total: number): string[] {
  if (total <= shown) return []
  return [`Shown: ${shown} of ${total} messages. There are more; --limit shows them.`]
}

/**
 * Says how to find out why no mail has arrived. The command has ADDRESS in place of the real
 * address, because scripts search the output for the address.
 */
function explainNone(to: string | undefined, configPath: string | undefined): string[] {
  if (to === undefined || parseShownAddress(to) === undefined) return []
  const command = formatCommand(['queue', 'list', '--to', 'ADDRESS'], configPath)
  return [`Why no mail has arrived: ${command}`]
}

/** Counts the emails on their way: mail that was accepted a moment ago arrives a moment later. */
async function countComing({ store }: OpenCore, to: string | undefined): Promise<string[]> {
  const counts = await countQueue({ store }, to)
  const coming = counts
    .filter(({ state }) => ['queued', 'deferred', 'sending'].includes(state))
    .reduce((sum, { count }) => sum + count, 0)
  if (coming === 0) return []
  return [coming === 1 ? '1 email is on its way.' : `${coming} emails are on their way.`]
}

/** Prints the message as it arrived, or one decoded part. */
export async function showSandboxCommand(context: CommandContext, input: Input): Promise<Result> {
  const id = readMessageNumber(input)
  const parts = (['html', 'text'] as const).filter((part) => input.has(part))
  if (parts.length > 1) throw new UsageError('give either --html or --text')
  const raw = await withCore(context, (core) => loadSandboxMessage(core, id))
  const [part] = parts
  return part === undefined ? { raw } : { raw: await readPart(raw, part) }
}

/**
 * Reads the number of a sandbox message.
 * @throws UsageError
 */
export function readMessageNumber({ args: [id = ''] }: Input): number {
  if (!/^\d{1,15}$/.test(id)) throw new UsageError('expected the number of a sandbox message')
  return Number(id)
}

/** Returns the decoded part as UTF-8. */
async function readPart(raw: Buffer, part: 'html' | 'text'): Promise<Buffer> {
  const text = (await decodeMessage(raw))[part]
  if (text === null) throw new AppError('BAD_REQUEST', `The message has no ${part} part.`)
  return Buffer.from(text.endsWith('\n') ? text : `${text}\n`)
}
