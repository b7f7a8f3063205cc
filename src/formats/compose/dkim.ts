/**
 * DKIM signing (RFC 6376; Ed25519 by RFC 8463), relaxed/relaxed. This is on the hot path of delivery:
 * text that is already canonical, as `mime-message.ts` writes bodies and most fields, is not copied.
 * A message is a string with CRLF line ends only and one character per octet; so are the signature
 * fields, which go before it. The body hash is computed once for all keys.
 *
 * From, To and Subject are signed once more than they occur, so that a field added in transit breaks
 * the signature. All instances of the other fields are signed, including those that callers add.
 */
import { generateKeyPair, hash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'

type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'
export type DkimKeyType = 'rsa' | 'ed25519'

/** `domain` and `selector` in A-labels, lower case. `privateKey`: PKCS #8, PEM, or parsed. */
export type SigningKey<Key extends string | KeyObject = string> = {
  domain: string
  selector: string
  algorithm: DkimAlgorithm
  privateKey: Key
}

/** The private key as PKCS #8 and the public key as SPKI, both in PEM. */
type DkimKeyPair = { privateKey: string; publicKey: string }

const OVERSIGNED = ['from', 'to', 'subject']
/**
 * The fields to sign: those of RFC 6376 section 5.4.1, and the fields that one-click unsubscribe
 * (RFC 8058) and feedback loops depend on.
 */
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
/** Field name, in its usual spelling and in lower case -> index in `SIGNED`. */
const PLACES = new Map(
  SIGNED.flatMap((name, place) => [
    [name, place],
    [capitalise(name), place],
  ]),
)

const FOLD = '\r\n\t'
const FOLD_AT = 76
const TAB = 0x09
const LF = 0x0a
const SPACE = 0x20
const ED25519_KEY_OCTETS = 32

/**
 * One DKIM-Signature field per key, in order, folded, each ending in CRLF, to be put before
 * `message`. `signedAt` is epoch ms.
 * @throws TypeError if a key does not match its algorithm
 */
export function signDkim(
  message: string,
  keys: readonly SigningKey<KeyObject>[],
  signedAt: number,
): string {
  if (keys.length === 0) return ''
  const bodyAt = findBody(message)
  const bodyHash = hash('sha256', hashable(canonicalBody(message.slice(bodyAt))), 'base64')
  const { names, canonical } = selectFields(message.slice(0, bodyAt))
  const canonicalNames = names.replaceAll(FOLD, ' ')
  const at = Math.floor(signedAt / 1000)
  let fields = ''
  for (const { algorithm: a, domain: d, selector: s, privateKey } of keys) {
    const own = `dkim-signature:v=1; a=${a}; c=relaxed/relaxed; d=${d}; s=${s}; t=${at}; h=${canonicalNames}; bh=${bodyHash}; b=`
    const signature = signOctets(a, privateKey, Buffer.from(canonical + own, 'latin1'))
    fields +=
      `DKIM-Signature: v=1; a=${a}; c=relaxed/relaxed;${FOLD}d=${d};${FOLD}s=${s}; t=${at};` +
      `${FOLD}h=${names};${FOLD}bh=${bodyHash};${FOLD}b=${foldBase64(signature.toString('base64'))}\r\n`
  }
  return fields
}

/** The TXT record that publishes a key (RFC 6376 section 3.6.1, RFC 8463 section 4). */
export function dkimRecord(keyType: DkimKeyType, publicKey: KeyObject): string {
  if (publicKey.asymmetricKeyType !== keyType) throw new TypeError(`not an ${keyType} key`)
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const octets = keyType === 'rsa' ? spki : spki.subarray(-ED25519_KEY_OCTETS)
  return `v=DKIM1; k=${keyType}; p=${octets.toString('base64')}`
}

/** Generates a 2048-bit RSA key or an Ed25519 key, off the main thread. */
export async function generateDkimKeyPair(keyType: DkimKeyType): Promise<DkimKeyPair> {
  const generate = promisify(generateKeyPair)
  const pair =
    keyType === 'rsa' ? await generate('rsa', { modulusLength: 2048 }) : await generate('ed25519')
  return {
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** Ed25519 signs the SHA-256 of the octets (RFC 8463 section 3); RSA signing hashes them itself. */
function signOctets(algorithm: DkimAlgorithm, key: KeyObject, octets: Buffer): Buffer {
  const keyType = algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'
  if (key.asymmetricKeyType !== keyType) throw new TypeError(`not an ${keyType} key`)
  if (keyType === 'rsa') return sign('sha256', octets, key)
  return sign(null, hash('sha256', octets, 'buffer'), key)
}

/** Returns the offset at which the body begins. A message may lack header fields or a body. */
function findBody(message: string): number {
  if (message.startsWith('\r\n')) return 2
  const separator = message.indexOf('\r\n\r\n')
  return separator === -1 ? message.length : separator + 4
}

/** A string would be hashed as UTF-8, so text with octets above 127 becomes a Buffer. */
function hashable(octets: string): string | Buffer {
  return Buffer.byteLength(octets) === octets.length ? octets : Buffer.from(octets, 'latin1')
}

/** The body in relaxed form (RFC 6376 section 3.4.4). */
function canonicalBody(body: string): string {
  const relaxed = isUneven(body) ? relaxLines(body) : body
  let end = relaxed.length
  while (relaxed.charCodeAt(end - 1) === LF && end > 0) end -= 2
  if (end === 0) return ''
  return end + 2 === relaxed.length ? relaxed : `${relaxed.slice(0, end)}\r\n`
}

/** Whether the relaxed form would change white space other than folds. Three quick searches. */
function isUneven(text: string): boolean {
  return text.includes('\t') || / [ \r]/.test(text) || text.endsWith(' ')
}

/** Replaces each run of white space by one space and removes white space at line ends. */
function relaxLines(body: string): string {
  const lines = body.replace(/[\t ]{2,}|\t/g, ' ')
  const ended = / \r/.test(lines) ? lines.replaceAll(' \r\n', '\r\n') : lines
  return ended.endsWith(' ') ? ended.slice(0, -1) : ended
}

type SignedFields = {
  /**
   * The names for the h= list, folded. Fields of one name are listed from the bottom up (RFC 6376
   * section 5.4.2).
   */
  names: string
  /** The signed fields in canonical form, each ending in CRLF; one character is one octet. */
  canonical: string
}

function selectFields(header: string): SignedFields {
  const { lines, counts } = canonicalFields(header)
  let names = ''
  let canonical = ''
  for (let place = 0; place < SIGNED.length; place += 1) {
    const count = (counts[place] ?? 0) + (place < OVERSIGNED.length ? 1 : 0)
    for (let i = 0; i < count; i += 1) names += `${SIGNED[place]}:`
    canonical += lines[place] ?? ''
  }
  return { names: foldNames(names.slice(0, -1)), canonical }
}

/**
 * Both lists have the indexes of `SIGNED`. `lines`: the fields of that name, from the bottom up
 * (section 3.4.2); `counts`: their number.
 */
type CanonicalFields = { lines: (string | undefined)[]; counts: (number | undefined)[] }

function canonicalFields(header: string): CanonicalFields {
  const lines: CanonicalFields['lines'] = new Array(SIGNED.length)
  const counts: CanonicalFields['counts'] = new Array(SIGNED.length)
  const isEven = !isUneven(header)
  let end = 0
  for (let at = 0; at < header.length; at = end + 2) {
    end = fieldEnd(header, at)
    const colonAt = header.indexOf(':', at)
    if (colonAt === -1 || colonAt >= end) continue
    const place = placeOf(header.slice(at, colonAt))
    if (place === undefined) continue
    const line = `${SIGNED[place]}:${canonicalValue(header.slice(colonAt + 1, end), isEven)}\r\n`
    lines[place] = counts[place] === undefined ? line : line + lines[place]
    counts[place] = (counts[place] ?? 0) + 1
  }
  return { lines, counts }
}

function fieldEnd(header: string, from: number): number {
  let end = header.indexOf('\r\n', from)
  while (end !== -1 && isBlank(header.charCodeAt(end + 2))) end = header.indexOf('\r\n', end + 2)
  return end === -1 ? header.length : end
}

function placeOf(written: string): number | undefined {
  return PLACES.get(written) ?? PLACES.get(trimSpace(written).toLowerCase())
}

/**
 * `isEven`: each fold of the value is followed by exactly one space, so that no run of spaces is to
 * be reduced.
 */
function canonicalValue(value: string, isEven: boolean): string {
  if (!isEven) return trimSpace(value.replaceAll('\r\n', ' ').replace(/[ \t]+/g, ' '))
  const unfolded = value.includes('\r') ? value.replaceAll('\r\n', '') : value
  return unfolded.startsWith(' ') ? unfolded.slice(1) : unfolded
}

/** Removes spaces and tabs. `trim()` would also remove some octets of UTF-8 characters. */
function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function capitalise(name: string): string {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

/** Folds a list after its colons. */
function foldNames(list: string): string {
  let folded = ''
  let start = 0
  for (let room = FOLD_AT - 'h='.length - 1; list.length - start > room; room = FOLD_AT - 1) {
    const end = list.lastIndexOf(':', start + room - 1) + 1
    folded += list.slice(start, end) + FOLD
    start = end
  }
  return folded + list.slice(start)
}

function foldBase64(text: string): string {
  const first = FOLD_AT - 'b='.length
  let folded = text.slice(0, first)
  for (let at = first; at < text.length; at += FOLD_AT) {
    folded += FOLD + text.slice(at, at + FOLD_AT)
  }
  return folded
}
