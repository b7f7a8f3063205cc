/**
 * Takes the tokens out of a message that quotes mail of this program to its users, without changing
 * its length or its structure: their digits become zeros, in clear, in quoted-printable and in base64.
 */
import { zeroLinkTokens } from '../link-tokens.ts'

/**
 * A line of base64 (RFC 2045 section 6.8), and what may follow the last one. An expression for the whole
 * block would need stack for each line of it.
 */
const LINE = /[A-Za-z0-9+/]{40,}\r?\n/y
const LAST = /[A-Za-z0-9+/]*={0,2}/y
const ONLY = /[A-Za-z0-9+/]{40,}={0,2}/y
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
  let result = ''
  let done = 0
  for (let at = 0; at !== -1; ) {
    const end = endOfBlock(zeroed, at)
    if (end > at) {
      result += zeroed.slice(done, at) + zeroBlock(zeroed.slice(at, end), depth)
      done = end
    }
    at = startOfLine(zeroed, end)
  }
  return done === 0 ? zeroed : result + zeroed.slice(done)
}

/** Returns `at`, the start of a line, if no block of base64 begins there. */
function endOfBlock(text: string, at: number): number {
  let end = at
  for (let next = endOf(LINE, text, end); next > end; next = endOf(LINE, text, end)) end = next
  return end > at ? endOf(LAST, text, end) : endOf(ONLY, text, at)
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** Returns the start of the next line after `at`; -1 if there is none. */
function startOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 || end + 1 === text.length ? -1 : end + 1
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
