/**
 * Accepts tests: mail that shows people of the project what a campaign, a template or a text would look
 * like. A test is transactional mail, in the queue class of `POST /v1/send`, with a marked subject and the
 * header `X-Pillarbox-Test`. A test is never tracked, belongs to no campaign and no template, is in no
 * figure, and is sent whatever the subscription of its contact. It counts for the limits of the project.
 */
import { AppError, type FieldError } from '../../../base/errors.ts'
import { TRANSACTIONAL_CLASS } from '../../../base/queue-class.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { acceptEmails, weighPlan } from '../../mail/messages/accept/accept-emails.ts'
import type { AcceptDeps, AcceptedEmail } from '../../mail/messages/accept/email-drafts.ts'
import type { EmailOrigin, EmailPlan } from '../../mail/messages/accept/plan.ts'
import { findKnownAddresses } from '../../people/contacts/read/known-addresses.ts'
import { findMemberAddresses } from '../../tenancy/accounts/members/members.ts'

export type TestDeps = AcceptDeps & Pick<Base, 'store' | 'directory' | 'now'>

/** `addresses`: the addresses of all plans, each once, in the order of the answer. */
type TestPlans = {
  projectId: string
  plans: readonly EmailPlan[]
  addresses: readonly ParsedAddress[]
  /** Returns the field of the request that has the address; if absent, the error names no field. */
  fieldOf?: (address: string) => string
}

export const TEST_ORIGIN: EmailOrigin = {
  source: 'TRANSACTIONAL',
  class: TRANSACTIONAL_CLASS,
  isTest: true,
}

export function markSubject(subject: string): string {
  return `[TEST] ${subject}`
}

/**
 * Checks that a test may go to the addresses, where `accounts.tests_to_members_only` is set.
 * @throws AppError FORBIDDEN for an address of no member
 */
export async function refuseStrangers(
  deps: Pick<Base, 'store' | 'config'>,
  projectId: string,
  addresses: readonly ParsedAddress[],
): Promise<void> {
  if (!deps.config.accounts.testsToMembersOnly) return
  const given = addresses.map(({ address }) => address)
  const members = await findMemberAddresses(deps, projectId, given)
  const stranger = given.find((address) => !members.has(address))
  if (stranger === undefined) return
  throw new AppError('FORBIDDEN', `${stranger} is not the address of a member of this project.`, {
    suggestion: 'On this server, tests go to members of the project only.',
  })
}

/**
 * Writes the emails of all plans in one transaction. Returns them in the order of `addresses`.
 * @throws AppError BAD_REQUEST for a suppressed address, RATE_LIMIT_EXCEEDED
 *   (`limits.new_project_daily`), BILLING_LIMIT_EXCEEDED: then nothing is written
 */
export async function acceptTests(
  deps: TestDeps,
  { projectId, plans, addresses, fieldOf }: TestPlans,
): Promise<AcceptedEmail[]> {
  const order = addresses.map(({ address }) => address)
  const write = async (tx: Tx) => {
    await refuseSuppressed(tx, projectId, { addresses: order, fieldOf })
    const accepted: AcceptedEmail[] = []
    for (const plan of plans) accepted.push(...(await acceptEmails(deps, tx, plan)))
    return accepted
  }
  const heavyFor = plans.some((plan) => weighPlan(plan).isHeavy) ? projectId : undefined
  const emails = await deps.store.write(write, { heavyFor })
  const placeOf = ({ recipient }: AcceptedEmail) => order.indexOf(recipient)
  return emails.toSorted((one, other) => placeOf(one) - placeOf(other))
}

async function refuseSuppressed(
  tx: Tx,
  projectId: string,
  { addresses, fieldOf }: { addresses: readonly string[]; fieldOf: TestPlans['fieldOf'] },
): Promise<void> {
  const { suppressed } = await findKnownAddresses(tx, projectId, addresses)
  const first = addresses.find((address) => suppressed.has(address))
  if (first === undefined) return
  const fault = (field: string): FieldError[] => [
    { field, code: 'suppressed', message: `${first} is suppressed` },
  ]
  throw new AppError('BAD_REQUEST', `${first} is suppressed: nothing was sent.`, {
    suggestion: 'Remove the address from the suppression list, or send the test to another one.',
    ...(fieldOf !== undefined && { fields: fault(fieldOf(first)) }),
  })
}
