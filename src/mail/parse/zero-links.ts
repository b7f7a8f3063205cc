/**
 * Takes the tokens out of a message that quotes mail of this program to its users, without changing
 * its length or its structure: their digits become zeros, in clear, in quoted-printable and in base64.
 */
import { zeroLinkTokens } from '../link-tokens.ts'

/** At least one full line of base64 (RFC 2045 section 6.8), and the lines after it. */
const BLOCK = /^(?:[A-Za-z0-9+/]{40,}\r?\n)+[A-Za-z0-9+/]*={0,2}|^[A-Za-z0-9+/]{40,}={0,2}/gm
/** A string cannot be as long as the largest message. */
const SLICE_BYTES = 8 * 1024 * 1024
/** A message in a message in a message. */
const MAX_DEPTH = 3

/** Returns the same octets if no link is in them. */
export function zeroLinks(raw: Buffer): Buffer {
  const slices: Buffer[] = []
  let isChanged = false
  for (let at = 0; at < raw.length; ) {
    const end = endOfSlice(raw, at)
    const text = raw.toString('latin1', at, end)
    const zeroed = zeroText(text, 0)
    if (zeroed === text) slices.push(raw.subarray(at, end))
    else {
      isChanged = true
      slices.push(Buffer.from(zeroed, 'latin1'))
    }
    at = end
  }
  return isChanged ? Buffer.concat(slices) : raw
}

/** After a line, so that lines of base64 stay whole. */
function endOfSlice(raw: Buffer, at: number): number {
  const end = at + SLICE_BYTES
  if (end >= raw.length) return raw.length
  const line = raw.lastIndexOf(0x0a, end - 1)
  return line < at ? end : line + 1
}

function zeroText(text: string, depth: number): string {
  const zeroed = zeroLinkTokens(text)
  if (depth === MAX_DEPTH) return zeroed
  return zeroed.replace(BLOCK, (block) => zeroBlock(block, depth))
}

/** The lines of a block keep their lengths. */
function zeroBlock(block: string, depth: number): string {
  const digits = block.replace(/[\r\n]/g, '')
  const text = Buffer.from(digits, 'base64').toString('latin1')
  const zeroed = zeroText(text, depth + 1)
  if (zeroed === text) return block
  const encoded = Buffer.from(zeroed, 'latin1').toString('base64').slice(0, digits.length)
  let at = 0
  return block.replace(/[^\r\n]/g, () => encoded[at++] ?? '')
}
