/**
 * A text with slots whose values differ for each recipient. For quoted-printable, lines without
 * slots are encoded once; the result is the same, octet by octet, as the encoding of the filled
 * text.
 */
import { breakLines, escapeOctets } from '../compose/quoted-printable.ts'
import {
  type EncodedText,
  encodeText,
  isBase64Shorter,
  MAX_PLAIN_LINE_LENGTH,
} from '../compose/text-body.ts'

/** `slots[i]`: the number of the value that stands between `pieces[i]` and `pieces[i + 1]`. */
export type SlottedText = { pieces: readonly string[]; slots: readonly number[] }

/** `encoded`: undefined if some filled text may need an encoding other than quoted-printable. */
export type EncodedSlottedText = SlottedText & { encoded: EncodedPieces | undefined }

/** `octets`: the length in UTF-8, `units`: the length in UTF-16; both without the values. */
type EncodedPieces = { octets: number; units: number; lines: readonly SlottedLine[] }

/**
 * `before`: whole encoded lines without slots. `pieces`: the line with slots after them, escaped
 * but not yet broken.
 */
type SlottedLine = { before: string; pieces: readonly string[]; slots: readonly number[] }

/** A value without line breaks and without white space at its ends. */
export type Value = { text: string; escaped: string; octets: number }

/** Encodes the pieces, which all filled texts share. */
export function encodeSlottedText({ pieces, slots }: SlottedText): EncodedSlottedText {
  return { pieces, slots, encoded: encodePieces(pieces, slots) }
}

export function toValue(text: string): Value {
  return { text, escaped: escapeOctets(text), octets: Buffer.byteLength(text) }
}

export function fillSlottedText({ pieces, slots }: SlottedText, values: readonly Value[]): string {
  return join(pieces, slots, (slot) => valueIn(values, slot).text)
}

/**
 * Fills in the values and encodes the text; the result is that of `encodeText` for the filled text.
 */
export function fillEncoded(slotted: EncodedSlottedText, values: readonly Value[]): EncodedText {
  const { encoded, slots } = slotted
  if (encoded === undefined) return encodeText(fillSlottedText(slotted, values))
  let { octets, units } = encoded
  for (const slot of slots) {
    const value = valueIn(values, slot)
    octets += value.octets
    units += value.text.length
  }
  if (isBase64Shorter(octets, units)) return encodeText(fillSlottedText(slotted, values))
  let body = ''
  for (const line of encoded.lines) {
    const filled = join(line.pieces, line.slots, (slot) => valueIn(values, slot).escaped)
    body += line.before + breakLines(filled)
  }
  return { transferEncoding: 'quoted-printable', body }
}

function join(
  pieces: readonly string[],
  slots: readonly number[],
  textOf: (slot: number) => string,
): string {
  let text = pieces[0] ?? ''
  for (let i = 0; i < slots.length; i += 1) text += textOf(slots[i] as number) + pieces[i + 1]
  return text
}

function valueIn(values: readonly Value[], slot: number): Value {
  return values[slot] as Value
}

/** Encodes the pieces; undefined if, with some values, the filled text needs no encoding. */
function encodePieces(
  pieces: readonly string[],
  slots: readonly number[],
): EncodedPieces | undefined {
  const fixed = pieces.join('')
  const hasLongLine = fixed.split(/[\r\n]/).some((line) => line.length > MAX_PLAIN_LINE_LENGTH)
  if (!hasLongLine && !/[^\t\r\n -~]/.test(fixed)) return undefined
  const lines: SlottedLine[] = []
  let line = { before: '', pieces: [] as string[], slots: [] as number[] }
  for (const [i, piece] of pieces.entries()) {
    const slot = slots[i]
    const escaped = slot === undefined ? escapeOctets(piece) : escapeBeforeValue(piece)
    const firstEnd = escaped.indexOf('\n') + 1
    const lastEnd = escaped.lastIndexOf('\n') + 1
    line.pieces.push(escaped.slice(0, firstEnd || escaped.length))
    if (firstEnd > 0) {
      lines.push(line)
      const before = breakLines(escaped.slice(firstEnd, lastEnd))
      line = { before, pieces: [escaped.slice(lastEnd)], slots: [] }
    }
    if (slot !== undefined) line.slots.push(slot)
  }
  lines.push(line)
  return { octets: Buffer.byteLength(fixed), units: fixed.length, lines }
}

/**
 * Escapes a piece that a value follows. A value begins with a visible character, so a blank before
 * it does not end a line and stays.
 */
function escapeBeforeValue(piece: string): string {
  return escapeOctets(`${piece}x`).slice(0, -1)
}
