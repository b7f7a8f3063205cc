/**
 * Whether DNS has both keys that mail of each sender domain is signed with (RFC 6376, RFC 8463). A
 * second key that was never published is no fault: mail then has one signature.
 */
import type { Check, CheckContext } from './check.ts'
import {
  combine,
  failed,
  noAnswer,
  ok,
  type Part,
  skipInSandbox,
  skipped,
  warning,
} from './outcome.ts'
import { countDomains, type SenderDomain } from './sender-domains.ts'

export const dkimCheck: Check = {
  id: 'dkim',
  run: async ({ config, facts }) => {
    const skip = skipInSandbox(config)
    if (skip !== undefined) return skip
    const domains = await facts.domains()
    if (domains.total === 0) return skipped('no project has a verified domain')
    const parts = domains.checked.flatMap((one) => [
      checkKey(config, one, 'dkim'),
      checkKey(config, one, 'dkim-ed25519'),
    ])
    return combine(parts, `${countDomains(domains)}: both keys are published`)
  },
}

function checkKey(
  config: CheckContext['config'],
  { name, domain, record }: SenderDomain,
  purpose: 'dkim' | 'dkim-ed25519',
): Part {
  const { state, found, zoneLine } = record(purpose)
  const isUsed = purpose === 'dkim' || domain.isEd25519Found
  const selector = purpose === 'dkim' ? domain.rsaSelector : domain.ed25519Selector
  const at = `${selector}._domainkey.${name}`
  switch (state) {
    case 'found':
      return ok(at)
    case 'different':
      return failed(`${at} has another key: ${found.join(' | ').slice(0, MAX_SHOWN)}`, zoneLine)
    case 'missing':
      return isUsed
        ? failed(`${at} does not exist, and mail is signed with this key`, zoneLine)
        : warning(`${at} does not exist, so mail has no Ed25519 signature`, zoneLine)
    case 'unknown':
      return noAnswer(config, `${at}: DNS gave no answer`)
  }
}

const MAX_SHOWN = 120
