/**
 * Decodes octets of a message: transfer encodings (RFC 2045 section 6), charsets and encoded words
 * (RFC 2047), tolerating common errors. Until its charset is known, a message is a string with one
 * character per octet ("raw text"). Nothing here throws.
 */
import { decodeOctets } from './charset.ts'
import type { Damage } from './damage.ts'
import { isCertainlyAscii } from './seven-bit.ts'

/**
 * Characters of an encoded body that are read. Reports are short; only the messages that they
 * return may be long.
 */
const MAX_ENCODED_LENGTH = 1_000_000

/** Labels of charsets in which octets below 128 need not mean ASCII. */
const SEVEN_BIT =
  /^["'\s]*(?:(?:cs)?iso[-_]?2022|utf[-_]?(?:7|16|32)|unicode|ucs-2|iso-10646|cp5022|hz)/i

/** The hints for reading text whose charset is declared wrongly or not at all. */
type CharsetContext = {
  /** Charsets that the message declares elsewhere. */
  guesses?: readonly string[]
  damage?: Damage
  /** The name that a warning in `damage` gives the text. */
  part?: string
}

/**
 * Decodes the Content-Transfer-Encoding of a body; a body in an unknown encoding stays as it is.
 */
export function decodeTransfer(raw: string, encoding: string): string {
  const name = encoding.trim().toLowerCase()
  const encoded = raw.length > MAX_ENCODED_LENGTH ? raw.slice(0, MAX_ENCODED_LENGTH) : raw
  if (name === 'base64') return decodeBase64(encoded)
  if (name === 'quoted-printable') return decodeQuotedPrintable(encoded)
  return encoded
}

/**
 * Decodes raw text by its charset. Text with a character above U+00FF was decoded before and stays.
 */
export function decodeCharset(
  raw: string,
  charset: string | undefined,
  { guesses, damage, part = 'Text' }: CharsetContext = {},
): string {
  const isPlain = isCertainlyAscii(raw) && (charset === undefined || !SEVEN_BIT.test(charset))
  if (isPlain || /[^\0-\xff]/.test(raw)) return raw
  const decoded = decodeOctets(Buffer.from(raw, 'latin1'), charset, guesses)
  damage?.addReplaced(part, decoded)
  // Header fields often have UTF-8 without a label (RFC 6532), so this guess is no damage.
  if (decoded.isGuessed && decoded.charset !== 'utf-8') damage?.addGuessed(part, decoded.charset)
  return decoded.text
}

/** Decodes raw UTF-8 (RFC 6532) and encoded words in the value of a header field. */
export function decodeHeader(value: string, context: CharsetContext = {}): string {
  if (!value.includes('=?')) return decodeCharset(value, undefined, context)
  return mapEncodedWords(value, {
    words: (run) => decodeWords(run, context),
    between: (text) => decodeCharset(text, undefined, context),
  })
}

type EncodedWordMap = {
  /** Replaces a run of adjacent words and the white space between them (RFC 2047 section 6.2). */
  words(run: string): string
  /** Replaces the text between two runs. */
  between?(text: string): string
}

/** Replaces encoded words. Spaces inside a word are accepted: they are not allowed, but common. */
export function mapEncodedWords(value: string, map: EncodedWordMap): string {
  const between = map.between ?? ((text) => text)
  let mapped = ''
  let at = 0
  for (const { 0: run, index } of value.matchAll(ENCODED_WORDS)) {
    mapped += between(value.slice(at, index)) + map.words(run)
    at = index + run.length
  }
  return mapped + between(value.slice(at))
}

const ENCODED_WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?([^?\r\n]*)\?=/gi
const ENCODED_WORDS = new RegExp(`${ENCODED_WORD.source}(?:\\s*${ENCODED_WORD.source})*`, 'gi')

type Word = { charset: string; octets: string }

/**
 * Decodes adjacent words together, because some writers split a character between two words. If that
 * damages text, each word is decoded by itself.
 */
export function decodeWords(words: string, { guesses, damage, part }: CharsetContext = {}): string {
  const runs: Word[][] = []
  for (const [, label = '', form = '', word = ''] of words.matchAll(ENCODED_WORD)) {
    const charset = label.toLowerCase()
    const octets =
      form.toLowerCase() === 'b'
        ? decodeBase64(word)
        : decodeQuotedPrintable(word.replaceAll('_', ' '))
    const last = runs.at(-1)
    if (last?.[0]?.charset === charset) last.push({ charset, octets })
    else runs.push([{ charset, octets }])
  }
  return runs.map((run) => decodeRun(run, { guesses, damage, part })).join('')
}

function decodeRun(
  run: readonly Word[],
  {
    guesses,
    damage,
    part = 'Text',
  }: { [Key in keyof CharsetContext]: CharsetContext[Key] | undefined },
): string {
  const charset = run[0]?.charset
  const decode = (octets: string) => decodeOctets(Buffer.from(octets, 'latin1'), charset, guesses)
  const whole = decode(run.map(({ octets }) => octets).join(''))
  let { text, replaced } = whole
  if (replaced > 0 && run.length > 1) {
    const each = run.map(({ octets }) => decode(octets))
    const replacedInEach = each.reduce((sum, word) => sum + word.replaced, 0)
    if (replacedInEach < replaced) {
      text = each.map((word) => word.text).join('')
      replaced = replacedInEach
    }
  }
  damage?.addReplaced(part, { replaced, charset: whole.charset })
  if (whole.isGuessed) damage?.addGuessed(part, whole.charset)
  return text
}

function decodeBase64(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString('latin1')
}

function decodeQuotedPrintable(encoded: string): string {
  return encoded
    .replace(/=[ \t]{0,80}\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
}
