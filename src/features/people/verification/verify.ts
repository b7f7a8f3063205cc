/** Verifies one address for a caller that waits (`POST /v1/verify`). */
import { AppError } from '../../../base/errors.ts'
import type { Verification } from '../../../records/verification.ts'
import type { Base } from '../../ground/base.ts'
import { assessAddress, assessDomain, assessMalformed, readVerifiableAddress } from './assess.ts'
import { findDomainFacts } from './domain-facts.ts'
import type { Verifier } from './verifier.ts'

/**
 * Verifies any text; a text that is not an address is invalid.
 * @throws AppError EXTERNAL_SERVICE_ERROR (503) if the name servers give no answer (a domain that
 *   does not exist is an answer), and the errors of `Turns.take`
 */
export async function verifyAddress(
  { verifier, now }: Pick<Base, 'now'> & { verifier: Verifier },
  text: string,
): Promise<Verification> {
  const read = readVerifiableAddress(text)
  if (read === undefined) return assessMalformed(text)
  const { domain } = read.address
  const question = { domain, withWebsite: true }
  const facts = await verifier.turns.take(() => findDomainFacts(verifier.dns, question))
  if (facts.kind === 'unknown') {
    const publicText = `The name servers of ${domain} gave no answer (${facts.error}).`
    const details = { retryAfter: Math.max(1, Math.ceil((facts.retryAt - now()) / 1000)) }
    throw new AppError('EXTERNAL_SERVICE_ERROR', publicText, { details })
  }
  const assessment = assessDomain({ domain, facts, traits: await verifier.lists.load() })
  return assessAddress({ ...read, assessment })
}
