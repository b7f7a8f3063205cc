/**
 * Reads a block of header fields (RFC 5322 section 2.2), as in a header section or a delivery status:
 * unfolds them, lowers names, and skips lines that are not fields. Bounded in number and length.
 */
import { MAX_HEADER_BYTES } from '../limits.ts'
import { decodeCharset } from './decode-text.ts'

export type Field = {
  /** In lower case. */
  name: string
  /** On one line, trimmed, raw UTF-8 decoded; encoded words are not decoded. */
  value: string
}

const MAX_FIELDS = 2_000
const MAX_VALUE_LENGTH = 16_384

const FIELD_START = /^([!-9;-~]{1,80})[ \t]{0,8}:(.*)$/s

/**
 * The fields of a block. `joinsOthers`: a line that is neither a field nor folded belongs to the field
 * before it, for diagnostics whose further lines are not indented.
 */
export function readFields(block: string, joinsOthers = false): Field[] {
  const fields: { name: string; lines: string[]; length: number }[] = []
  for (const line of linesOf(block)) {
    const last = fields.at(-1)
    const start = /^[ \t]/.test(line) ? null : FIELD_START.exec(line)
    if (start !== null) {
      if (fields.length === MAX_FIELDS) break
      const [, name = '', value = ''] = start
      fields.push({
        name: name.toLowerCase(),
        lines: [value.slice(0, MAX_VALUE_LENGTH)],
        length: 0,
      })
    } else if (last !== undefined && (joinsOthers || /^[ \t]/.test(line))) {
      last.length += line.length
      if (last.length < MAX_VALUE_LENGTH) last.lines.push(line)
    }
  }
  return fields.map(({ name, lines }) => ({ name, value: joinLines(lines) }))
}

/** Whether a line begins a field. */
export function isFieldLine(line: string): boolean {
  return FIELD_START.test(line)
}

export function findField(fields: readonly Field[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value
}

/** All values of a field, in order. */
export function listFields(fields: readonly Field[], name: string): string[] {
  return fields.filter((field) => field.name === name).map((field) => field.value)
}

function* linesOf(block: string): Generator<string> {
  const end = Math.min(block.length, MAX_HEADER_BYTES)
  for (let at = 0; at < end; ) {
    const newline = block.indexOf('\n', at)
    const lineEnd = newline === -1 ? block.length : newline
    yield block.slice(at, lineEnd)
    at = lineEnd + 1
  }
}

function joinLines(lines: readonly string[]): string {
  return decodeCharset(lines.map((line) => line.trim()).join(' '), undefined).trim()
}
