/**
 * The DNS records of a sender domain. Only the RSA key is required: it verifies the domain. The others
 * are recommended (a second signature, SPF alignment and bounces, DMARC), or are for projects that
 * receive replies here.
 */
import type { DNS_PURPOSES } from '../../../records/words.ts'
import type { Domain } from '../../../store/schema/domains.ts'
import type { RecordFinding } from '../../../store/schema/json-values.ts'
import { keyRecord } from './keys.ts'

export type RecordPurpose = (typeof DNS_PURPOSES)[number]

export type WantedRecord = {
  purpose: RecordPurpose
  /** In A-labels, without a final dot. */
  name: string
  type: 'TXT' | 'MX'
  /** For an MX record, the preference and the host. */
  value: string
  required: boolean
}

/** A wanted record with the result of the last check; `unknown` before the first check. */
export type DnsRecord = WantedRecord & Pick<RecordFinding, 'state' | 'found'>

const MX_PREFERENCE = 10
/** The octets of one string of a TXT record (RFC 1035 section 3.3). */
const MAX_STRING_BYTES = 255

/** `hostname`: `delivery.hostname`, the mail server that the MX records name. */
export function wantedRecords(domain: Domain, hostname: string): WantedRecord[] {
  const { domain: name } = domain
  const mailServer = `${MX_PREFERENCE} ${hostname}`
  return [
    {
      purpose: 'dkim',
      name: `${domain.rsaSelector}._domainkey.${name}`,
      type: 'TXT',
      value: keyRecord('rsa', domain.rsaPublicKey),
      required: true,
    },
    {
      purpose: 'dkim-ed25519',
      name: `${domain.ed25519Selector}._domainkey.${name}`,
      type: 'TXT',
      value: keyRecord('ed25519', domain.ed25519PublicKey),
      required: false,
    },
    {
      purpose: 'return-path',
      name: `bounce.${name}`,
      type: 'MX',
      value: mailServer,
      required: false,
    },
    {
      purpose: 'return-path-spf',
      name: `bounce.${name}`,
      type: 'TXT',
      value: 'v=spf1 mx ~all',
      required: false,
    },
    {
      purpose: 'dmarc',
      name: `_dmarc.${name}`,
      type: 'TXT',
      value: 'v=DMARC1; p=none',
      required: false,
    },
    { purpose: 'replies', name, type: 'MX', value: mailServer, required: false },
  ]
}

/** Returns a warning for people who publish this record; null for most records. */
export function describeRisk({ purpose, name }: { purpose: string; name: string }): string | null {
  if (purpose !== 'replies') return null
  return (
    `This record moves all mail of ${name} to this server, including mail to its present mailboxes. ` +
    `To receive only replies, add a separate domain, such as replies.${name}.`
  )
}

type ZoneLine = { name: string; type: string; value: string }

/** Formats a line of a zone file (RFC 1035 section 5.1). TXT is cut into strings of 255 octets. */
export function formatZoneLine({ name, type, value }: ZoneLine): string {
  if (type === 'MX') return `${name}. IN MX ${value}.`
  const octets = Buffer.from(value)
  const strings = Array.from({ length: Math.ceil(octets.length / MAX_STRING_BYTES) }, (_, index) =>
    octets.toString('latin1', index * MAX_STRING_BYTES, (index + 1) * MAX_STRING_BYTES),
  )
  const quoted = strings.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`)
  return `${name}. IN TXT ${quoted.join(' ')}`
}

/** Returns the wanted records with the states of the last check. */
export function describeRecords(domain: Domain, hostname: string): DnsRecord[] {
  const findings = new Map(domain.findings?.map((finding) => [finding.purpose, finding]))
  return wantedRecords(domain, hostname).map((record) => {
    const { state = 'unknown', found = [] } = findings.get(record.purpose) ?? {}
    return { ...record, state, found }
  })
}
