/** Reads a DMARC record (RFC 7489 section 6.3). */

export type DmarcPolicy = 'none' | 'quarantine' | 'reject'

export type DmarcRecord = {
  /** For mail of the domain itself, and of its subdomains. */
  policy: DmarcPolicy
  subdomainPolicy: DmarcPolicy
  isDkimStrict: boolean
  isSpfStrict: boolean
  /** The share of mail that the policy applies to, in percent. */
  percent: number
  /** The domains of the addresses that get aggregate reports, in lower case. */
  reportDomains: string[]
}

const POLICIES: readonly string[] = ['none', 'quarantine', 'reject']

/** Whether a TXT record is meant as a DMARC record. */
export function isDmarcRecord(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text)
}

/** Returns what is wrong with the record in place of the record. */
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
