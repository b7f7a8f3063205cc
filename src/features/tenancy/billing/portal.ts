/** Opens Stripe's pages on which a customer changes cards, reads invoices and ends the subscription. */
import { AppError } from '../../../base/errors.ts'
import type { Base } from '../../ground/base.ts'
import type { Project } from '../accounts/rows.ts'
import { requireCustomer, requireStripe, type WithStripe } from './require-stripe.ts'
import { isFault } from './stripe-fault.ts'

/**
 * @throws AppError RESOURCE_NOT_FOUND without billing; BAD_REQUEST without a customer;
 *   EXTERNAL_SERVICE_ERROR
 */
export async function openPortal(
  deps: WithStripe & Pick<Base, 'config'>,
  project: Pick<Project, 'customer'>,
): Promise<{ url: string }> {
  const stripe = requireStripe(deps)
  const customer = requireCustomer(project)
  const params = { customer, return_url: `${deps.config.baseUrl}/app` }
  try {
    const { url } = await stripe.call((api) => api.billingPortal.sessions.create(params))
    return { url }
  } catch (error) {
    const isGone = isFault(error, 'refused') && error.stripeCode === 'resource_missing'
    if (!isGone) throw error
    throw new AppError('BAD_REQUEST', 'The payment provider has deleted the customer.', {
      cause: error,
    })
  }
}
