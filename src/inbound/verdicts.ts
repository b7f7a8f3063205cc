/**
 * Checks the sender of a message: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489). The number and the
 * time of DNS queries are limited. A verdict that lacks DNS answers is PROCESSING_FAILED, so that slow
 * DNS does not delay the mail for long.
 */
import { Readable } from 'node:stream'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { dmarc } from 'mailauth/lib/dmarc/index.js'
import { spf } from 'mailauth/lib/spf/index.js'
import { getDomain } from 'tldts'
import type {
  SenderVerdict,
  SenderVerdicts,
  UnparsedMessage,
} from '../features/incoming/receiving/process/parsed-message.ts'
import { MAX_HEADER_BYTES, MAX_LINE_OCTETS } from '../formats/limits.ts'
import { listReadable } from '../formats/txt-record.ts'

/** Queries DNS as `Resolver.resolve` of node:dns does: rejects with an error that has a `code`. */
export type ResolveDns = (name: string, type: string) => Promise<string[] | string[][]>

export type VerdictDeps = { resolve: ResolveDns; hostname: string }

const MAX_LOOKUPS = 50
/** Each signature may require another hash of the whole body. */
const MAX_SIGNATURES = 10
/**
 * The most lines of the header section: mailauth reads a field in a time that grows with the square of its
 * lines.
 */
const MAX_HEADER_LINES = 5_000
const MAX_MS = 3_000

const UNCHECKED: SenderVerdicts = {
  spf: 'PROCESSING_FAILED',
  dkim: 'PROCESSING_FAILED',
  dmarc: 'PROCESSING_FAILED',
}

type CheckedSender = {
  verdicts: SenderVerdicts
  /** Domains authenticated by SPF or a valid signature. */
  domains: string[]
}

type Message = Pick<UnparsedMessage, 'reversePath' | 'clientAddress' | 'clientName'> & {
  raw: Buffer
}

/** Returns the verdicts on the sender of a message. Never rejects. */
export async function checkSender(deps: VerdictDeps, message: Message): Promise<CheckedSender> {
  if (isCostly(headerOf(message.raw))) return { verdicts: UNCHECKED, domains: [] }
  const found: CheckedSender = { verdicts: { ...UNCHECKED }, domains: [] }
  const { promise: timeOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, MAX_MS)
  await Promise.race([check(deps, message, found), timeOut])
  clearTimeout(timer)
  return { verdicts: { ...found.verdicts }, domains: [...found.domains] }
}

/** Whether a domain is aligned with the author's: relaxed alignment (RFC 7489 section 3.1). */
export function isAligned(author: string, domains: readonly string[]): boolean {
  return domains.some((domain) => organizationOf(domain) === organizationOf(author))
}

/** Writes each verdict into the third argument as soon as it is known. */
async function check(
  { resolve, hostname: mta }: VerdictDeps,
  { raw, reversePath: sender, clientAddress: ip, clientName: helo }: Message,
  { verdicts, domains }: CheckedSender,
): Promise<void> {
  const resolver = limitLookups(resolve)
  // A stream of one piece: from a Buffer, mailauth copies each line again for each 64 KB of the
  // line.
  const [signatures, path] = await Promise.all([
    dkimVerify(Readable.from([raw]), { resolver, sender }).catch(() => undefined),
    spf({ resolver, sender, ip, helo, mta }).catch(() => undefined),
  ])
  const results = signatures?.results ?? []
  const spfDomains = path?.status.result === 'pass' && path.domain ? [path.domain] : []
  const dkimDomains = results.flatMap(({ signingDomain: domain, status }) =>
    status.result === 'pass' && domain ? [{ domain, aligned: status.aligned ?? false }] : [],
  )
  domains.push(...spfDomains, ...dkimDomains.map(({ domain }) => domain))
  if (path !== undefined) verdicts.spf = wordOf(path.status.result)
  if (signatures === undefined) return
  verdicts.dkim = bestOf(results.map(({ status }) => status.result))
  if (path === undefined) return
  const { headerFrom, fromFields } = signatures
  const policy = await dmarc({ resolver, headerFrom, fromFields, spfDomains, dkimDomains }).catch(
    () => undefined,
  )
  if (policy !== undefined) verdicts.dmarc = policy ? wordOf(policy.status.result) : 'FAIL'
}

/** Returns the best result: one valid signature is enough (RFC 6376 section 6.1). */
function bestOf(results: readonly string[]): SenderVerdict {
  const words = results.map(wordOf)
  const order: SenderVerdict[] = ['PASS', 'PROCESSING_FAILED', 'FAIL']
  return order.find((word) => words.includes(word)) ?? 'GRAY'
}

/** `result`: a result name of RFC 8601 section 2.7. */
function wordOf(result: string): SenderVerdict {
  switch (result) {
    case 'pass':
      return 'PASS'
    case 'fail':
    case 'policy':
    case 'permerror':
      return 'FAIL'
    case 'temperror':
      return 'PROCESSING_FAILED'
    default:
      return 'GRAY'
  }
}

function organizationOf(domain: string): string {
  const name = domain.toLowerCase().replace(/(?<!\.)\.+$/, '')
  return getDomain(name, { allowPrivateDomains: true }) ?? name
}

function limitLookups(resolve: ResolveDns): ResolveDns {
  let lookups = 0
  return async (name, type) => {
    lookups += 1
    if (lookups <= MAX_LOOKUPS) {
      const answer = await resolve(name, type)
      return type === 'TXT' ? listReadable(answer as string[][]) : answer
    }
    throw Object.assign(new Error('too many look-ups for one message'), { code: 'ETIMEOUT' })
  }
}

function headerOf(raw: Buffer): string {
  const begin = raw.toString('latin1', 0, MAX_HEADER_BYTES)
  const end = /\r?\n\r?\n/.exec(begin)?.index ?? begin.length
  return begin.slice(0, end)
}

/**
 * Whether mailauth takes too long to read the header section. A label that is not ASCII, for example of the
 * domain in From, takes the square of its length to normalise.
 */
function isCostly(header: string): boolean {
  if (countSignatures(header) > MAX_SIGNATURES) return true
  if (countLines(header) > MAX_HEADER_LINES) return true
  const runs = header.match(/[\x80-\xff]+/g) ?? []
  return runs.some(({ length }) => length > MAX_LINE_OCTETS)
}

function countSignatures(header: string): number {
  return header.match(/^(?:dkim|arc-message)-signature[ \t]*:/gim)?.length ?? 0
}

function countLines(header: string): number {
  return header.split('\n').length
}
