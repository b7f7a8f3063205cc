/** Finds why a new account may not have an address (`accounts.verify_email_on_signup`). */
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import type { Base } from '../../../ground/base.ts'
import type { Verifier } from '../../../people/verification/verifier.ts'
import { verifyAddress } from '../../../people/verification/verify.ts'

export type AddressFaultDeps = Pick<Base, 'config' | 'now'> & { verifier: Verifier }

/**
 * Returns a sentence for the person who signs up that says why not; undefined if the address may be
 * used, or addresses are not checked.
 * @throws AppError EXTERNAL_SERVICE_ERROR when DNS gives no answer
 */
export async function findAddressFault(
  deps: AddressFaultDeps,
  { address }: Pick<ParsedAddress, 'address'>,
): Promise<string | undefined> {
  if (!deps.config.accounts.verifyEmailOnSignup) return undefined
  const found = await verifyAddress(deps, address)
  if (found.isDisposable) return 'Disposable email addresses cannot sign up.'
  if (found.isPlusAddressed) return 'Addresses with a plus before the @ cannot sign up.'
  if (!found.domainExists) return 'The domain of this email address does not exist.'
  return found.hasMxRecords ? undefined : 'The domain of this email address receives no mail.'
}
