/**
 * Octets of a message as text: transfer encodings (RFC 2045 section 6), charsets and encoded words
 * (RFC 2047), read as tolerantly as strangers write them. A message is held as a string of one
 * character an octet ("raw text") until its charset is known. Nothing here throws.
 */
import { isUtf8 } from 'node:buffer'

/** Longer bodies are read up to here: reports are short, what comes back with them need not be. */
const MAX_ENCODED_LENGTH = 1_000_000

const CHARSET_ALIASES: Readonly<Record<string, string>> = {
  'cp-850': 'latin1',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  'iso-2022-jp-2': 'iso-2022-jp',
  'iso-2022-jp-ms': 'iso-2022-jp',
  'x-user-defined': 'latin1',
}

/** The octets of a body under its Content-Transfer-Encoding; an unknown one changes nothing. */
export function decodeTransfer(raw: string, encoding: string): string {
  const name = encoding.trim().toLowerCase()
  const encoded = raw.length > MAX_ENCODED_LENGTH ? raw.slice(0, MAX_ENCODED_LENGTH) : raw
  if (name === 'base64') return decodeBase64(encoded)
  if (name === 'quoted-printable') return decodeQuotedPrintable(encoded)
  return encoded
}

/** Raw text as Unicode. Without a charset, or with one nobody knows: UTF-8 if it is that. */
export function decodeCharset(raw: string, charset: string | undefined): string {
  const label = (charset ?? '')
    .trim()
    .toLowerCase()
    .replace(/^["']|["']$/g, '')
  const isIso2022 = label.startsWith('iso-2022') || raw.includes('\x1b$')
  if (!/[\x80-\xff]/.test(raw) && !isIso2022 && !label.startsWith('utf-16')) return raw
  const octets = Buffer.from(raw, 'latin1')
  const decoder = findDecoder(isIso2022 && label === '' ? 'iso-2022-jp' : label)
  if (decoder !== undefined) return decoder.decode(octets)
  return isUtf8(octets) ? octets.toString('utf8') : raw
}

/** The value of a header field: raw UTF-8 (RFC 6532) and encoded words as text. */
export function decodeHeader(value: string): string {
  const text = decodeCharset(value, undefined)
  if (!text.includes('=?')) return text
  return text.replace(/\?=[ \t]{1,80}=\?/g, '?==?').replace(ENCODED_WORDS, decodeWords)
}

const ENCODED_WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi
const ENCODED_WORDS = new RegExp(`(?:${ENCODED_WORD.source})+`, 'gi')

/** Words that stand side by side: some writers split a character between two of one charset. */
function decodeWords(words: string): string {
  let decoded = ''
  let charset = ''
  let raw = ''
  for (const [, label = '', form = '', word = ''] of words.matchAll(ENCODED_WORD)) {
    if (label.toLowerCase() !== charset) {
      decoded += decodeCharset(raw, charset)
      charset = label.toLowerCase()
      raw = ''
    }
    raw +=
      form.toLowerCase() === 'b'
        ? decodeBase64(word)
        : decodeQuotedPrintable(word.replaceAll('_', ' '))
  }
  return decoded + decodeCharset(raw, charset)
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

/** Undefined for a label that the Encoding Standard does not know. */
function findDecoder(label: string): InstanceType<typeof TextDecoder> | undefined {
  if (label === '') return undefined
  try {
    return new TextDecoder(CHARSET_ALIASES[label] ?? label)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}
