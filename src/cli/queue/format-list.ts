/**
 * Formats the emails of `queue list` as a table with one line for each email, which programs read. A terminal
 * that is too narrow for the table gets a block for each email, with the addresses and the reason on lines of
 * their own.
 */
import type { Terminal } from '../engine/terminal.ts'
import { escapeControls, formatTable, shorten, widthOf, wrap } from '../engine/text.ts'

export type QueueRow = {
  id: string
  state: string
  tries: string
  next: string
  from: string
  to: string
  subject: string
  reason: string
}

const HEAD = ['ID', 'STATE', 'TRIES', 'NEXT', 'FROM', 'TO', 'SUBJECT', 'REASON']
const MAX_SUBJECT = 50
const MAX_REASON = 160
/** Used if the terminal does not know its width and reports 0. */
const DEFAULT_COLUMNS = 80
const INDENT = '  '

/** Reasons are shortened only at a terminal, and only without `isWhole`. */
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

function toCells(row: QueueRow, isWhole: boolean): string[] {
  const { id, state, tries, next, from, to, subject, reason } = row
  const said = isWhole ? reason : shorten(reason, MAX_REASON)
  return [id, state, tries, next, from, to, shorten(subject, MAX_SUBJECT), said]
}

/** The first line of a block has the cells whose width is known. */
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
