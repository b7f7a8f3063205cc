/**
 * Assesses an address by the facts about its domain. An address is invalid if it is malformed, or
 * if its domain does not exist or accepts no mail. The caller weighs the other findings:
 * disposable, forwarding, mistyped, plus-addressed. No mail server is contacted.
 */
import {
  displayDomain,
  type ParsedAddress,
  parseAddress,
} from '../../../formats/address/address.ts'
import { parseShownAddress } from '../../../formats/address/named-mailbox.ts'
import type { Verification } from '../../../records/verification.ts'
import type { DomainFacts } from './domain-facts.ts'
import type { DomainTraits } from './domain-lists.ts'
import { suggestDomain } from './suggest-domain.ts'

/**
 * `text`: the text that the result shows: the given one, or for `a@example.com <a@example.com>` the
 * address alone.
 */
type VerifiableAddress = { text: string; address: ParsedAddress }

/** The result for a text that is not an address. */
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

/** The findings that all addresses of a domain share. */
export type DomainAssessment = {
  facts: DomainFacts
  lists: Pick<Verification, 'isDisposable' | 'isAlias' | 'isPersonalEmail'>
  hasMxRecords: boolean
  /** The domain that is probably meant, if this one looks mistyped. */
  suggested: string | undefined
}

type DomainEvidence = {
  /** In A-labels. */
  domain: string
  facts: DomainFacts
  traits: DomainTraits
}

/** Takes a hundred times as long as `assessAddress`: call it once per domain. */
export function assessDomain({ domain, facts, traits }: DomainEvidence): DomainAssessment {
  const hasMxRecords = facts.kind === 'there' && facts.mail === 'mx'
  const lists = {
    isDisposable: traits.isDisposable(domain),
    isAlias: traits.isAlias(domain),
    isPersonalEmail: traits.isFree(domain),
  }
  // A listed domain exists on purpose, so it is no typo, even if DNS denies it now.
  const isListed = Object.values(lists).includes(true)
  const acceptsMail = isListed || facts.kind === 'unknown' ? undefined : hasMxRecords
  return { facts, lists, hasMxRecords, suggested: suggestDomain({ domain, acceptsMail }) }
}

type Evidence = VerifiableAddress & { assessment: DomainAssessment }

/** If DNS gives no answer, `valid` and the properties from DNS are false. */
export function assessAddress({ text, address, assessment }: Evidence): Verification {
  const { domain, localPart } = address
  const { facts, lists, hasMxRecords, suggested } = assessment
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

/** Undefined for a text that is not an address. */
export function readVerifiableAddress(text: string): VerifiableAddress | undefined {
  const plain = parseAddress(text)
  if (plain !== undefined) return { text, address: plain }
  const shown = parseShownAddress(text)
  return shown === undefined ? undefined : { text: shown.address, address: shown }
}

function listReasons(
  verification: Verification,
  { domain, facts }: { domain: string; facts: DomainFacts },
): string[] {
  const { isDisposable, isAlias, isPlusAddressed, suggestedEmail } = verification
  const reasons = listDnsReasons(domain, facts)
  if (suggestedEmail !== undefined) {
    reasons.push(`The domain looks mistyped: perhaps ${suggestedEmail} is meant`)
  }
  if (isDisposable) reasons.push(`${domain} provides disposable addresses`)
  if (isAlias) reasons.push(`${domain} forwards to an address that it hides`)
  if (isPlusAddressed) reasons.push('The part before the @ contains a plus, as aliases do')
  if (reasons.length > 0) return reasons
  return ['The address is well formed and its domain accepts mail']
}

function listDnsReasons(domain: string, facts: DomainFacts): string[] {
  if (facts.kind === 'unknown') return [`The name servers of ${domain} gave no answer`]
  if (facts.kind === 'missing') return [`The domain ${domain} does not exist`]
  const reasons: string[] = []
  if (facts.mail === 'none') reasons.push(`${domain} has no MX record`)
  if (facts.mail === 'refused') reasons.push(`${domain} declares that it accepts no mail (null MX)`)
  if (facts.website === 'unknown') {
    reasons.push(`The name servers did not say whether ${domain} has a website`)
  }
  return reasons
}
