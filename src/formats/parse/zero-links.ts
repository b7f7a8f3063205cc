/**
 * Makes the tokens of links unusable in a message that quotes mail of this program to its users:
 * their digits become zeros, in clear, in quoted-printable and in base64. The message keeps its
 * length and its structure.
 */
import { zeroLinkTokens } from '../link-tokens.ts'

/** Characters of the shortest line of a block of base64 (RFC 2045 section 6.8) before its last. */
const MIN_DIGITS = 40
const MAX_PADS = 2
const PAD = 0x3d
const CR = 0x0d
const LF = 0x0a
/** Index: a Latin-1 character code. 1 for a character of base64, else 0. */
const IS_DIGIT = Uint8Array.from({ length: 256 }, (_, code) =>
  /[A-Za-z0-9+/]/.test(String.fromCharCode(code)) ? 1 : 0,
)
/**
 * Octets of a slice: a message is read in slices, because a string cannot be as long as the largest
 * message.
 */
const SLICE_BYTES = 8 * 1024 * 1024
/** The maximum of a slice, in octets, if one line is longer than `SLICE_BYTES`. */
const MAX_SLICE_BYTES = 128 * 1024 * 1024
/** Levels of base64 inside base64 that are read: a message in a message in a message. */
const MAX_DEPTH = 3

/** Returns the message with its tokens zeroed; the same Buffer if the message has no such link. */
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

/**
 * The end of the slice that begins at `at`: the end of a line, so that lines of base64 stay whole.
 */
function endOfSlice(raw: Buffer, at: number): number {
  const end = at + SLICE_BYTES
  if (end >= raw.length) return raw.length
  const before = raw.lastIndexOf(LF, end - 1)
  if (before >= at) return before + 1
  const next = raw.indexOf(LF, end)
  return Math.min(next === -1 ? raw.length : next + 1, at + MAX_SLICE_BYTES)
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

/**
 * Returns the end of the block of base64 that begins at `at`, the start of a line; `at` itself if
 * no block begins there. Written as loops, because lines have any length: regular expressions that
 * count need stack for each character.
 */
function endOfBlock(text: string, at: number): number {
  let end = at
  for (;;) {
    const digits = endOfDigits(text, end)
    const next = digits - end < MIN_DIGITS ? digits : endOfLine(text, digits)
    if (next > digits) end = next
    // A line of fewer digits than `MIN_DIGITS` can only be the last line of the block.
    else return end > at || digits - at >= MIN_DIGITS ? endOfPads(text, digits) : at
  }
}

function endOfDigits(text: string, at: number): number {
  let end = at
  while (end < text.length && IS_DIGIT[text.charCodeAt(end)] === 1) end += 1
  return end
}

function endOfPads(text: string, at: number): number {
  let end = at
  while (end < at + MAX_PADS && text.charCodeAt(end) === PAD) end += 1
  return end
}

/** Returns the start of the next line; `at` itself if no line ends at `at`. */
function endOfLine(text: string, at: number): number {
  const end = text.charCodeAt(at) === CR ? at + 1 : at
  return text.charCodeAt(end) === LF ? end + 1 : at
}

/** Returns the start of the next line after `at`; -1 if there is none. */
function startOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 || end + 1 === text.length ? -1 : end + 1
}

/** Zeroes the tokens in a block of base64; its lines keep their lengths. */
function zeroBlock(block: string, depth: number): string {
  const digits = block.replace(/[\r\n]/g, '')
  const text = Buffer.from(digits, 'base64').toString('latin1')
  const zeroed = zeroText(text, depth + 1)
  if (zeroed === text) return block
  const encoded = Buffer.from(zeroed, 'latin1').toString('base64').slice(0, digits.length)
  let result = ''
  let used = 0
  for (let at = 0; at < block.length; ) {
    const end = endOfPads(block, endOfDigits(block, at))
    const next = endOfLine(block, end)
    result += encoded.slice(used, used + end - at) + block.slice(end, next)
    used += end - at
    at = next
  }
  return result
}
