/**
 * Whether a message is from whom it says: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489). The
 * DNS is asked in bounded time and number; what it does not answer is PROCESSING_FAILED, and never
 * keeps the mail waiting.
 */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { dmarc } from 'mailauth/lib/dmarc/index.js'
import { spf } from 'mailauth/lib/spf/index.js'
import type { SenderVerdict, SenderVerdicts, Unread } from '../features/receiving/reading.ts'

/** As `Resolver.resolve` of node:dns: rejects with an error that has a `code`. */
export type ResolveDns = (name: string, type: string) => Promise<string[] | string[][]>

export type VerdictDeps = { resolve: ResolveDns; hostname: string }

const MAX_LOOKUPS = 50
/** Every one may cost a hash of the whole body. */
const MAX_SIGNATURES = 10
const MAX_HEADER_OCTETS = 262_144
/** What mailauth takes to read a field grows with the square of its lines. */
const MAX_HEADER_LINES = 5_000
const MAX_MS = 3_000

const failed: SenderVerdicts = {
  spf: 'PROCESSING_FAILED',
  dkim: 'PROCESSING_FAILED',
  dmarc: 'PROCESSING_FAILED',
}

type Checked = Pick<Unread, 'reversePath' | 'clientAddress' | 'clientName'> & { raw: Buffer }

/** Never rejects. */
export async function checkSender(deps: VerdictDeps, message: Checked): Promise<SenderVerdicts> {
  const header = headerOf(message.raw)
  if (countSignatures(header) > MAX_SIGNATURES || countLines(header) > MAX_HEADER_LINES) {
    return failed
  }
  const found = { ...failed }
  const { promise: timeOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, MAX_MS)
  await Promise.race([check(deps, message, found), timeOut])
  clearTimeout(timer)
  return { ...found }
}

/** Writes into `found` what it finds out, as it does. */
async function check(
  { resolve, hostname: mta }: VerdictDeps,
  { raw, reversePath: sender, clientAddress: ip, clientName: helo }: Checked,
  found: SenderVerdicts,
): Promise<void> {
  const resolver = limitLookups(resolve)
  const [signatures, path] = await Promise.all([
    dkimVerify(raw, { resolver, sender }).catch(() => undefined),
    spf({ resolver, sender, ip, helo, mta }).catch(() => undefined),
  ])
  const results = signatures?.results ?? []
  if (path !== undefined) found.spf = wordOf(path.status.result)
  if (signatures === undefined) return
  found.dkim = bestOf(results.map(({ status }) => status.result))
  if (path === undefined) return
  const policy = await dmarc({
    resolver,
    headerFrom: signatures.headerFrom,
    fromFields: signatures.fromFields,
    spfDomains: path.status.result === 'pass' && path.domain ? [path.domain] : [],
    dkimDomains: results.flatMap(({ signingDomain: domain, status }) =>
      status.result === 'pass' && domain ? [{ domain, aligned: status.aligned ?? false }] : [],
    ),
  }).catch(() => undefined)
  if (policy !== undefined) found.dmarc = policy ? wordOf(policy.status.result) : 'FAIL'
}

/** One signature that holds is enough (RFC 6376 section 6.1). */
function bestOf(results: readonly string[]): SenderVerdict {
  const words = results.map(wordOf)
  const order: SenderVerdict[] = ['PASS', 'PROCESSING_FAILED', 'FAIL']
  return order.find((word) => words.includes(word)) ?? 'GRAY'
}

/** Result names of RFC 8601 section 2.7. */
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

function limitLookups(resolve: ResolveDns): ResolveDns {
  let lookups = 0
  return async (name, type) => {
    lookups += 1
    if (lookups <= MAX_LOOKUPS) return resolve(name, type)
    throw Object.assign(new Error('too many look-ups for one message'), { code: 'ETIMEOUT' })
  }
}

function headerOf(raw: Buffer): string {
  const begin = raw.toString('latin1', 0, MAX_HEADER_OCTETS)
  const end = /\r?\n\r?\n/.exec(begin)?.index ?? begin.length
  return begin.slice(0, end)
}

function countSignatures(header: string): number {
  return header.match(/^(?:dkim|arc-message)-signature[ \t]*:/gim)?.length ?? 0
}

function countLines(header: string): number {
  return header.split('\n').length
}
