/**
 * Decodes octets of a message: transfer encodings (RFC 2045 section 6), charsets and encoded words
 * (RFC 2047), tolerating common errors. Until its charset is known, a message is a string with one
 * character per octet ("raw text"). Nothing here throws.
 */
import { isUtf8 } from 'node:buffer'

/** Longer bodies are cut: reports are short, only the messages that they return may be long. */
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

/** Decodes the Content-Transfer-Encoding of a body; with an unknown encoding it is unchanged. */
export function decodeTransfer(raw: string, encoding: string): string {
  const name = encoding.trim().toLowerCase()
  const encoded = raw.length > MAX_ENCODED_LENGTH ? raw.slice(0, MAX_ENCODED_LENGTH) : raw
  if (name === 'base64') return decodeBase64(encoded)
  if (name === 'quoted-printable') return decodeQuotedPrintable(encoded)
  return encoded
}

/** Decodes raw text. With a missing or unknown charset, UTF-8 is tried, else it is unchanged. */
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

/** Decodes raw UTF-8 (RFC 6532) and encoded words in the value of a header field. */
export function decodeHeader(value: string): string {
  const text = decodeCharset(value, undefined)
  if (!text.includes('=?')) return text
  return text.replace(/\?=[ \t]{1,80}=\?/g, '?==?').replace(ENCODED_WORDS, decodeWords)
}

const ENCODED_WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi
const ENCODED_WORDS = new RegExp(`(?:${ENCODED_WORD.source})+`, 'gi')

/** Decodes adjacent words together, because some writers split a character between two words. */
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

/** Undefined for a label that is not in the Encoding Standard. */
function findDecoder(label: string): InstanceType<typeof TextDecoder> | undefined {
  if (label === '') return undefined
  try {
    return new TextDecoder(CHARSET_ALIASES[label] ?? label)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}
