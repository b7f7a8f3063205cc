/** The mail that the sandbox kept instead of sending it. */
import { formatInstant } from '../clock.ts'
import { getSandboxMessage, listSandboxMessages } from '../features/messages/sandbox.ts'
import { type Context, type Input, type Result, UsageError, withCore } from './command.ts'
import { formatTable, formatTime, shorten } from './text.ts'

export async function listSandboxCommand(context: Context): Promise<Result> {
  const kept = await withCore(context, (core) => listSandboxMessages(core))
  const json = kept.map(({ id, receivedAt, sender, recipient, subject }) => ({
    id,
    receivedAt: formatInstant(receivedAt),
    from: sender,
    to: recipient,
    subject,
  }))
  const rows = kept.map(({ id, receivedAt, sender, recipient, subject }) => [
    String(id),
    formatTime(receivedAt) ?? '',
    recipient,
    shorten(subject, 60),
    sender,
  ])
  const head = ['ID', 'RECEIVED', 'TO', 'SUBJECT', 'FROM']
  return { json, text: formatTable(head, rows, 'The sandbox is empty.') }
}

export async function showSandboxCommand(context: Context, { args }: Input): Promise<Result> {
  const [id = ''] = args
  if (!/^\d{1,15}$/.test(id)) throw new UsageError('expected the number of a sandbox message')
  return { raw: await withCore(context, (core) => getSandboxMessage(core, Number(id))) }
}
