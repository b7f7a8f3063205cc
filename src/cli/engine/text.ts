/**
 * Formats text for a terminal. Much of the text comes from untrusted sources (subjects, replies of
 * other servers), so control characters are escaped before they can reach the terminal.
 */

import { formatSecond } from '../../base/clock.ts'
import type { Column } from '../../records/tables.ts'

const CONTROLS =
  /[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu

/**
 * Returns the text on one line, with control and direction characters written as `\x1b` or
 * `\u{202e}`.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}

/** Cuts a text to at most `length` characters. */
export function shorten(text: string, length: number): string {
  const characters = Array.from(text)
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

/** Formats aligned columns below a head; returns `none` if there are no rows. */
export function formatTable(head: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return none
  const lines = [head, ...rows.map((row) => row.map(escapeControls))]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column]))))
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats records as a table; returns `none` if there are no records. */
export function formatRecords<Row>(
  columns: readonly Column<Row>[],
  records: readonly Row[],
  none: string,
): string {
  const head = columns.map((column) => column.head)
  const rows = records.map((record) =>
    columns.map(({ textOf, maxLength = Number.POSITIVE_INFINITY }) =>
      shorten(textOf(record), maxLength),
    ),
  )
  return formatTable(head, rows, none)
}

/**
 * Breaks a text into lines of at most `columns`, between words. A word that is too long is broken
 * itself.
 */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((long) => cut(long, columns))) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Cuts a word into pieces that are at most `columns` wide. */
function cut(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word]
  const pieces: string[] = ['']
  for (const character of word) {
    const piece = `${pieces.at(-1)}${character}`
    if (widthOf(piece) <= columns) pieces[pieces.length - 1] = piece
    else pieces.push(character)
  }
  return pieces
}

/** Formats indented `name  value` lines; null values are left out. */
export function formatFields(fields: Record<string, string | null>): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== null)
  const widest = Math.max(0, ...shown.map(([name]) => name.length))
  return shown
    .map(([name, value]) => `  ${name.padEnd(widest)}  ${escapeControls(value ?? '')}`)
    .join('\n')
}

/** Formats an instant in UTC, to the second; null stays null. */
export function formatTime(at: number | null): string | null {
  return at === null ? null : formatSecond(at)
}

function pad(cell: string, columns = 0): string {
  return cell + ' '.repeat(Math.max(0, columns - widthOf(cell)))
}

/**
 * The width of a text in terminal columns: East Asian and emoji characters take two, combining
 * marks none.
 */
export function widthOf(text = ''): number {
  const wide =
    text.match(
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu,
    ) ?? []
  const without = text.match(/\p{M}/gu) ?? []
  return Array.from(text).length + wide.length - without.length
}
