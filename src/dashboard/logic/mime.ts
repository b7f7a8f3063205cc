/** The source of an email (RFC 5322, RFC 2045), in so far as it is shown: its header fields and its plain text. */

export type HeaderField = { name: string; value: string }
export type Source = { fields: readonly HeaderField[]; body: string }

/** Parts lie in parts; deeper ones are not looked at. */
const MAX_DEPTH = 5

/** Splits the source at the first empty line. Folded fields become one line. */
export function readSource(source: string): Source {
  const text = source.replace(/\r\n?/g, '\n')
  const end = text.indexOf('\n\n')
  const head = end === -1 ? text : text.slice(0, end)
  const fields = head
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const colon = line.indexOf(':')
      if (colon < 1) return []
      return [{ name: line.slice(0, colon), value: line.slice(colon + 1).trim() }]
    })
  return { fields, body: end === -1 ? '' : text.slice(end + 2) }
}

/** The text of the first part of type text/plain; undefined if there is none. */
export function plainTextOf(source: string, depth = 0): string | undefined {
  const { fields, body } = readSource(source)
  const find = (name: string) => fields.find((one) => one.name.toLowerCase() === name)?.value ?? ''
  const type = find('content-type')
  const boundary = parameterOf(type, 'boundary')
  if (/^multipart\//i.test(type) && boundary !== undefined) {
    if (depth === MAX_DEPTH) return undefined
    for (const part of partsOf(body, boundary)) {
      const text = plainTextOf(part, depth + 1)
      if (text !== undefined) return text
    }
    return undefined
  }
  const isText = type === '' ? depth === 0 : /^text\/plain\b/i.test(type)
  const isFile = /^attachment/i.test(find('content-disposition'))
  if (!isText || isFile) return undefined
  return decode(body, find('content-transfer-encoding'), parameterOf(type, 'charset') ?? 'utf-8')
}

/** Decodes encoded words (RFC 2047) of a header field: `=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=`. */
export function decodeWords(value: string): string {
  const word = /=\?([^?\s]+)\?([bq])\?([^?\s]*)\?=/gi
  return value
    .replace(/(\?=)\s+(?==\?)/g, '$1')
    .replace(word, (_, charset: string, kind: string, text: string) => {
      const isBase64 = kind.toLowerCase() === 'b'
      const given = isBase64 ? text : text.replaceAll('_', ' ')
      return decode(given, isBase64 ? 'base64' : 'quoted-printable', charset.split('*')[0] ?? '')
    })
}

/** A parameter of a content type: `text/html; charset="utf-8"`. */
function parameterOf(type: string, name: string): string | undefined {
  const given = type.split(';').find((part) => part.trim().toLowerCase().startsWith(`${name}=`))
  return given
    ?.slice(given.indexOf('=') + 1)
    .trim()
    .replace(/^"|"$/g, '')
}

function partsOf(body: string, boundary: string): string[] {
  const [, ...parts] = `\n${body}`.split(`\n--${boundary}`)
  const end = parts.findIndex((part) => part.startsWith('--'))
  return (end === -1 ? parts : parts.slice(0, end)).map((part) => part.replace(/^[^\n]*\n/, ''))
}

function decode(text: string, encoding: string, charset: string): string {
  switch (encoding.trim().toLowerCase()) {
    case 'quoted-printable':
      return toText(quotedBytes(text.replace(/=[ \t]*\n/g, '')), charset)
    case 'base64':
      return toText(base64Bytes(text), charset)
    default:
      return text
  }
}

function quotedBytes(text: string): Uint8Array {
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [piece, , code] of text.matchAll(/(=([0-9A-Fa-f]{2}))|[^=]+|=/g)) {
    if (code === undefined) bytes.push(...encoder.encode(piece))
    else bytes.push(Number.parseInt(code, 16))
  }
  return Uint8Array.from(bytes)
}

function base64Bytes(text: string): Uint8Array {
  try {
    const binary = atob(text.replace(/[^A-Za-z0-9+/=]/g, ''))
    return Uint8Array.from(binary, (one) => one.charCodeAt(0))
  } catch {
    return new TextEncoder().encode(text)
  }
}

/** An unknown charset is read as UTF-8. */
function toText(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
