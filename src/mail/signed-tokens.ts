/**
 * Signed tokens: what a stranger may hand back to us in a return path, an unsubscribe address or a
 * page's link. A token is RFC 4648 base32, lower case and unpadded, of a payload followed by the
 * first 10 octets of its HMAC-SHA256 under the key of its purpose; nothing in the token says which
 * purpose that is, so a token of one is worthless for another. Mail hosts fold case, so either case
 * is read; any other spelling of the same octets (padding, stray bits at the end) is refused.
 */
import { hash, KeyObject, timingSafeEqual } from 'node:crypto'

const SIGNATURE_OCTETS = 10
const BLOCK_OCTETS = 64
const DIGEST_OCTETS = 32
const UUID_OCTETS = 16
/** No address is as short as that. */
const LINK_NUMBER_OCTETS = 4
/** A click's token carries up to 1,500 characters of link. */
const MAX_TOKEN_LENGTH = 4096
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const CODES = Buffer.from(ALPHABET)
const NIL_UUID = '00000000-0000-0000-0000-000000000000'
const RETURN_PATH = 'b.'
const MAIL_UNSUBSCRIBE = 'u.'

/** A purpose key. A secret KeyObject signs faster than the same octets in a Buffer. */
export type TokenKey = Buffer | KeyObject

/** The key as both of an HMAC's hashes begin (RFC 2104 section 2). */
type KeyBlocks = { inner: Buffer; outer: Buffer }

/** Key objects never change, so neither do their blocks. */
const knownBlocks = new WeakMap<KeyObject, KeyBlocks>()

/** What a hosted page acts on: a contact, and the email whose link led there, if one did. */
export type PageToken = { contactId: string; emailId: string | undefined }

/** Which link of which email: its number (see `links.ts`), or the address itself. */
export type ClickToken = { emailId: string; link: number | string }

export function createToken(key: TokenKey, payload: Buffer): string {
  const octets = Buffer.allocUnsafe(payload.length + SIGNATURE_OCTETS)
  octets.set(payload)
  octets.write(hmac(key, payload), payload.length, SIGNATURE_OCTETS, 'binary')
  return encodeBase32(octets)
}

/** The payload, when one of `keys` (current, previous) signed the token. All of them are tried. */
export function readToken(keys: readonly TokenKey[], token: string): Buffer | undefined {
  const octets = decodeBase32(token)
  if (octets === undefined || octets.length < SIGNATURE_OCTETS) return undefined
  const payload = octets.subarray(0, -SIGNATURE_OCTETS)
  const given = octets.subarray(-SIGNATURE_OCTETS)
  const matches = keys.map((key) => timingSafeEqual(signature(key, payload), given))
  return matches.includes(true) ? payload : undefined
}

/** 44 octets: the local part that bounces of one email come back to. */
export function createReturnPathLocalPart(key: TokenKey, emailId: string): string {
  return RETURN_PATH + createToken(key, uuidBytes(emailId))
}

/** The email id behind a return path's local part. Its age is the caller's to judge. */
export function readReturnPathLocalPart(
  keys: readonly TokenKey[],
  localPart: string,
): string | undefined {
  return readEmailLocalPart(keys, RETURN_PATH, localPart)
}

/** The local part that a mail program writes to when its reader unsubscribes by mail. */
export function createUnsubscribeLocalPart(key: TokenKey, emailId: string): string {
  return MAIL_UNSUBSCRIBE + createToken(key, uuidBytes(emailId))
}

export function readUnsubscribeLocalPart(
  keys: readonly TokenKey[],
  localPart: string,
): string | undefined {
  return readEmailLocalPart(keys, MAIL_UNSUBSCRIBE, localPart)
}

export function createPageToken(key: TokenKey, page: PageToken): string {
  const ids = [uuidBytes(page.contactId), uuidBytes(page.emailId ?? NIL_UUID)]
  return createToken(key, Buffer.concat(ids))
}

export function readPageToken(keys: readonly TokenKey[], token: string): PageToken | undefined {
  const payload = readToken(keys, token)
  if (payload?.length !== 2 * UUID_OCTETS) return undefined
  const emailId = uuidText(payload.subarray(UUID_OCTETS))
  return {
    contactId: uuidText(payload.subarray(0, UUID_OCTETS)),
    emailId: emailId === NIL_UUID ? undefined : emailId,
  }
}

/** The token of an email's open pixel. */
export function createOpenToken(key: TokenKey, emailId: string): string {
  return createToken(key, uuidBytes(emailId))
}

export function readOpenToken(keys: readonly TokenKey[], token: string): string | undefined {
  const payload = readToken(keys, token)
  return payload?.length === UUID_OCTETS ? uuidText(payload) : undefined
}

/** The token of a link: its number among its content's, or the address itself. */
export function createClickToken(key: TokenKey, { emailId, link }: ClickToken): string {
  const id = uuidBytes(emailId)
  if (typeof link === 'string') return createToken(key, Buffer.concat([id, Buffer.from(link)]))
  const payload = Buffer.allocUnsafe(UUID_OCTETS + LINK_NUMBER_OCTETS)
  payload.set(id)
  payload.writeUInt32BE(link, UUID_OCTETS)
  return createToken(key, payload)
}

export function readClickToken(keys: readonly TokenKey[], token: string): ClickToken | undefined {
  const payload = readToken(keys, token)
  if (payload === undefined || payload.length < UUID_OCTETS + LINK_NUMBER_OCTETS) return undefined
  const emailId = uuidText(payload.subarray(0, UUID_OCTETS))
  const link = payload.subarray(UUID_OCTETS)
  const isNumber = link.length === LINK_NUMBER_OCTETS
  return { emailId, link: isNumber ? link.readUInt32BE() : link.toString('utf8') }
}

/** The 16 octets of a UUID's text; a TypeError for any other text. */
export function uuidBytes(id: string): Buffer {
  if (!/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(id)) {
    throw new TypeError('not a UUID')
  }
  const bytes = Buffer.allocUnsafe(UUID_OCTETS)
  let size = 0
  for (let index = 0; index < id.length; index += 2) {
    if (id[index] === '-') index += 1
    bytes[size++] = (hexDigit(id, index) << 4) | hexDigit(id, index + 1)
  }
  return bytes
}

/** Of a character that is known to be one. */
function hexDigit(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return (code & 15) + (code >> 6) * 9
}

export function uuidText(bytes: Buffer): string {
  if (bytes.length !== UUID_OCTETS) throw new TypeError('a UUID has 16 octets')
  const hex = bytes.toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${parts.join('-')}-${hex.slice(20)}`
}

function readEmailLocalPart(
  keys: readonly TokenKey[],
  prefix: string,
  localPart: string,
): string | undefined {
  if (localPart.slice(0, prefix.length).toLowerCase() !== prefix) return undefined
  const payload = readToken(keys, localPart.slice(prefix.length))
  return payload?.length === UUID_OCTETS ? uuidText(payload) : undefined
}

function signature(key: TokenKey, payload: Buffer): Buffer {
  return Buffer.from(hmac(key, payload).slice(0, SIGNATURE_OCTETS), 'binary')
}

/**
 * HMAC-SHA-256 (RFC 2104), a character an octet: two plain hashes, which node:crypto does in a
 * third of the time of one Hmac object.
 */
function hmac(key: TokenKey, payload: Buffer): string {
  const { inner, outer } = blocksOf(key)
  const first = Buffer.allocUnsafe(BLOCK_OCTETS + payload.length)
  first.set(inner)
  first.set(payload, BLOCK_OCTETS)
  const second = Buffer.allocUnsafe(BLOCK_OCTETS + DIGEST_OCTETS)
  second.set(outer)
  second.write(hash('sha256', first, 'binary'), BLOCK_OCTETS, DIGEST_OCTETS, 'binary')
  return hash('sha256', second, 'binary')
}

function blocksOf(key: TokenKey): KeyBlocks {
  if (!(key instanceof KeyObject)) return makeBlocks(key)
  const known = knownBlocks.get(key)
  if (known !== undefined) return known
  const made = makeBlocks(key.export() as Buffer)
  knownBlocks.set(key, made)
  return made
}

function makeBlocks(key: Buffer): KeyBlocks {
  const short = key.length > BLOCK_OCTETS ? hash('sha256', key, 'buffer') : key
  const inner = Buffer.alloc(BLOCK_OCTETS, 0x36)
  const outer = Buffer.alloc(BLOCK_OCTETS, 0x5c)
  for (const [index, octet] of short.entries()) {
    inner[index] = 0x36 ^ octet
    outer[index] = 0x5c ^ octet
  }
  return { inner, outer }
}

function encodeBase32(octets: Buffer): string {
  const text = Buffer.allocUnsafe(Math.ceil((octets.length * 8) / 5))
  let size = 0
  let bits = 0
  let bitCount = 0
  for (const octet of octets) {
    bits = ((bits << 8) | octet) & 0xfff
    bitCount += 8
    while (bitCount >= 5) {
      bitCount -= 5
      text[size++] = CODES[(bits >>> bitCount) & 31] ?? 0
    }
  }
  if (bitCount > 0) text[size] = CODES[(bits << (5 - bitCount)) & 31] ?? 0
  return text.toString('latin1')
}

/** Undefined for other characters, for impossible lengths and for bits that no encoder leaves. */
function decodeBase32(text: string): Buffer | undefined {
  if (text.length > MAX_TOKEN_LENGTH || !/^[a-z2-7]*$/i.test(text)) return undefined
  const octets = Buffer.alloc(Math.floor((text.length * 5) / 8))
  let bits = 0
  let bitCount = 0
  let size = 0
  for (const character of text.toLowerCase()) {
    bits = ((bits << 5) | ALPHABET.indexOf(character)) & 0xfff
    bitCount += 5
    if (bitCount >= 8) {
      bitCount -= 8
      octets[size++] = bits >>> bitCount
    }
  }
  const strayBits = bits & ((1 << bitCount) - 1)
  return bitCount < 5 && strayBits === 0 ? octets : undefined
}
