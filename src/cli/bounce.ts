/**
 * `bounce inspect`: prints how Pillarbox classifies the bounces, complaints and replies in files.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { getSystemErrorMap } from 'node:util'
import { AppError } from '../base/errors.ts'
import { type Report, readReport } from '../formats/report/read-report.ts'
import type { CommandContext, Input, Result } from './engine/command.ts'
import type { Terminal } from './engine/terminal.ts'
import { escapeControls, formatTable, shorten } from './engine/text.ts'

/** Octets of the largest file that is read: no message is larger, but a disk image may be. */
const MAX_OCTETS = 64 * 1_048_576

/**
 * Prints one paragraph for each file, or one JSON line with `--json`; `-` is standard input. Needs
 * no configuration. A file that cannot be read does not stop the others.
 * @throws AppError that names the unreadable files, after the others are printed
 */
export async function inspectBouncesCommand(
  { terminal, isJson }: CommandContext,
  { args }: Input,
): Promise<Result> {
  const faults: string[] = []
  for (const file of args) {
    const found = await readMessage(terminal, file)
    if (typeof found === 'string') faults.push(`cannot read ${file}: ${found}`)
    else terminal.stdout.write(`${format(file, readReport(found), isJson)}\n`)
  }
  if (faults.length > 0) throw new AppError('BAD_REQUEST', faults.join('\n'))
  return null
}

/** Returns the octets of the file, or the reason why it cannot be read. */
async function readMessage({ stdin, cwd }: Terminal, file: string): Promise<Buffer | string> {
  try {
    const raw = file === '-' ? await readAll(stdin) : await readFile(path.resolve(cwd, file))
    return raw.length > MAX_OCTETS ? 'larger than 64 MiB' : raw
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number'))
      throw error
    return getSystemErrorMap().get(error.errno)?.[1] ?? error.message
  }
}

async function readAll(stdin: Terminal['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function format(file: string, report: Report, isJson: boolean): string {
  return isJson ? JSON.stringify(describe(file, report)) : toText(file, report)
}

function toText(file: string, { kind, feedbackType, truncated, recipients }: Report): string {
  const label = feedbackType === null ? kind : `${kind} (${feedbackType})`
  const bound = truncated ? ', truncated: the file is longer than the part that was read' : ''
  const rows = recipients.map((one) => [
    one.recipient,
    one.action,
    one.class,
    one.reason,
    one.status ?? '-',
    String(one.replyCode ?? '-'),
    shorten(one.diagnostic, 100),
  ])
  const head = ['RECIPIENT', 'ACTION', 'CLASS', 'REASON', 'STATUS', 'CODE', 'DIAGNOSTIC']
  const table = formatTable(head, rows, 'The file names no recipient.')
  return `${escapeControls(`${file}: ${label}`)}${bound}\n${table.replace(/^/gm, '  ')}\n`
}

function describe(file: string, { kind, recipients, feedbackType, truncated }: Report) {
  return {
    file,
    kind,
    recipients: recipients.map(
      ({ recipient, action, status, replyCode, class: itsClass, reason, diagnostic }) => ({
        recipient,
        action,
        status,
        replyCode,
        class: itsClass,
        reason,
        diagnostic,
      }),
    ),
    feedbackType,
    truncated,
  }
}
