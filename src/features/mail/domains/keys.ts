/**
 * Makes a domain's two signing keys. The keyring seals the private keys before they are stored. A
 * selector is derived from its key, so two projects that add one domain, or one project that adds a
 * domain again, never need different keys under one name.
 */
import { createHash, createPublicKey } from 'node:crypto'
import { type DkimKeyType, dkimRecord, generateDkimKeyPair } from '../../../formats/compose/dkim.ts'
import type { Domain } from '../../../store/schema/domains.ts'
import type { Base } from '../../ground/base.ts'

export type DomainKeys = Pick<
  Domain,
  | 'rsaSelector'
  | 'rsaPrivateKey'
  | 'rsaPublicKey'
  | 'ed25519Selector'
  | 'ed25519PrivateKey'
  | 'ed25519PublicKey'
>

const SELECTOR_DIGITS = 10

/**
 * Makes an RSA and an Ed25519 key. The RSA key, with 2048 bits, takes about 200 ms of a thread, not
 * of the event loop.
 */
export async function makeDomainKeys({ keyring }: Pick<Base, 'keyring'>): Promise<DomainKeys> {
  const [rsa, ed25519] = await Promise.all([
    generateDkimKeyPair('rsa'),
    generateDkimKeyPair('ed25519'),
  ])
  return {
    rsaSelector: makeSelector(rsa.publicKey),
    rsaPrivateKey: keyring.seal(rsa.privateKey),
    rsaPublicKey: rsa.publicKey,
    ed25519Selector: makeSelector(ed25519.publicKey),
    ed25519PrivateKey: keyring.seal(ed25519.privateKey),
    ed25519PublicKey: ed25519.publicKey,
  }
}

/** Returns the text of the TXT record that publishes a key. */
export function keyRecord(keyType: DkimKeyType, publicKey: string): string {
  return dkimRecord(keyType, createPublicKey(publicKey))
}

function makeSelector(publicKey: string): string {
  return `pb${createHash('sha256').update(publicKey).digest('hex').slice(0, SELECTOR_DIGITS)}`
}
