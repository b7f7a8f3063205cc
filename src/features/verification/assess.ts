/**
 * What is said of an address (contract 14), from what is known of its domain. Only the format, a
 * domain that does not exist and one that takes no mail make it invalid; that it is disposable,
 * forwards, is mistyped or has a plus in it is for the caller to weigh. No mail server is asked.
 */
import { displayDomain, type ParsedAddress } from '../../mail/address/address.ts'
import type { DomainFacts } from './domain-facts.ts'
import type { KnownDomains } from './domain-lists/domain-lists.ts'
import { suggestDomain } from './suggest-domain.ts'

export type Verification = {
  /** As given. */
  email: string
  valid: boolean
  isDisposable: boolean
  isAlias: boolean
  isTypo: boolean
  isPlusAddressed: boolean
  isPersonalEmail: boolean
  domainExists: boolean
  /** Where nobody could say: false, and a reason that says so. */
  hasWebsite: boolean
  hasMxRecords: boolean
  /** English, for people; never empty. */
  reasons: string[]
  /** Where a typo is suspected. */
  suggestedEmail?: string
}

/** `text` is no address. */
export function assessMalformed(text: string): Verification {
  return {
    email: text,
    valid: false,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: false,
    hasWebsite: false,
    hasMxRecords: false,
    reasons: ['This is not an email address'],
  }
}

/** What is said of all addresses of a domain. */
export type DomainAssessment = {
  facts: DomainFacts
  lists: Pick<Verification, 'isDisposable' | 'isAlias' | 'isPersonalEmail'>
  hasMxRecords: boolean
  /** The domain that was meant, where this one is a mistyped one. */
  suggested: string | undefined
}

export type DomainEvidence = {
  /** In A-labels. */
  domain: string
  facts: DomainFacts
  known: KnownDomains
}

/** Takes a hundred times as long as `assessAddress`: who has many addresses does it once for each domain. */
export function assessDomain({ domain, facts, known }: DomainEvidence): DomainAssessment {
  const hasMxRecords = facts.kind === 'there' && facts.mail === 'mx'
  const lists = {
    isDisposable: known.isDisposable(domain),
    isAlias: known.isAlias(domain),
    isPersonalEmail: known.isFree(domain),
  }
  // What is on a list is a name of its own, whatever has become of it.
  const isListed = Object.values(lists).includes(true)
  const takesMail = isListed || facts.kind === 'unknown' ? undefined : hasMxRecords
  return { facts, lists, hasMxRecords, suggested: suggestDomain({ domain, takesMail }) }
}

export type Evidence = {
  /** As given. */
  text: string
  address: ParsedAddress
  verdict: DomainAssessment
}

/** Of a domain that nobody can speak for, `valid` and all that DNS tells are false. */
export function assessAddress({ text, address, verdict }: Evidence): Verification {
  const { domain, localPart } = address
  const { facts, lists, hasMxRecords, suggested } = verdict
  const verification: Verification = {
    email: text,
    valid: hasMxRecords,
    ...lists,
    isTypo: suggested !== undefined,
    isPlusAddressed: localPart.includes('+'),
    domainExists: facts.kind === 'there',
    hasWebsite: facts.kind === 'there' && facts.website === 'found',
    hasMxRecords,
    reasons: [],
  }
  if (suggested !== undefined) verification.suggestedEmail = `${localPart}@${suggested}`
  verification.reasons = listReasons(verification, { domain: displayDomain(domain), facts })
  return verification
}

function listReasons(
  verification: Verification,
  { domain, facts }: { domain: string; facts: DomainFacts },
): string[] {
  const { isDisposable, isAlias, isPlusAddressed, suggestedEmail } = verification
  const reasons = reasonsOfFacts(domain, facts)
  if (suggestedEmail !== undefined) {
    reasons.push(`The domain looks mistyped: perhaps ${suggestedEmail} is meant`)
  }
  if (isDisposable) reasons.push(`${domain} gives out disposable addresses`)
  if (isAlias) reasons.push(`${domain} forwards to an address that it hides`)
  if (isPlusAddressed) reasons.push('The part before the @ has a plus in it, as aliases have')
  if (reasons.length > 0) return reasons
  return ['The address is well formed and its domain takes mail']
}

function reasonsOfFacts(domain: string, facts: DomainFacts): string[] {
  if (facts.kind === 'unknown') return [`The name servers of ${domain} gave no answer`]
  if (facts.kind === 'missing') return [`The domain ${domain} does not exist`]
  const reasons: string[] = []
  if (facts.mail === 'none') reasons.push(`${domain} has no MX record`)
  if (facts.mail === 'refused') reasons.push(`${domain} says that it takes no mail (null MX)`)
  if (facts.website === 'unknown') {
    reasons.push(`Whether ${domain} has a website could not be found out`)
  }
  return reasons
}
