import type { Tx } from '../../../../store/write/transaction.ts'
import { isDomainHeld } from '../queue/holds.ts'
import type { EmailPlan } from './plan.ts'

/** Returns the held domains of the recipients; a hold in the cache may have ended by now. */
export async function confirmHeld(
  tx: Tx,
  plans: readonly Pick<EmailPlan, 'request' | 'heldDomains'>[],
): Promise<Set<string>> {
  const asked = new Set<string>()
  const held = new Set<string>()
  for (const { request, heldDomains } of plans) {
    if (heldDomains.size === 0) continue
    for (const { address } of request.to) {
      const { domain } = address
      if (asked.has(domain) || !heldDomains.has(domain)) continue
      asked.add(domain)
      if (await isDomainHeld(tx, domain)) held.add(domain)
    }
  }
  return held
}
