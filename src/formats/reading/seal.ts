/**
 * Recognises signed and encrypted messages, whose octets must stay unchanged: S/MIME (RFC 8551),
 * PGP/MIME (RFC 3156), other multipart/signed and multipart/encrypted (RFC 1847), and OpenPGP
 * armour in the text (RFC 9580 section 6.2).
 */
export type Seal = 'signed' | 'encrypted'

const PKCS7 = /^application\/(?:x-)?pkcs7-mime$/
const ARMOUR = /^-----BEGIN PGP (SIGNED MESSAGE|MESSAGE)-----[ \t]*$/m

/**
 * `type`: the type of any part, in lower case. A PKCS #7 part may be signed or encrypted; it counts
 * as encrypted.
 */
export function sealOfType(type: string): Seal | null {
  if (type === 'multipart/signed') return 'signed'
  return type === 'multipart/encrypted' || PKCS7.test(type) ? 'encrypted' : null
}

export function sealOfText(text: string): Seal | null {
  const armour = ARMOUR.exec(text)?.[1]
  if (armour === undefined) return null
  return armour === 'MESSAGE' ? 'encrypted' : 'signed'
}
