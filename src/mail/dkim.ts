/**
 * DKIM signing (RFC 6376; Ed25519 by RFC 8463), relaxed/relaxed, on the hot path of delivery: the
 * signature fields come back as bytes to stand before the message, which is not copied. The message
 * has CRLF line ends only, and the body hash is computed once for all keys.
 *
 * From, To and Subject are signed once more than they occur, so that a field added on the way
 * breaks the signature. Of the other signed fields every instance counts, whoever wrote it: a
 * user's own List-Unsubscribe is signed as ours would be.
 */
import { generateKeyPair, hash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'

export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'
export type DkimKeyType = 'rsa' | 'ed25519'

/** `domain` and `selector` in A-labels, lower case. */
export type DkimKey = {
  domain: string
  selector: string
  algorithm: DkimAlgorithm
  privateKey: KeyObject
}

/** PKCS #8 and SPKI, both PEM. */
export type DkimKeyPair = { privateKey: string; publicKey: string }

const OVERSIGNED = ['from', 'to', 'subject']
/** RFC 6376 section 5.4.1, and what one-click unsubscribe (RFC 8058) and feedback loops rest on. */
const SIGNED = [
  ...OVERSIGNED,
  'sender',
  'reply-to',
  'cc',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'content-language',
  'list-id',
  'list-help',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-subscribe',
  'list-post',
  'list-owner',
  'list-archive',
  'feedback-id',
  'auto-submitted',
  'precedence',
  'importance',
]
const signedNames = new Set(SIGNED)

const FOLD = '\r\n\t'
const FOLD_AT = 76
const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const ED25519_KEY_OCTETS = 32

/**
 * One DKIM-Signature field for each key, in their order, folded and each ending in CRLF: what must
 * stand before `message`. `signedAt` is epoch ms. Throws when a key is not of its algorithm's type.
 */
export function signDkim(message: Buffer, keys: readonly DkimKey[], signedAt: number): Buffer {
  if (keys.length === 0) return Buffer.alloc(0)
  const bodyAt = findBody(message)
  const bodyHash = hash('sha256', canonicalBody(message.subarray(bodyAt)), 'base64')
  const signed = selectFields(message.toString('latin1', 0, bodyAt))
  const fields = keys.map((key) => {
    const field =
      `DKIM-Signature: v=1; a=${key.algorithm}; c=relaxed/relaxed;` +
      `${FOLD}d=${key.domain};${FOLD}s=${key.selector}; t=${Math.floor(signedAt / 1000)};` +
      `${FOLD}h=${foldNames(signed.names)};${FOLD}bh=${bodyHash};${FOLD}b=`
    const own = `dkim-signature:${field.slice('DKIM-Signature: '.length).replaceAll(FOLD, ' ')}`
    const signature = signOctets(key, Buffer.from(signed.canonical + own, 'latin1'))
    return `${field}${foldBase64(signature.toString('base64'))}\r\n`
  })
  return Buffer.from(fields.join(''), 'latin1')
}

/** The text of the TXT record that publishes a key (RFC 6376 section 3.6.1, RFC 8463 section 4). */
export function dkimRecord(keyType: DkimKeyType, publicKey: KeyObject): string {
  if (publicKey.asymmetricKeyType !== keyType) throw new TypeError(`not an ${keyType} key`)
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const octets = keyType === 'rsa' ? spki : spki.subarray(-ED25519_KEY_OCTETS)
  return `v=DKIM1; k=${keyType}; p=${octets.toString('base64')}`
}

/** Makes an RSA key of 2048 bits or an Ed25519 key, off the main thread. */
export async function generateDkimKeyPair(keyType: DkimKeyType): Promise<DkimKeyPair> {
  const generate = promisify(generateKeyPair)
  const pair =
    keyType === 'rsa' ? await generate('rsa', { modulusLength: 2048 }) : await generate('ed25519')
  return {
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** RFC 8463 section 3 signs the SHA-256 of the octets, where RSA takes the octets themselves. */
function signOctets(key: DkimKey, octets: Buffer): Buffer {
  const keyType = key.algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'
  if (key.privateKey.asymmetricKeyType !== keyType) throw new TypeError(`not an ${keyType} key`)
  if (keyType === 'rsa') return sign('sha256', octets, key.privateKey)
  return sign(null, hash('sha256', octets, 'buffer'), key.privateKey)
}

/** The index of the first octet of the body. A message may lack header fields or a body. */
function findBody(message: Buffer): number {
  if (message[0] === CR && message[1] === LF) return 2
  const separator = message.indexOf('\r\n\r\n', 0, 'latin1')
  return separator === -1 ? message.length : separator + 4
}

/** RFC 6376 section 3.4.4. What follows the last line with white space to change is copied whole. */
function canonicalBody(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length + 2)
  const unevenEnd = findUnevenEnd(body)
  let size = relaxLines(body, unevenEnd, out)
  size += body.copy(out, size, unevenEnd)
  while (size >= 2 && out[size - 2] === CR && out[size - 1] === LF) size -= 2
  if (size === 0) return out.subarray(0, 0)
  out[size] = CR
  out[size + 1] = LF
  return out.subarray(0, size + 2)
}

/** The end of the last line that holds a tab, two spaces in a row, or a space at its end. */
function findUnevenEnd(body: Buffer): number {
  if (body[body.length - 1] === SPACE) return body.length
  const last = Math.max(
    body.lastIndexOf(TAB),
    body.lastIndexOf('  ', undefined, 'latin1'),
    body.lastIndexOf(' \r\n', undefined, 'latin1'),
  )
  if (last === -1) return 0
  const lineEnd = body.indexOf('\r\n', last, 'latin1')
  return lineEnd === -1 ? body.length : lineEnd + 2
}

/**
 * Writes the lines before `end`, where a line ends, to `out` with their white space reduced;
 * returns their size. The inner loop is there for speed: it takes nearly every octet.
 */
function relaxLines(body: Buffer, end: number, out: Buffer): number {
  let size = 0
  let at = 0
  while (at < end) {
    let octet = body[at] as number
    while (octet > SPACE) {
      out[size++] = octet
      octet = body[++at] as number
    }
    if (at === end) break
    at++
    if (octet !== SPACE && octet !== TAB) {
      out[size++] = octet
      continue
    }
    while (body[at] === SPACE || body[at] === TAB) at++
    const isLineEnd = at === end || (body[at] === CR && body[at + 1] === LF)
    if (!isLineEnd) out[size++] = SPACE
  }
  return size
}

type SignedFields = {
  /** The h= list: instances of one name from the bottom up (RFC 6376 section 5.4.2). */
  names: string[]
  /** The same fields in canonical form, each ending in CRLF; one character is one octet. */
  canonical: string
}

function selectFields(header: string): SignedFields {
  const fields = canonicalFields(header)
  const names: string[] = []
  let canonical = ''
  for (const name of SIGNED) {
    const values = fields.get(name) ?? []
    for (const value of values.toReversed()) {
      names.push(name)
      canonical += `${name}:${value}\r\n`
    }
    if (OVERSIGNED.includes(name)) names.push(name)
  }
  return { names, canonical }
}

/** The values of the fields to sign, by lower-cased name and from the top down (section 3.4.2). */
function canonicalFields(header: string): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const field of header.split(/\r\n(?![ \t])/)) {
    const colonAt = field.indexOf(':')
    if (colonAt === -1) continue
    const name = trimSpace(field.slice(0, colonAt)).toLowerCase()
    if (!signedNames.has(name)) continue
    const canonical = trimSpace(field.slice(colonAt + 1).replace(/(?:\r\n|[ \t])+/g, ' '))
    const values = fields.get(name)
    if (values === undefined) fields.set(name, [canonical])
    else values.push(canonical)
  }
  return fields
}

/** Not `trim()`, which would take octets of UTF-8 for spaces. */
function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(start, end)
}

/** Joins by colons, breaking lines after one. */
function foldNames(names: string[]): string {
  let text = ''
  let column = 'h='.length + 1
  for (const [index, name] of names.entries()) {
    const piece = index === names.length - 1 ? name : `${name}:`
    if (column + piece.length > FOLD_AT) {
      text += FOLD
      column = 1
    }
    text += piece
    column += piece.length
  }
  return text
}

function foldBase64(text: string): string {
  const first = FOLD_AT - 'b='.length
  let folded = text.slice(0, first)
  for (let at = first; at < text.length; at += FOLD_AT) {
    folded += FOLD + text.slice(at, at + FOLD_AT)
  }
  return folded
}
