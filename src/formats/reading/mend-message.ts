/**
 * Rewrites what mailparser 3.9.31 would read wrongly, and nothing else: most messages come back as they
 * are. Mended are header fields in charsets other than UTF-8 and in encoded words that belong together,
 * repeated fields of which one is right, types that are none, and boundaries that do not fit the body.
 * Contents of attached messages are left as they are.
 */
import { MAX_HEADER_BYTES } from '../limits.ts'
import type { Damage } from '../parse/damage.ts'
import { listCharsets } from '../parse/declared-charsets.ts'
import { mendBody } from './mend-body.ts'
import { mendFields } from './mend-fields.ts'
import type { Mending } from './mending.ts'
import { readPartFields } from './part-fields.ts'

type Span = { start: number; end: number; depth: number }

const MAX_DEPTH = 30
const MAX_PARTS = 400
const CR = 0x0d
const LF = 0x0a

export type MendedMessage = { raw: Buffer; guesses: readonly string[] }

export function mendMessage(raw: Buffer, damage: Damage): MendedMessage {
  const guesses = listCharsets(raw)
  const mending: Mending = { raw, edits: [], damage, guesses, partsLeft: MAX_PARTS }
  mendEntity(mending, { start: 0, end: raw.length, depth: 0 })
  return { raw: applyEdits(mending), guesses }
}

function mendEntity(mending: Mending, { start, end, depth }: Span): void {
  if (mending.partsLeft === 0 || depth > MAX_DEPTH) return
  mending.partsLeft -= 1
  const { raw } = mending
  const headerEnd = findHeaderEnd(raw, start, end)
  if (headerEnd === undefined) return
  const source = raw.toString('latin1', start, headerEnd)
  const bodyStart = skipLineEnd(raw, skipLineEnd(raw, headerEnd))
  const fields = readPartFields(source)
  const body = mendBody(mending, fields, { start: bodyStart, end, isRoot: depth === 0 })
  const header = mendFields(mending, fields, { type: body.contentType })
  if (header !== source) {
    mending.edits.push({ start, end: headerEnd, octets: Buffer.from(header, 'latin1') })
  }
  mending.edits.push(...body.edits)
  for (const part of body.parts) mendEntity(mending, { ...part, depth: depth + 1 })
}

/** Where the empty line after a header section begins; undefined without fields. */
function findHeaderEnd(raw: Buffer, start: number, end: number): number | undefined {
  if (raw[start] === CR || raw[start] === LF || start >= end) return undefined
  const limit = Math.min(end, start + MAX_HEADER_BYTES + 4)
  const section = raw.subarray(start, limit)
  const ends = [section.indexOf('\r\n\r\n'), section.indexOf('\n\n')].filter((at) => at !== -1)
  if (ends.length > 0) return start + Math.min(...ends)
  return limit === end ? end : undefined
}

function skipLineEnd(raw: Buffer, at: number): number {
  if (raw[at] === CR && raw[at + 1] === LF) return at + 2
  return raw[at] === LF ? at + 1 : at
}

function applyEdits({ raw, edits }: Mending): Buffer {
  if (edits.length === 0) return raw
  const pieces: Buffer[] = []
  let at = 0
  for (const { start, end, octets } of edits.sort((one, other) => one.start - other.start)) {
    pieces.push(raw.subarray(at, start), octets)
    at = end
  }
  return Buffer.concat([...pieces, raw.subarray(at)])
}
