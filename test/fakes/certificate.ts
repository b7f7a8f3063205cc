/** A self-signed certificate made here and now (RFC 5280), so that tests need no openssl. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export type Certificate = { key: string; cert: string }

/** P-256, valid for a day on either side of now, for the given DNS names. */
export function makeCertificate(names: readonly string[] = ['localhost']): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid('2a8648ce3d040302'))
  const name = sequence(set(sequence(oid('550403'), tagged(0x0c, Buffer.from(names[0] ?? '')))))
  const day = 86_400_000
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    name,
    publicKeyInfo(publicKey),
    tagged(0xa3, sequence(sequence(oid('551d11'), tagged(0x04, alternativeNames(names))))),
  )
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const base64 = der.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  }
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
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
