/** Sender domains in the API: the record with its DNS records, its verification, and the request that adds one. */
import { z } from 'zod'
import { MAX_DOMAIN_LENGTH } from '../formats/address/address.ts'
import { instant } from './fields.ts'
import { DNS_PURPOSES, DOMAIN_STATUSES } from './words.ts'

const dnsRecord = z
  .object({
    purpose: z.enum(DNS_PURPOSES),
    name: z.string(),
    type: z.string(),
    value: z.string(),
    required: z.boolean(),
    state: z
      .enum(['found', 'missing', 'different', 'unknown'])
      .meta({ description: 'The state of the record at the last check' }),
    found: z.array(z.string()).meta({ description: 'The values that the check found' }),
  })
  .meta({ id: 'DnsRecord' })

const status = z.enum(DOMAIN_STATUSES)
const selectors = z.array(z.string()).meta({ description: 'DKIM selectors' })

export const domainRecord = z
  .object({
    id: z.string(),
    domain: z.string(),
    verified: z.boolean(),
    trusted: z.boolean(),
    status,
    dkimTokens: selectors,
    records: z.array(dnsRecord),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Domain' })

export type DomainRecord = z.output<typeof domainRecord>

export const domainVerification = z
  .object({
    domain: z.string(),
    tokens: selectors,
    status,
    verified: z.boolean(),
    records: z.array(dnsRecord),
  })
  .meta({ id: 'DomainVerification' })

export const newDomain = z.object({
  projectId: z
    .string()
    .optional()
    .meta({ description: "The id of the request's own project; may be absent" }),
  domain: z
    .string()
    .trim()
    .min(3)
    .max(MAX_DOMAIN_LENGTH)
    .meta({ description: 'A host name such as example.com' }),
})

const records: DomainRecord['records'] = [
  {
    purpose: 'dkim',
    name: 'pb5e1ec70000._domainkey.example.com',
    type: 'TXT',
    value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkq…',
    required: true,
    state: 'found',
    found: ['v=DKIM1; k=rsa; p=MIIBIjANBgkq…'],
  },
  {
    purpose: 'dkim-ed25519',
    name: 'pb5e1ec70001._domainkey.example.com',
    type: 'TXT',
    value: 'v=DKIM1; k=ed25519; p=…',
    required: false,
    state: 'found',
    found: ['v=DKIM1; k=ed25519; p=…'],
  },
  {
    purpose: 'return-path',
    name: 'bounce.example.com',
    type: 'MX',
    value: '10 mx.pillarbox.test',
    required: false,
    state: 'found',
    found: ['10 mx.pillarbox.test'],
  },
  {
    purpose: 'return-path-spf',
    name: 'bounce.example.com',
    type: 'TXT',
    value: 'v=spf1 mx ~all',
    required: false,
    state: 'found',
    found: ['v=spf1 mx ~all'],
  },
  {
    purpose: 'dmarc',
    name: '_dmarc.example.com',
    type: 'TXT',
    value: 'v=DMARC1; p=none',
    required: false,
    state: 'found',
    found: ['v=DMARC1; p=none'],
  },
  {
    purpose: 'replies',
    name: 'example.com',
    type: 'MX',
    value: '10 mx.pillarbox.test',
    required: false,
    state: 'found',
    found: ['10 mx.pillarbox.test'],
  },
]

export const domainExample: DomainRecord = {
  id: '0199a7c0-0000-7000-8000-000000000002',
  domain: 'example.com',
  verified: true,
  trusted: false,
  status: 'Success',
  dkimTokens: ['pb5e1ec70000', 'pb5e1ec70001'],
  records,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}
