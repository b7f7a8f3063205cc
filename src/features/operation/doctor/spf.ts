/**
 * Whether SPF (RFC 7208) lets this server send with its return paths: of the domains whose own
 * return path is in use, and of `delivery.return_path_domain`, which all others share. Each is evaluated
 * for every address of this server, and its look-ups are counted.
 */
import { SECOND_MS } from '../../../base/clock.ts'
import { type ProbeDns, withinLimit } from '../../../outbound/probe/probes.ts'
import {
  type Check,
  type CheckContext,
  type CheckOutcome,
  type CheckPart,
  combine,
  failed,
  noAnswer,
  ok,
  skipped,
  skipUnlessDirect,
  warning,
} from './check.ts'
import { type CheckedDomain, countDomains } from './sender-domains.ts'

/** The most DNS look-ups that SPF allows (RFC 7208 section 4.6.4). */
const MAX_SPF_LOOKUPS = 10

/**
 * Counting stops here: the record is certainly over the limit, and a record that includes itself
 * has no end.
 */
const MAX_COUNTED = 25

const MAX_VOID_LOOKUPS = 2
const MAX_DOMAIN_MS = 15 * SECOND_MS

export const spfCheck: Check = {
  id: 'spf',
  run: async (context) => {
    const skip = skipUnlessDirect(context.config)
    if (skip !== undefined) return skip
    const { addresses, fault } = await context.facts.addresses()
    if (fault !== null) return skipped(`${fault}; see reverse_dns`)
    const domains = await context.facts.domains()
    const { returnPathDomain } = context.config.delivery
    const parts = await Promise.all([
      checkReturnPath(context, returnPathDomain, addresses),
      ...domains.checked.map((one) => checkDomain(context, one, addresses)),
    ])
    const most = Math.max(...parts.map(({ lookups = 0 }) => lookups))
    const summary = `${returnPathDomain} and the return paths of ${countDomains(domains)}: pass for ${addresses.join(', ')}; at most ${most} of ${MAX_SPF_LOOKUPS} look-ups`
    return combine(parts, summary)
  },
}

type SpfPart = CheckPart & { lookups?: number }

/**
 * Checks the own return path of a domain if its records are published. `return_path` checks where
 * the path leads.
 */
async function checkDomain(
  context: CheckContext,
  { name, record }: CheckedDomain,
  addresses: readonly string[],
): Promise<SpfPart> {
  if (record('return-path').state === 'missing') return skipped(`${name} uses the server's own`)
  return checkReturnPath(context, `bounce.${name}`, addresses)
}

/**
 * Checks one return path, with a time limit: slow DNS servers of one domain must not use up the
 * time of all others.
 */
function checkReturnPath(
  context: CheckContext,
  domain: string,
  addresses: readonly string[],
): Promise<SpfPart> {
  const late = () =>
    noAnswer(
      context.config,
      `${domain}: its SPF record took more than ${MAX_DOMAIN_MS / SECOND_MS} s`,
    )
  return withinLimit<SpfPart>(judgeReturnPath(context, domain, addresses), MAX_DOMAIN_MS, late)
}

async function judgeReturnPath(
  context: CheckContext,
  domain: string,
  addresses: readonly string[],
): Promise<SpfPart> {
  const { probes, config } = context
  const fix = `${domain}. IN TXT "v=spf1 mx ~all"`
  const answer = await probes.dns.txt(domain)
  if (answer.kind === 'failed') return noAnswer(config, `${domain}: ${answer.error}`)
  const lookups = await countSpfLookups(probes.dns, domain)
  const { count } = lookups
  if (count > MAX_SPF_LOOKUPS) {
    const shown = `${lookups.isCut ? 'more than ' : ''}${count}`
    const terms = lookups.terms.slice(0, 12).join(' ')
    return {
      ...failed(
        `${domain}: ${shown} look-ups, and at most ${MAX_SPF_LOOKUPS} are allowed: ${terms}`,
        fix,
      ),
      lookups: count,
    }
  }
  const outcomes = await Promise.all(
    addresses.map((address) => evaluate(context, { domain, address, fix })),
  )
  const combined = combine(outcomes, `${domain}: pass`)
  const isElsewhere = combined.status !== 'ok' && (await leadsElsewhere(context, domain))
  // `mx` in the SPF record stands for the hosts of the MX record. If these are wrong, that is the
  // only fault, and `return_path` reports it.
  const hostname = config.delivery.hostname
  return {
    ...(isElsewhere
      ? skipped(`${domain}: its MX record does not lead to ${hostname}; see return_path`)
      : combined),
    lookups: count,
  }
}

async function leadsElsewhere(
  { probes, config }: Pick<CheckContext, 'probes' | 'config'>,
  domain: string,
): Promise<boolean> {
  const answer = await probes.dns.mx(domain)
  if (answer.kind === 'failed') return false
  const hosts = answer.kind === 'found' ? answer.records.map(({ host }) => host) : []
  return !hosts.includes(config.delivery.hostname)
}

async function evaluate(
  { probes, config }: Pick<CheckContext, 'probes' | 'config'>,
  { domain, address, fix }: { domain: string; address: string; fix: string },
): Promise<CheckOutcome> {
  // Imported here, because a command that makes no checks does not need the library.
  const { spf } = await import('mailauth/lib/spf/index.js')
  const { hostname } = config.delivery
  const { status } = await spf({
    ...{ sender: `postmaster@${domain}`, ip: address, helo: hostname, mta: hostname },
    ...{ maxResolveCount: MAX_SPF_LOOKUPS, maxVoidCount: MAX_VOID_LOOKUPS, strict: true },
    maxElapsedTime: MAX_DOMAIN_MS,
    resolver: resolverFor(probes.dns),
  })
  const shown = `${domain} for ${address}: ${status.result}`
  const text = status.comment ? `${shown} (${status.comment})` : shown
  switch (status.result) {
    case 'pass':
      return ok(shown)
    case 'none':
      return warning(`${domain} has no SPF record`, fix)
    case 'neutral':
      return warning(text, fix)
    case 'temperror':
      return noAnswer(config, text)
    default:
      return failed(text, fix)
  }
}

/** Answers DNS queries of mailauth in the form of `Resolver.resolve` of node:dns. */
function resolverFor(dns: CheckContext['probes']['dns']) {
  return async (name: string, type: string): Promise<never> => {
    const answer = await queryOf(dns, name, type)
    if (answer.kind !== 'found') {
      const code = { nodata: 'ENODATA', nxdomain: 'ENOTFOUND', failed: 'ETIMEOUT' }[answer.kind]
      throw Object.assign(new Error(`${type} ${name}: ${code}`), { code })
    }
    return answer.records.map(toNodeRecord) as never
  }
}

function queryOf(dns: CheckContext['probes']['dns'], name: string, type: string) {
  switch (type) {
    case 'A':
      return dns.a(name)
    case 'AAAA':
      return dns.aaaa(name)
    case 'MX':
      return dns.mx(name)
    case 'PTR':
      return dns.ptr(name)
    case 'TXT':
      return textsOf(dns, name)
    default:
      throw Object.assign(new Error(`${type} is not asked for`), { code: 'ENODATA' })
  }
}

/** Returns the strings of the TXT records, one array for each record. */
async function textsOf(dns: CheckContext['probes']['dns'], name: string) {
  const answer = await dns.txt(name)
  if (answer.kind !== 'found') return answer
  return { ...answer, records: answer.records.map((text) => [text]) }
}

function toNodeRecord(record: unknown): unknown {
  if (typeof record !== 'object' || record === null || !('preference' in record)) return record
  const { preference, host } = record as { preference: number; host: string }
  return { priority: preference, exchange: host }
}

type SpfLookups = {
  count: number
  /** The terms that need a look-up, in the order of the record. */
  terms: string[]
  /** Whether counting stopped before the end of the record. */
  isCut: boolean
}

/**
 * Counts the DNS look-ups that a whole SPF record may cost (RFC 7208 section 4.6.4): `include`,
 * `a`, `mx`, `ptr`, `exists` and `redirect`, also those of included records. An evaluation ends at
 * the first match and may need fewer, but the matching term depends on the address and on other
 * people's records, so a record is safe only when all of it fits.
 *
 * `domain` is in A-labels. A name with macros counts, and its own record is not read.
 */
async function countSpfLookups(dns: Pick<ProbeDns, 'txt'>, domain: string): Promise<SpfLookups> {
  const counted: SpfLookups = { count: 0, terms: [], isCut: false }
  await countRecord(dns, domain, counted)
  return counted
}

async function countRecord(
  dns: Pick<ProbeDns, 'txt'>,
  domain: string,
  counted: SpfLookups,
): Promise<void> {
  const record = await findSpfRecord(dns, domain)
  if (record === undefined) return
  const terms = record.split(/ +/).slice(1)
  // `all` always matches: the terms after it are ignored, and so is `redirect` (section 5.1).
  const end = terms.findIndex((term) => /^[+\-~?]?all$/i.test(term))
  const hasAll = end !== -1
  for (const term of hasAll ? terms.slice(0, end) : terms) {
    const [, word = '', name = ''] =
      /^[+\-~?]?(include|a|mx|ptr|exists|redirect)(?:[:=]([^/]*))?(?:\/.*)?$/i.exec(term) ?? []
    const mechanism = word.toLowerCase()
    if (mechanism === '' || (mechanism === 'redirect' && hasAll)) continue
    if (counted.count >= MAX_COUNTED) {
      counted.isCut = true
      return
    }
    counted.count += 1
    counted.terms.push(term)
    const leadsOn = mechanism === 'include' || mechanism === 'redirect'
    if (leadsOn && name !== '' && !name.includes('%')) await countRecord(dns, name, counted)
  }
}

/** Finds the SPF record of a name; undefined if there is none, more than one, or no answer. */
async function findSpfRecord(
  dns: Pick<ProbeDns, 'txt'>,
  domain: string,
): Promise<string | undefined> {
  const answer = await dns.txt(domain)
  if (answer.kind !== 'found') return undefined
  const records = answer.records.filter((text) => /^v=spf1(?: |$)/i.test(text))
  return records.length === 1 ? records[0] : undefined
}
