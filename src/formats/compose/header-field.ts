/**
 * Header fields on the wire (RFC 5322 section 2.2): `Name: value` and CRLF, folded at spaces so that
 * unfolding restores the value. Lines have at most 76 columns if the words allow it (RFC 2047 requires
 * this for lines with encoded words), and never more than 998 octets.
 */
import { LINE_WIDTH, MAX_LINE_OCTETS } from '../limits.ts'
import { encodeWords, needsEncodedWords } from './encoded-word.ts'

/** @throws TypeError if the value contains CR, LF or NUL; `what` names the value in the error */
export function assertOneLine(what: string, value: string): void {
  if (/[\r\n\0]/.test(value)) throw new TypeError(`${what} must not contain CR, LF or NUL`)
}

/** @throws TypeError unless the name is a field-name (RFC 5322 section 3.6.8) that fits a line */
export function assertFieldName(name: string): void {
  if (!/^[!-9;-~]{1,997}$/.test(name)) throw new TypeError('header name is not an RFC 5322 token')
}

/** Formats a field: its value unchanged except for folds and white space at the ends. */
export function formatField(name: string, value: string): string {
  const trimmed = trimBlanks(value)
  if (trimmed === '') return `${name}:\r\n`
  if (name.length + 2 + trimmed.length <= LINE_WIDTH) return `${name}: ${trimmed}\r\n`
  return `${name}:${fold(name.length + 1, trimmed)}\r\n`
}

/**
 * Formats a field of free text (RFC 5322 section 3.2.5); text outside ASCII becomes encoded words.
 */
export function formatTextField(name: string, text: string): string {
  const trimmed = trimBlanks(text)
  const isPlain = !needsEncodedWords(trimmed) && fitsLines(trimmed)
  return formatField(name, isPlain ? trimmed : encodeWords(trimmed, firstWordWidth(name)))
}

/** Columns left for the first encoded word after a field's name. */
export function firstWordWidth(name: string): number {
  return LINE_WIDTH - name.length - 2
}

/** Whether folding at spaces is enough to keep every line within 998 octets. */
export function fitsLines(value: string): boolean {
  if (value.length * 3 < MAX_LINE_OCTETS) return true
  return foldableWords(value).every((word) => Buffer.byteLength(word) <= MAX_LINE_OCTETS)
}

/** Removes the spaces and tabs at the ends, which readers drop anyway. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function fold(startColumn: number, value: string): string {
  let folded = ''
  let column = startColumn
  for (const word of foldableWords(value)) {
    const length = Buffer.byteLength(word)
    if (column + length > widthBefore(word, folded === '')) {
      folded += '\r\n'
      column = 0
    }
    folded += word
    column += length
  }
  return folded
}

/**
 * The width of a line beyond which `word` goes to the next line. A plain first word may fill the
 * longest line, because some readers mishandle a field whose first line is empty.
 */
function widthBefore(word: string, isFirst: boolean): number {
  return isFirst && !word.startsWith(' =?') ? MAX_LINE_OCTETS : LINE_WIDTH
}

/**
 * Splits the value where it may be folded: only at single spaces. Many readers collapse a longer
 * run or a tab at a fold into one space, and some take a line of white space for the end of the
 * header section.
 */
function foldableWords(value: string): string[] {
  return value.split(/(?<![ \t]) (?![ \t])/).map((word) => ` ${word}`)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
