/**
 * Bytes of a record that are not UTF-8 (`encoding.ts` keeps them as lone surrogates). A row without any other
 * character beyond ASCII is taken for Windows-1252, which old spreadsheet programs write and in which every
 * byte is a character. In a row that has such characters, the file is UTF-8 and the bytes are damage: each
 * becomes U+FFFD.
 */
import type { CsvRecord } from './parser.ts'

export type RowDamage = {
  /** Whether the row was read as Windows-1252. */
  isGuessed: boolean
  /** Bytes or characters that became U+FFFD. */
  replaced: number
}

const KEPT_BYTE = /[\udc80-\udcff]/
/** A surrogate of a pair is no kept byte: with the flag u, only lone ones match. */
const KEPT_BYTES = /[\udc80-\udcff]/gu
const OTHER_CHARACTER = /[^\0-\x7f\udc80-\udcff]/u
const REPLACEMENT = '\ufffd'
const windows1252 = new TextDecoder('windows-1252')

/** Returns the record as text, and what was damaged; undefined if nothing was. */
export function repairRecord(record: CsvRecord): { record: CsvRecord; damage?: RowDamage } {
  if (!record.cells.some(({ text }) => KEPT_BYTE.test(text) && !text.isWellFormed())) {
    return { record }
  }
  const isGuessed = !record.cells.some(({ text }) => OTHER_CHARACTER.test(text))
  let replaced = 0
  const read = (kept: string): string => {
    if (isGuessed) return windows1252.decode(Uint8Array.of(kept.charCodeAt(0) & 0xff))
    replaced += 1
    return REPLACEMENT
  }
  const cells = record.cells.map((cell) => ({ ...cell, text: cell.text.replace(KEPT_BYTES, read) }))
  return { record: { ...record, cells }, damage: { isGuessed, replaced } }
}

/** Damage of a record in UTF-16, which is replaced already. */
export function findReplaced({ cells }: CsvRecord): RowDamage | undefined {
  let replaced = 0
  for (const { text } of cells) {
    if (text.includes(REPLACEMENT)) replaced += text.split(REPLACEMENT).length - 1
  }
  return replaced === 0 ? undefined : { isGuessed: false, replaced }
}
