/**
 * Parameters of Content-Type and Content-Disposition: tokens and quoted strings (RFC 2045 section
 * 5.1), and percent-encoded UTF-8 in numbered pieces for all other values (RFC 2231).
 */
import { LINE_WIDTH, MAX_HEADER_BYTES } from '../limits.ts'
import { encodeWords, needsEncodedWords, splitByCost, utf8Length } from './encoded-word.ts'
import { unquote } from './quoted-string.ts'

type ContentType = { type: string; parameters: ReadonlyMap<string, string> }

const PIECE_WIDTH = 50
const MAX_PLAIN_LENGTH = 60

const MEDIA_TYPE = /^[ \t]*([\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127})[ \t]*(?=;|$)/
const PARAMETER = /;[ \t]*([\w!#$&+.^`{|}~-]{1,40})=("(?:[^"\\]|\\.)*"|[^\s";]+)[ \t]*/suy

/**
 * Formats `Name: value; a=b; …` with a final CRLF, folded before each parameter that does not fit
 * its line.
 */
export function formatParameterField(
  field: string,
  value: string,
  parameters: readonly string[],
): string {
  let formatted = `${field}: ${value}`
  let column = formatted.length
  for (const parameter of parameters) {
    const isFolded = column + parameter.length + 3 > LINE_WIDTH
    formatted += `;${isFolded ? '\r\n' : ''} ${parameter}`
    column = parameter.length + 1 + (isFolded ? 0 : column + 1)
  }
  return `${formatted}\r\n`
}

/** Formats one parameter; a long value takes several numbered pieces. */
export function formatParameter(name: string, value: string): string[] {
  if (!isQuotable(value)) return formatExtended(name, value)
  return [/^[\w!#$&+.^`{|}~-]+$/.test(value) ? `${name}=${value}` : `${name}="${value}"`]
}

/** Formats the filename like `formatParameter`, but always in quotes, as mail programs write it. */
export function formatFilename(filename: string): string[] {
  return isQuotable(filename) ? [`filename="${filename}"`] : formatExtended('filename', filename)
}

/**
 * The parameter `name` of Content-Type: the filename in encoded words. RFC 2047 section 5 forbids
 * this, but readers that do not know RFC 2231 depend on it.
 */
export function formatLegacyName(filename: string): string {
  if (isQuotable(filename)) return `name="${filename}"`
  const words = encodeWords(filename, LINE_WIDTH - ' name="";'.length)
  return `name="${words.replaceAll(' ', '\r\n ')}"`
}

/**
 * Parses a media type that a caller gave; undefined without a valid `type/subtype`. Parameters are
 * read up to the first malformed one. Names are in lower case; of repeated parameters the first
 * counts.
 */
export function parseContentType(value: string): ContentType | undefined {
  if (value.length > MAX_HEADER_BYTES) return undefined
  const shape = MEDIA_TYPE.exec(value)
  if (shape === null) return undefined
  const parameters = new Map<string, string>()
  const reader = new RegExp(PARAMETER)
  reader.lastIndex = shape[0].length
  for (let found = reader.exec(value); found !== null; found = reader.exec(value)) {
    const name = (found[1] ?? '').toLowerCase()
    if (!parameters.has(name)) parameters.set(name, unquote(found[2] ?? ''))
  }
  return { type: (shape[1] ?? '').toLowerCase(), parameters }
}

function isQuotable(value: string): boolean {
  return value.length <= MAX_PLAIN_LENGTH && !/["\\\t]/.test(value) && !needsEncodedWords(value)
}

/** Formats a value as RFC 2231 pieces (sections 3 and 4); no piece splits a character. */
function formatExtended(name: string, value: string): string[] {
  const limits = { first: PIECE_WIDTH - "UTF-8''".length, rest: PIECE_WIDTH, cost: percentCost }
  const pieces = splitByCost(value.toWellFormed(), limits).map(percentEncode)
  if (pieces.length === 1) return [`${name}*=UTF-8''${pieces[0]}`]
  return pieces.map((piece, i) => `${name}*${i}*=${i === 0 ? "UTF-8''" : ''}${piece}`)
}

function percentCost(char: string): number {
  return isAttributeChar(char) ? 1 : utf8Length(char) * 3
}

function percentEncode(piece: string): string {
  let encoded = ''
  for (const char of piece) {
    encoded += isAttributeChar(char)
      ? char
      : Buffer.from(char, 'utf8').toString('hex').toUpperCase().replace(/../g, '%$&')
  }
  return encoded
}

function isAttributeChar(char: string): boolean {
  return /^[\w!#$&+.^`{|}~-]$/.test(char)
}
