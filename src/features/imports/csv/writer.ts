/** A CSV as RFC 4180 has it: CRLF, and quotes where a field needs them. */

export type OutCell = string | { quoted: string }

/** One record with its line end. */
export function writeRecord(cells: readonly OutCell[]): string {
  return `${cells.map(writeCell).join(',')}\r\n`
}

export type PlacedCell = { at: number; cell: OutCell }

/** As `writeRecord`, of `size` cells of which these, by their places, are not empty. */
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
 * Blanks around a text would be lost with programs that trim. Some programs divide fields at
 * semicolons and tabs as well, and the rest of a text would be a formula of its own.
 */
const needsQuotes = /[",;|\t\r\n]|^\s|\s$/

function writeCell(cell: OutCell): string {
  if (typeof cell !== 'string') return quote(cell.quoted)
  return needsQuotes.test(cell) ? quote(cell) : cell
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
