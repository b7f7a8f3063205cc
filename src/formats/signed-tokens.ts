/**
 * Signed tokens in return paths, unsubscribe addresses and links, which anyone may send back. A
 * token is a payload and the first 10 octets of its HMAC-SHA256, in RFC 4648 base32, lower case and
 * unpadded. Each purpose has its own key, so a token of one purpose is invalid for another. Mail
 * hosts may change the case, so upper case is accepted; any other spelling of the same octets
 * (padding, stray bits at the end) is refused.
 */
import { timingSafeEqual } from 'node:crypto'
import { type HmacKey, hmac } from '../base/hmac.ts'

const SIGNATURE_OCTETS = 10
const UUID_OCTETS = 16
/** Octets of the digest of an address. */
const ADDRESS_OCTETS = 10
/** Octets of a link's number. A URL always has more, so the length tells a number from a URL. */
const LINK_NUMBER_OCTETS = 4
/** Characters of the longest token: a click token with a link of 2,500 octets. */
const MAX_TOKEN_LENGTH = 4096
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const CODES = Buffer.from(ALPHABET)
/** The id that stands for "no email" or "no contact" in a payload. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'
const RETURN_PATH = 'b.'
const MAIL_UNSUBSCRIBE = 'u.'

/** The key of one purpose. */
export type TokenKey = HmacKey

/**
 * The contact of a hosted page, the email whose link led there, and the digest of the address that
 * the mail went to (`Keyring.addressDigest`). A link for an address without a contact names no
 * contact. Tokens of earlier versions have no digest.
 */
export type PageToken = {
  contactId: string | undefined
  emailId: string | undefined
  digest?: Buffer | undefined
}

/**
 * The email that a return path or unsubscribe address belongs to, and the digest of the email's
 * recipient address.
 */
export type EmailToken = { emailId: string; digest?: Buffer | undefined }

/** A link of an email: its number (see `html/links.ts`) or its URL. */
type ClickToken = { emailId: string; link: number | string }

export function createToken(key: TokenKey, payload: Buffer): string {
  const octets = Buffer.allocUnsafe(payload.length + SIGNATURE_OCTETS)
  octets.set(payload)
  octets.write(hmac(key, payload), payload.length, SIGNATURE_OCTETS, 'binary')
  return encodeBase32(octets)
}

/**
 * Returns the payload of a token that one of `keys` (current, previous) has signed. All keys are
 * tried, even after one has matched.
 */
export function readToken(keys: readonly TokenKey[], token: string): Buffer | undefined {
  const octets = decodeBase32(token)
  if (octets === undefined || octets.length < SIGNATURE_OCTETS) return undefined
  const payload = octets.subarray(0, -SIGNATURE_OCTETS)
  const given = octets.subarray(-SIGNATURE_OCTETS)
  const matches = keys.map((key) => timingSafeEqual(signature(key, payload), given))
  return matches.includes(true) ? payload : undefined
}

/**
 * The local part of an email's return path: 60 octets, of 64 that RFC 5321 section 4.5.3.1.1
 * allows.
 */
export function createReturnPathLocalPart(key: TokenKey, emailId: string, digest?: Buffer): string {
  return RETURN_PATH + createToken(key, emailBytes(emailId, digest))
}

/** Returns the email that a return path's local part names. The caller checks the email's age. */
export function readReturnPathLocalPart(
  keys: readonly TokenKey[],
  localPart: string,
): EmailToken | undefined {
  return readEmailLocalPart(keys, RETURN_PATH, localPart)
}

/** The local part of the address for unsubscribing by mail. */
export function createUnsubscribeLocalPart(
  key: TokenKey,
  emailId: string,
  digest?: Buffer,
): string {
  return MAIL_UNSUBSCRIBE + createToken(key, emailBytes(emailId, digest))
}

export function readUnsubscribeLocalPart(
  keys: readonly TokenKey[],
  localPart: string,
): EmailToken | undefined {
  return readEmailLocalPart(keys, MAIL_UNSUBSCRIBE, localPart)
}

export function createPageToken(key: TokenKey, { contactId, emailId, digest }: PageToken): string {
  const ids = [uuidBytes(contactId ?? NIL_UUID), uuidBytes(emailId ?? NIL_UUID)]
  return createToken(key, Buffer.concat(digest === undefined ? ids : [...ids, digest]))
}

export function readPageToken(keys: readonly TokenKey[], token: string): PageToken | undefined {
  const payload = readToken(keys, token)
  const digest = digestBehind(payload, 2 * UUID_OCTETS)
  if (payload === undefined || digest === null) return undefined
  const contactId = uuidText(payload.subarray(0, UUID_OCTETS))
  const emailId = uuidText(payload.subarray(UUID_OCTETS, 2 * UUID_OCTETS))
  return {
    contactId: contactId === NIL_UUID ? undefined : contactId,
    emailId: emailId === NIL_UUID ? undefined : emailId,
    digest,
  }
}

/** The token in the URL of an email's open pixel. */
export function createOpenToken(key: TokenKey, emailId: string): string {
  return createToken(key, uuidBytes(emailId))
}

export function readOpenToken(keys: readonly TokenKey[], token: string): string | undefined {
  const payload = readToken(keys, token)
  return payload?.length === UUID_OCTETS ? uuidText(payload) : undefined
}

/** The token in the tracking URL of a link. `link`: the link's number or its URL. */
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

/** The 16 octets of a UUID. @throws TypeError for any other text */
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

/** Returns the value of the hexadecimal digit at `index`; the caller has checked that it is one. */
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

function emailBytes(emailId: string, digest: Buffer | undefined): Buffer {
  const id = uuidBytes(emailId)
  return digest === undefined ? id : Buffer.concat([id, digest])
}

/**
 * Returns the digest after the first octets of a payload; undefined if the payload has no digest,
 * null if its length is wrong.
 */
function digestBehind(payload: Buffer | undefined, octets: number): Buffer | undefined | null {
  if (payload?.length === octets) return undefined
  return payload?.length === octets + ADDRESS_OCTETS ? payload.subarray(octets) : null
}

function readEmailLocalPart(
  keys: readonly TokenKey[],
  prefix: string,
  localPart: string,
): EmailToken | undefined {
  if (localPart.slice(0, prefix.length).toLowerCase() !== prefix) return undefined
  const payload = readToken(keys, localPart.slice(prefix.length))
  const digest = digestBehind(payload, UUID_OCTETS)
  if (payload === undefined || digest === null) return undefined
  return { emailId: uuidText(payload.subarray(0, UUID_OCTETS)), digest }
}

function signature(key: TokenKey, payload: Buffer): Buffer {
  return Buffer.from(hmac(key, payload).slice(0, SIGNATURE_OCTETS), 'binary')
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

/** Decodes base32; undefined for other characters, impossible lengths and stray bits at the end. */
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
