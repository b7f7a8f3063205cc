/** A self-signed certificate made here and now (RFC 5280), so that tests need no openssl. */
import {
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
  sign,
} from 'node:crypto'
import { DAY_MS } from '../../src/base/clock.ts'

export type Certificate = { key: string; cert: string }

export type CertificateOptions = {
  /** P-256, or RSA with 2,048 bits. */
  kind?: 'ec' | 'rsa'
  /** Of that kind; new ones unless given. */
  keys?: KeyPairKeyObjectResult
  /** Epoch ms; a day on either side of now unless given. */
  validFrom?: number
  validTo?: number
  /** Certified instead of a key of its own, as DER (SubjectPublicKeyInfo). */
  publicKey?: Buffer
  /** Eight random octets unless given. */
  serial?: Buffer
  /** The key identifier of its issuer (RFC 5280 section 4.2.1.1). */
  authorityKey?: Buffer
}

/** For the given DNS names, of which the first is its subject. */
export function makeCertificate(
  names: readonly string[] = ['localhost'],
  options: CertificateOptions = {},
): Certificate {
  const { kind = 'ec', validFrom = Date.now() - DAY_MS, validTo = Date.now() + DAY_MS } = options
  const { privateKey, publicKey } = options.keys ?? makeKeys(kind)
  const algorithm = sequence(...signatureAlgorithms[kind])
  const name = sequence(set(sequence(oid('550403'), tagged(0x0c, Buffer.from(names[0] ?? '')))))
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(options.serial ?? Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(validFrom), time(validTo)),
    name,
    options.publicKey ?? publicKeyInfo(publicKey),
    tagged(0xa3, sequence(...extensions(names, options))),
  )
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const base64 = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  }
}

/** ecdsa-with-SHA256; sha256WithRSAEncryption and its NULL. */
const signatureAlgorithms = {
  ec: [oid('2a8648ce3d040302')],
  rsa: [oid('2a864886f70d01010b'), tagged(0x05, Buffer.alloc(0))],
}

export function makeKeys(kind: 'ec' | 'rsa'): KeyPairKeyObjectResult {
  return kind === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function extensions(names: readonly string[], { authorityKey }: CertificateOptions): Buffer[] {
  const extension = (id: string, value: Buffer) => sequence(oid(id), tagged(0x04, value))
  const own = extension('551d11', alternativeNames(names))
  if (authorityKey === undefined) return [own]
  return [own, extension('551d23', sequence(tagged(0x80, authorityKey)))]
}

function alternativeNames(names: readonly string[]): Buffer {
  return sequence(...names.map((name) => tagged(0x82, Buffer.from(name))))
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14)
  return tagged(0x17, Buffer.from(`${digits}Z`))
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content])
  const digits = Buffer.from(length.toString(16).padStart(length > 255 ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content])
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function set(...parts: Buffer[]): Buffer {
  return tagged(0x31, Buffer.concat(parts))
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}
