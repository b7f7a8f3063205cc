/** Writes CSV (RFC 4180): lines end with CRLF, and quotes enclose fields that need them. */

export type OutCell = string | { quoted: string }

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

/**
 * Programs that trim would lose blanks around a text. Some programs also divide fields at
 * semicolons and tabs, after which the rest of a text could be a formula.
 */
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/

function writeCell(cell: OutCell): string {
  if (typeof cell !== 'string') return quote(cell.quoted)
  return NEEDS_QUOTES.test(cell) ? quote(cell) : cell
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
