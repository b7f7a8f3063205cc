/**
 * Whether each sender domain has a DMARC policy (RFC 7489) that its mail passes. The record is the
 * domain's own, else that of its organisation. Mail passes when the domain of the signature or that of
 * the return path is aligned with the domain of From. Large receivers expect both.
 *
 *   signature     d= is the sender domain itself: aligned, also strictly
 *   return path   bounce.<domain>, else the server's own: `aspf=s` admits neither
 */
import { getDomain } from 'tldts'
import {
  type Check,
  type CheckContext,
  type CheckPart,
  combine,
  failed,
  noAnswer,
  ok,
  skipInSandbox,
  skipped,
  warning,
} from './check.ts'
import { type CheckedDomain, countDomains } from './sender-domains.ts'

const POLICIES: readonly string[] = ['none', 'quarantine', 'reject']
const MAX_REPORT_DOMAINS = 3
const MAX_REPEATED = 300

export const dmarcCheck: Check = {
  id: 'dmarc',
  run: async (context) => {
    const skip = skipInSandbox(context.config)
    if (skip !== undefined) return skip
    const domains = await context.facts.domains()
    if (domains.total === 0) return skipped('no project has a verified domain')
    const parts = await Promise.all(domains.checked.map((one) => checkDomain(context, one)))
    return combine(parts, `${countDomains(domains)}: ${parts[0]?.evidence ?? ''}`)
  },
}

type FoundRecord = { at: string; text: string; isOfOrganization: boolean }

async function checkDomain(context: CheckContext, sender: CheckedDomain): Promise<CheckPart> {
  const fix = `_dmarc.${sender.name}. IN TXT "v=DMARC1; p=none"`
  const found = await findRecord(context, sender.name)
  if (typeof found === 'string') return warning(found, fix)
  if ('error' in found) return noAnswer(context.config, found.error)
  const record = parseDmarcRecord(found.text)
  if (typeof record === 'string') return failed(`${found.at}: ${record}: ${found.text}`, fix)
  const misaligned = judgeAlignment(context, { sender, found, record })
  if (misaligned !== undefined) return misaligned
  const unauthorized = await findUnauthorized(context, { sender, found, record })
  if (unauthorized !== undefined) return unauthorized
  const policy = found.isOfOrganization ? record.subdomainPolicy : record.policy
  const share = record.percent === 100 ? '' : ` for ${record.percent}%`
  return ok(`${sender.name}: p=${policy}${share}, signature and return path are aligned`)
}

/**
 * Returns the record; a text with the reason if there is none; or an `error` if DNS gave no answer.
 */
async function findRecord(
  { probes }: Pick<CheckContext, 'probes'>,
  domain: string,
): Promise<FoundRecord | { error: string } | string> {
  const organization = organizationOf(domain)
  const names = organization === domain ? [domain] : [domain, organization]
  for (const name of names) {
    const at = `_dmarc.${name}`
    const answer = await probes.dns.txt(at)
    if (answer.kind === 'failed') return { error: `${at}: ${answer.error}` }
    const records = answer.kind === 'found' ? answer.records.filter(isDmarcRecord) : []
    if (records.length > 1) return `${at} has ${records.length} DMARC records, which count as none`
    const [text] = records
    if (text !== undefined) return { at, text, isOfOrganization: name !== domain }
  }
  return `${domain} has no DMARC record`
}

type Judged = { sender: CheckedDomain; found: FoundRecord; record: DmarcRecord }

/**
 * Judges the alignment of the return path. The domain of the signature always is the domain of
 * From, so only the return path can be misaligned.
 */
function judgeAlignment(
  { config }: Pick<CheckContext, 'config'>,
  { sender, found, record }: Judged,
): CheckPart | undefined {
  const { name } = sender
  const isOwn = sender.record('return-path').state !== 'missing'
  const returnPath = isOwn ? `bounce.${name}` : config.delivery.returnPathDomain
  const isRelaxed = organizationOf(returnPath) === organizationOf(name)
  const isAligned = record.isSpfStrict ? returnPath === name : isRelaxed
  if (isAligned) return undefined
  const effect = `only the DKIM signature makes mail pass`
  if (record.isSpfStrict) {
    const text = `${found.at} has aspf=s, and the return path is at ${returnPath}: ${effect}`
    return warning(text, `${found.at}. IN TXT "${relaxed(found.text)}"`)
  }
  const lines = [sender.record('return-path').zoneLine, sender.record('return-path-spf').zoneLine]
  return warning(`the return path of ${name} is at ${returnPath}: ${effect}`, lines.join('\n'))
}

/**
 * Returns the record with relaxed alignment of SPF, to be pasted. The record is a stranger's text:
 * its quotes are escaped, and a long record is replaced by a short one.
 */
function relaxed(text: string): string {
  if (text.length > MAX_REPEATED) return 'v=DMARC1; p=none'
  return text.replace(/aspf\s*=\s*s/i, 'aspf=r').replace(/["\\]/g, '\\$&')
}

/**
 * Finds domains that may get no reports of this domain. Reports go to another organisation only
 * with its consent (RFC 7489 section 7.1).
 */
async function findUnauthorized(
  { probes }: Pick<CheckContext, 'probes'>,
  { sender, found, record }: Judged,
): Promise<CheckPart | undefined> {
  const owner = found.at.slice('_dmarc.'.length)
  const others = record.reportDomains.filter(
    (domain) => organizationOf(domain) !== organizationOf(owner),
  )
  for (const domain of others.slice(0, MAX_REPORT_DOMAINS)) {
    const at = `${owner}._report._dmarc.${domain}`
    const answer = await probes.dns.txt(at)
    if (answer.kind === 'failed') continue
    const texts = answer.kind === 'found' ? answer.records : []
    if (!texts.some(isDmarcRecord)) {
      const text = `${sender.name}: ${domain} does not take the reports that rua= sends there`
      return warning(text, `${at}. IN TXT "v=DMARC1"`)
    }
  }
  return undefined
}

function organizationOf(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: true }) ?? domain
}

type DmarcPolicy = 'none' | 'quarantine' | 'reject'

type DmarcRecord = {
  /** The policy for mail of the domain itself and of its subdomains. */
  policy: DmarcPolicy
  subdomainPolicy: DmarcPolicy
  isDkimStrict: boolean
  isSpfStrict: boolean
  /** The share of mail that the policy applies to, in percent. */
  percent: number
  /** The domains of the addresses that get aggregate reports, in lower case. */
  reportDomains: string[]
}

/** Whether a TXT record is meant as a DMARC record. */
export function isDmarcRecord(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text)
}

/**
 * Reads a DMARC record (RFC 7489 section 6.3). Returns a text that describes the fault if the
 * record is wrong.
 */
export function parseDmarcRecord(text: string): DmarcRecord | string {
  const tags = new Map(
    text.split(';').flatMap((part) => {
      const at = part.indexOf('=')
      const name = part.slice(0, Math.max(0, at)).trim()
      return /^\w+$/.test(name) ? [[name.toLowerCase(), part.slice(at + 1).trim()] as const] : []
    }),
  )
  const policy = tags.get('p')?.toLowerCase()
  if (!isPolicy(policy)) return policy === undefined ? 'it has no p=' : `p=${policy} means nothing`
  const subdomainPolicy = tags.get('sp')?.toLowerCase() ?? policy
  if (!isPolicy(subdomainPolicy)) return `sp=${subdomainPolicy} means nothing`
  for (const name of ['adkim', 'aspf']) {
    const value = tags.get(name)?.toLowerCase() ?? 'r'
    if (value !== 'r' && value !== 's') return `${name}=${value} means nothing`
  }
  const percent = tags.get('pct') ?? '100'
  if (!/^\d{1,3}$/.test(percent) || Number(percent) > 100) return `pct=${percent} means nothing`
  return {
    ...{ policy, subdomainPolicy, percent: Number(percent) },
    isDkimStrict: tags.get('adkim')?.toLowerCase() === 's',
    isSpfStrict: tags.get('aspf')?.toLowerCase() === 's',
    reportDomains: readReportDomains(tags.get('rua') ?? ''),
  }
}

function isPolicy(text: string | undefined): text is DmarcPolicy {
  return text !== undefined && POLICIES.includes(text)
}

function readReportDomains(text: string): string[] {
  const domains = text.split(',').flatMap((uri) => {
    const [, domain] = /^\s*mailto:[^@\s]+@([a-z0-9.-]+)(?:![0-9]+[kmgt]?)?\s*$/i.exec(uri) ?? []
    return domain === undefined ? [] : [domain.toLowerCase()]
  })
  return [...new Set(domains)]
}
