/** A certificate signing request (RFC 2986) for host names, in DER: P-256, with SHA-256. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'

const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302')
/** PKCS #9 extensionRequest (RFC 2985 section 5.4.2). */
const EXTENSION_REQUEST = oid('2a864886f70d01090e')
/** RFC 5280 section 4.2.1.6. */
const SUBJECT_ALT_NAME = oid('551d11')

/** `domains`: A-labels. The subject is empty, since authorities read the alternative names. */
export function createSigningRequest(key: KeyObject, domains: readonly string[]): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const names = sequence(...domains.map((name) => tagged(0x82, Buffer.from(name, 'ascii'))))
  const extension = sequence(SUBJECT_ALT_NAME, tagged(0x04, names))
  const attribute = sequence(EXTENSION_REQUEST, tagged(0x31, sequence(extension)))
  const version = tagged(0x02, Buffer.from([0]))
  const info = sequence(version, sequence(), publicKey, tagged(0xa0, attribute))
  const signature = sign('sha256', info, key)
  const bits = tagged(0x03, Buffer.concat([Buffer.from([0]), signature]))
  return sequence(info, sequence(ECDSA_WITH_SHA256), bits)
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

/** Tag, length and content (X.690 section 8.1). */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const hex = length.toString(16)
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content])
}
