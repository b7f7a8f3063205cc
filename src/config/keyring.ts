/**
 * The keys derived from `secret` by HKDF-SHA256 (RFC 5869), one per purpose, so that a token of one
 * kind is never valid as another. Keys of the previous secret come second: they are accepted, but
 * nothing new is made with them.
 *
 * One key is not derived: that of address digests is random and stands in the database
 * (`features/people/wishes/address-digests.ts`), so that digests outlive a change of `secret`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { hmac } from '../base/hmac.ts'

type KeyPurpose =
  | 'sessions'
  | 'provider-logins'
  | 'return-path'
  | 'mail-in-unsubscribe'
  | 'open'
  | 'click'
  | 'page'
  | 'checkout'
  | 'at-rest'

type KeysOfPurpose = readonly [current: KeyObject, ...previous: KeyObject[]]

export type Keyring = {
  /** The keys of a purpose, the current key first. */
  keys(purpose: KeyPurpose): KeysOfPurpose
  /** Encrypts a text for the database (AES-256-GCM). */
  seal(text: string): string
  /** Decrypts a sealed text. @throws TypeError when no known secret sealed it */
  unseal(sealed: string): string
  /** Seals a text again if the previous secret sealed it; else returns it. @throws TypeError */
  reseal(sealed: string): string
  /** Sets the key of address digests. */
  useAddressKey(key: Buffer): void
  /**
   * The digest of an address of a project, 10 octets of HMAC-SHA-256: the same for as long as the database
   * lives, and of no use to a reader who has no key. `address`: as `ParsedAddress.address`.
   * @throws TypeError before `useAddressKey`
   */
  addressDigest(projectId: string, address: string): Buffer
  /** A UUIDv8 (RFC 9562 section 5.8) that stands for an address of a project where its id is not shown. */
  addressUuid(projectId: string, address: string): string
}

const IV_BYTES = 12
const TAG_BYTES = 16
/** Octets of an address digest; links and return paths carry them. */
const ADDRESS_DIGEST_OCTETS = 10

export function createKeyring(secret: string, previous: string | null = null): Keyring {
  const older = previous === null ? [] : [previous]
  const derived = new Map<KeyPurpose, KeysOfPurpose>()
  const keys = (purpose: KeyPurpose): KeysOfPurpose => {
    const known = derived.get(purpose)
    if (known !== undefined) return known
    const made: KeysOfPurpose = [
      deriveKey(secret, purpose),
      ...older.map((each) => deriveKey(each, purpose)),
    ]
    derived.set(purpose, made)
    return made
  }
  const seal = (text: string) => sealWith(keys('at-rest')[0], text)
  const unseal = (sealed: string) => unsealWith(keys('at-rest'), sealed)
  return {
    keys,
    seal,
    unseal,
    reseal: (sealed) => {
      const isCurrent = tryUnseal(keys('at-rest')[0], sealed) !== undefined
      return isCurrent ? sealed : seal(unseal(sealed))
    },
    ...createAddressDigests(),
  }
}

type AddressDigests = Pick<Keyring, 'useAddressKey' | 'addressDigest' | 'addressUuid'>

function createAddressDigests(): AddressDigests {
  let key: KeyObject | undefined
  let last: { projectId: string; address: string; digest: Buffer } | undefined
  const mac = (text: string, octets: number): Buffer => {
    if (key === undefined) throw new TypeError('The key of address digests is not loaded.')
    return Buffer.from(hmac(key, Buffer.from(text)).slice(0, octets), 'binary')
  }
  return {
    useAddressKey(bytes) {
      key = createSecretKey(bytes)
      last = undefined
    },
    addressDigest(projectId, address) {
      // The last digest is kept, because one statement may ask twice for the same recipient.
      if (last?.address === address && last.projectId === projectId) return last.digest
      const digest = mac(`address\n${projectId}\n${address}`, ADDRESS_DIGEST_OCTETS)
      last = { projectId, address, digest }
      return digest
    },
    addressUuid(projectId, address) {
      const bytes = mac(`contact id\n${projectId}\n${address}`, 16)
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}

/** An HMAC with a key object costs a fifth of an HMAC with bytes. */
function deriveKey(secret: string, purpose: KeyPurpose): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `pillarbox:${purpose}`, 32)))
}

function sealWith(key: KeyObject, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}

function unsealWith(keys: KeysOfPurpose, sealed: string): string {
  for (const key of keys) {
    const text = tryUnseal(key, sealed)
    if (text !== undefined) return text
  }
  throw new TypeError('sealed with an unknown secret (see secret and secret_previous)')
}

/** Undefined unless this key sealed the text. */
function tryUnseal(key: KeyObject, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
