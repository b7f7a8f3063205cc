/**
 * Reads a block of header fields (RFC 5322 section 2.2), such as a header section or a group of a
 * delivery status. Unfolds the fields, lower-cases their names and skips lines that are not fields.
 * The number and length of fields are bounded.
 */
import { MAX_HEADER_BYTES } from '../limits.ts'
import { decodeCharset } from './decode-text.ts'

export type Field = {
  /** The name in lower case. */
  name: string
  /** The value on one line, trimmed. Raw UTF-8 is decoded, encoded words are not. */
  value: string
}

const MAX_FIELDS = 2_000
const MAX_VALUE_LENGTH = 16_384

const MAX_NAME_LENGTH = 80
/** The maximum number of blanks between a name and its colon. */
const MAX_BLANKS = 8
const [TAB, SPACE] = [0x09, 0x20]

/**
 * The fields of a block. `joinsOthers`: a line that is neither a field nor folded continues the
 * field before it, as in diagnostics whose further lines are not indented.
 */
export function readFields(block: string, joinsOthers = false): Field[] {
  const fields: { name: string; lines: string[]; length: number }[] = []
  let last: (typeof fields)[number] | undefined
  const end = Math.min(block.length, MAX_HEADER_BYTES)
  for (let at = 0; at < end; ) {
    const newline = block.indexOf('\n', at)
    const lineEnd = newline === -1 ? block.length : newline
    const line = block.slice(at, lineEnd)
    at = lineEnd + 1
    const isFolded = isBlank(line, 0)
    const colon = isFolded ? -1 : findColon(line)
    if (colon !== -1) {
      if (fields.length === MAX_FIELDS) break
      const value = line.slice(colon + 1, colon + 1 + MAX_VALUE_LENGTH)
      last = { name: line.slice(0, colon).trimEnd().toLowerCase(), lines: [value], length: 0 }
      fields.push(last)
    } else if (last !== undefined && (joinsOthers || isFolded)) {
      last.length += line.length
      if (last.length < MAX_VALUE_LENGTH) last.lines.push(line)
    }
  }
  return fields.map(({ name, lines }) => ({ name, value: joinLines(lines) }))
}

/** Whether a line begins a field. */
export function isFieldLine(line: string): boolean {
  return findColon(line) !== -1
}

/** Returns the offset of the colon after a field's name; -1 if the line begins no field. */
function findColon(line: string): number {
  const colon = line.indexOf(':')
  let end = colon
  while (end > 0 && colon - end < MAX_BLANKS && isBlank(line, end - 1)) end -= 1
  if (end < 1 || end > MAX_NAME_LENGTH) return -1
  for (let at = 0; at < end; at += 1) {
    const code = line.charCodeAt(at)
    if (code < 0x21 || code > 0x7e) return -1
  }
  return colon
}

function isBlank(line: string, at: number): boolean {
  const code = line.charCodeAt(at)
  return code === SPACE || code === TAB
}

export function findField(fields: readonly Field[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value
}

/** All values of a field, in order. */
export function listFields(fields: readonly Field[], name: string): string[] {
  return fields.filter((field) => field.name === name).map((field) => field.value)
}

function joinLines(lines: readonly string[]): string {
  const [only = '', ...others] = lines
  const text = others.length === 0 ? only.trim() : lines.map((line) => line.trim()).join(' ')
  return decodeCharset(text, undefined).trim()
}
