/**
 * Writes CSV (RFC 4180): lines end with CRLF, and quotes enclose fields that need them. Rows of an export are
 * written in pieces, so that no piece takes long or is large.
 */
import type { ExportSlots } from '../export-slots.ts'

export type OutCell = string | { quoted: string }

/** Milliseconds of writing in one turn of the event loop. */
const TURN_MS = 5
/** Characters after which a piece ends early: with many keys, each contact has many commas. */
const PIECE_CHARS = 1024 * 1024

/** Returns a record with its line end. */
export function writeRecord(cells: readonly OutCell[]): string {
  return `${cells.map(writeCell).join(',')}\r\n`
}

export type PlacedCell = { at: number; cell: OutCell }

/** As `writeRecord`, for `size` cells: the given ones at their positions, and empty ones. */
export function writeSparseRecord(cells: readonly PlacedCell[], size: number): string {
  let text = ''
  let last = 0
  for (const { at, cell } of cells) {
    text += ','.repeat(at - last) + writeCell(cell)
    last = at
  }
  return `${text}${','.repeat(size - 1 - last)}\r\n`
}

/** Yields the rows of the items; each piece takes a turn of the slots. */
export async function* writePieces<T>(
  slots: Pick<ExportSlots, 'nextTurn'>,
  items: Iterable<T>,
  write: (item: T) => string,
): AsyncGenerator<Uint8Array> {
  let text = ''
  let endsAt = 0
  for (const item of items) {
    if (text === '') {
      await slots.nextTurn()
      endsAt = performance.now() + TURN_MS
    }
    text += write(item)
    if (performance.now() < endsAt && text.length < PIECE_CHARS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

/**
 * A text with blanks around it is in quotes, because programs that trim would lose the blanks. Some
 * programs also divide fields at semicolons and tabs, after which the rest of a text could be a
 * formula.
 */
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/

function writeCell(cell: OutCell): string {
  if (typeof cell !== 'string') return quote(cell.quoted)
  return NEEDS_QUOTES.test(cell) ? quote(cell) : cell
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
