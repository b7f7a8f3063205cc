/**
 * A certificate chain and its private key, in PEM. An ordered certificate is one file with both, so
 * that a kill never leaves a key with another's certificate.
 */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { describeError } from '../../base/errors.ts'
import type { TlsFiles } from '../config.ts'

export type CertificatePair = { cert: Buffer; key: Buffer }

const BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g

const MEANINGS: Record<string, string> = {
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key does not belong to the certificate',
  ERR_OSSL_X509_KEY_TYPE_MISMATCH: 'the key does not belong to the certificate',
}

/** @throws Error unless both files can be read and belong together */
export function readPair({ certFile, keyFile, isOrdered = false }: TlsFiles): CertificatePair {
  if (isOrdered) return parsePair(readFileSync(certFile, 'utf8'))
  const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  createSecureContext(pair)
  return pair
}

/** `text`: an ordered certificate's file. @throws Error unless its parts can be used together */
export function parsePair(text: string): CertificatePair {
  const pair = splitPair(text)
  createSecureContext(pair)
  return pair
}

/** Why a certificate and a key cannot be used together, in plainer words than OpenSSL's. */
export function describePairFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return MEANINGS[code] ?? describeError(error)
}

export function isSamePair(one: CertificatePair, other: CertificatePair): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key)
}

/** @throws Error unless the text has a certificate and a key */
function splitPair(text: string): CertificatePair {
  const blocks = [...text.matchAll(BLOCK)].map(([block, label = '']) => ({ block, label }))
  const chain = blocks.filter(({ label }) => label === 'CERTIFICATE')
  const key = blocks.find(({ label }) => label.endsWith('PRIVATE KEY'))
  if (chain.length === 0 || key === undefined) throw new Error('it lacks a certificate or a key')
  const cert = `${chain.map(({ block }) => block).join('\n')}\n`
  return { cert: Buffer.from(cert), key: Buffer.from(`${key.block}\n`) }
}
