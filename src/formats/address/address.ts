/**
 * The only address parser, for all sources: people, API calls and SMTP. An address is a dot-atom, `@`
 * and a host name (RFC 5321 section 4.1.2 without quoted local parts and address literals), in ASCII
 * or Unicode (RFC 6531). Lists, groups, comments, source routes and display names are refused, so no
 * text can be read as two recipients. Envelope and header fields use the same parsed value.
 *
 * Domain names are compared as A-labels and shown as U-labels. Unicode is accepted only if it survives
 * the conversion to A-labels and back unchanged, so that the shown name is the given one: a
 * full-width letter or an invisible hyphen is refused, not mapped to another character.
 */

import { domainToASCII, domainToUnicode } from 'node:url'
import { comparable, normalize } from '../../base/nfc.ts'
import { MAX_PATH_OCTETS } from '../limits.ts'
import { isOneFieldLine } from '../one-line.ts'

export type ParsedAddress = {
  /**
   * The address in the form in which addresses are stored, compared and shown: NFC, lower case, the
   * domain in U-labels.
   */
  address: string
  localPart: string
  /** The domain in A-labels, lower case. */
  domain: string
  /** `localPart@A-labels`, the form for SMTP commands and header fields; at most 254 octets. */
  wire: string
  /** The local part is not ASCII, so its messages need SMTPUTF8 (RFC 6531). */
  needsSmtputf8: boolean
}

/** Characters of a text that is parsed as an address; longer texts are refused at once. */
export const MAX_ADDRESS_TEXT_LENGTH = 1024
const MAX_LOCAL_PART_OCTETS = 64
export const MAX_DOMAIN_LENGTH = 253

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/**
 * A host name whose last label does not begin with a digit: `1.2.3.4` is an IP address, not a name.
 */
const HOST = `(?:${LABEL}\\.)+(?![0-9])${LABEL}`
const ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
const ASCII_DOMAIN = new RegExp(`^${HOST}$`)
const ASCII_ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${HOST}$`, 'i')

const UNICODE_ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+"
const UNICODE_LOCAL_PART = new RegExp(`^${UNICODE_ATOM}(?:\\.${UNICODE_ATOM})*$`, 'u')
/** Letters, digits, marks and the few characters that IDNA 2008 (RFC 5892) allows in context. */
const UNICODE_DOMAIN = /^(?:[\p{L}\p{M}\p{Nd}.\u00b7\u0375\u05f3\u05f4\u30fb-]|\u200c|\u200d)+$/u

/** The address in `text`, which may have spaces around it; undefined if it is not exactly one. */
export function parseAddress(text: string): ParsedAddress | undefined {
  if (text.length > MAX_ADDRESS_TEXT_LENGTH) return undefined
  if (ASCII_ADDRESS.test(text) && !hasALabel(text)) return buildAsciiAddress(text.toLowerCase())
  const canonical = canonicalText(text)
  if (canonical === undefined) return undefined
  const at = canonical.lastIndexOf('@')
  const localPart = canonical.slice(0, Math.max(at, 0))
  const name = readDomain(canonical.slice(at + 1))
  if (!isLocalPart(localPart) || name === undefined) return undefined
  const domain = name.aLabels
  const wire = `${localPart}@${domain}`
  if (Buffer.byteLength(wire) > MAX_PATH_OCTETS) return undefined
  const address = `${localPart}@${name.uLabels}`
  return { address, localPart, domain, wire, needsSmtputf8: !isAscii(localPart) }
}

/** The A-label form of a host or domain name; undefined if it is invalid or has a single label. */
export function parseDomain(text: string): string | undefined {
  if (text.length > MAX_ADDRESS_TEXT_LENGTH) return undefined
  const canonical = canonicalText(text)
  return canonical === undefined ? undefined : readDomain(canonical.replace(/\.$/, ''))?.aLabels
}

/** A domain name for display: its U-labels. */
export function displayDomain(aLabel: string): string {
  return hasALabel(aLabel) ? domainToUnicode(aLabel) : aLabel
}

function buildAsciiAddress(address: string): ParsedAddress | undefined {
  const at = address.indexOf('@')
  if (at > MAX_LOCAL_PART_OCTETS || address.length > MAX_PATH_OCTETS) return undefined
  const localPart = address.slice(0, at)
  return { address, localPart, domain: address.slice(at + 1), wire: address, needsSmtputf8: false }
}

/** Trims, normalises (NFC) and lower-cases; undefined if there are control characters anywhere. */
function canonicalText(text: string): string | undefined {
  if (!isOneFieldLine(text) || !text.isWellFormed()) return undefined
  return comparable(text.trim())
}

/**
 * Outside ASCII, refuses separators, invisible and unassigned characters, characters that
 * compatibility normalisation changes (a full-width `@`), and a combining mark at the beginning,
 * which would combine with the `<` of a header field.
 */
function isLocalPart(text: string): boolean {
  if (!UNICODE_LOCAL_PART.test(text) || Buffer.byteLength(text) > MAX_LOCAL_PART_OCTETS)
    return false
  if (isAscii(text)) return true
  return !/^\p{M}|[\p{C}\p{Z}]/u.test(text) && normalize(text, 'NFKC') === text
}

/** A domain name in both forms. */
type DomainName = { aLabels: string; uLabels: string }

/**
 * `text`: a domain name in canonical form. Characters with a meaning in URLs never reach node:url,
 * whose conversions are slow. A name that two conversions leave unchanged skips the third.
 */
function readDomain(text: string): DomainName | undefined {
  if (isAscii(text) && !hasALabel(text)) {
    return isAsciiDomain(text) ? { aLabels: text, uLabels: text } : undefined
  }
  if (!UNICODE_DOMAIN.test(text)) return undefined
  const aLabels = domainToASCII(text)
  if (!isAsciiDomain(aLabels)) return undefined
  const uLabels = domainToUnicode(aLabels)
  if (hasALabel(uLabels)) return undefined
  const isIt = uLabels === text || isSameName(text, { aLabels, uLabels })
  return isIt ? { aLabels, uLabels } : undefined
}

/**
 * Whether each label of `text` is an A-label or U-label of the name, and the two forms of the name
 * agree.
 */
function isSameName(text: string, { aLabels, uLabels }: DomainName): boolean {
  if (!UNICODE_DOMAIN.test(uLabels) || domainToASCII(uLabels) !== aLabels) return false
  const [ascii, unicode] = [aLabels.split('.'), uLabels.split('.')]
  const labels = text.split('.')
  return labels.every((label, index) => label === unicode[index] || label === ascii[index])
}

function isAsciiDomain(text: string): boolean {
  return text.length >= 3 && text.length <= MAX_DOMAIN_LENGTH && ASCII_DOMAIN.test(text)
}

function hasALabel(text: string): boolean {
  return /(?:^|[@.])xn--/i.test(text)
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text)
}
