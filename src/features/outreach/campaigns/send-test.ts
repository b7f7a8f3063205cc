/**
 * Sends a test of a campaign with its present content. A test is transactional mail, in the queue
 * class of `POST /v1/send`, with a marked subject. Tests are never tracked, belong to no campaign,
 * and are sent whatever the subscription of the contact and the state of the campaign.
 */
import { AppError } from '../../../base/errors.ts'
import { TRANSACTIONAL_CLASS } from '../../../base/queue-class.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import { and, eq, inArray, isNotNull } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Campaign } from '../../../store/schema/campaigns.ts'
import { type Contact, contacts } from '../../../store/schema/contacts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { SenderDomain } from '../../ground/directory.ts'
import { acceptEmails, weighPlan } from '../../mail/messages/accept/accept-emails.ts'
import type { AcceptDeps, AcceptedEmail } from '../../mail/messages/accept/email-drafts.ts'
import type { EmailPlan } from '../../mail/messages/accept/plan.ts'
import { walkContacts } from '../../people/contacts/list/walk.ts'
import { loadContact } from '../../people/contacts/read/find-contact.ts'
import { findKnownAddresses } from '../../people/contacts/read/known-addresses.ts'
import { findMemberAddresses } from '../../tenancy/accounts/members/members.ts'
import { audienceScope, recipientScope } from './audience/scope.ts'
import { type FoundCampaign, loadCampaign } from './campaign.ts'
import { requireSenderDomain } from './sending/send.ts'

type TestDeps = AcceptDeps & Pick<Base, 'store' | 'directory' | 'now'>

export type TestRequest = {
  campaignId: string
  /** The addresses to send to; an address that occurs twice gets one email. */
  addresses: readonly ParsedAddress[]
  /**
   * The contact whose data the message shows. By default: the contact with the address, if it has
   * data, else the first contact of the audience.
   */
  contactId?: string | undefined
}

const SUBJECT_MARK = '[TEST] '

/**
 * @throws AppError CAMPAIGN_NOT_FOUND, CONTACT_NOT_FOUND; FORBIDDEN (sender domain, address of no
 *   member); BAD_REQUEST for a suppressed address, RATE_LIMIT_EXCEEDED
 *   (`limits.new_project_daily`), BILLING_LIMIT_EXCEEDED: then nothing is sent
 */
export async function sendTest(
  deps: TestDeps,
  project: Project,
  request: TestRequest,
): Promise<{ emails: AcceptedEmail[]; at: number }> {
  const { campaignId, contactId } = request
  const { id: projectId } = project
  const campaign = await loadCampaign(deps.store.read, { projectId, id: campaignId })
  const reader =
    contactId === undefined ? undefined : await loadContact(deps, { projectId, id: contactId })
  const addresses = distinct(request.addresses)
  await checkMembers(deps, projectId, addresses)
  const senderDomain = await requireSenderDomain(deps, campaign)
  const at = deps.now()
  const heldDomains = await deps.directory.heldDomains()
  const groups =
    reader === undefined
      ? await groupByReader(deps, { campaign, addresses })
      : [{ addresses, reader }]
  const plans = groups.map((group): EmailPlan => {
    const test = planTest(campaign, { project, senderDomain, addresses: group.addresses, at })
    return { ...test, heldDomains, reader: group.reader }
  })
  const write = async (tx: Tx) => {
    await refuseSuppressed(tx, projectId, addresses)
    const accepted: AcceptedEmail[] = []
    for (const plan of plans) accepted.push(...(await acceptEmails(deps, tx, plan)))
    return accepted
  }
  const heavyFor = plans.some((plan) => weighPlan(plan).isHeavy) ? projectId : undefined
  const emails = await deps.store.write(write, { heavyFor })
  const order = addresses.map(({ address }) => address)
  const placeOf = ({ recipient }: AcceptedEmail) => order.indexOf(recipient)
  return { emails: emails.toSorted((one, other) => placeOf(one) - placeOf(other)), at }
}

type TestGroup = { addresses: ParsedAddress[]; reader: Contact | undefined }

/**
 * Groups the addresses by the contact whose data their message shows. For an address whose contact
 * has no data, this is the first contact of the audience: otherwise the text would be full of gaps.
 */
async function groupByReader(
  deps: TestDeps,
  { campaign, addresses }: { campaign: FoundCampaign; addresses: ParsedAddress[] },
): Promise<TestGroup[]> {
  const rows = await deps.store.read
    .select({ address: contacts.address })
    .from(contacts)
    .where(
      and(
        eq(contacts.projectId, campaign.projectId),
        inArray(
          contacts.address,
          addresses.map(({ address }) => address),
        ),
        isNotNull(contacts.data),
      ),
    )
  const known = new Set(rows.map(({ address }) => address))
  const strangers = addresses.filter(({ address }) => !known.has(address))
  const first = strangers.length === 0 ? undefined : await findFirst(deps, campaign)
  if (first === undefined) return [{ addresses, reader: undefined }]
  const others = addresses.filter(({ address }) => known.has(address))
  const groups = [
    { addresses: others, reader: undefined },
    { addresses: strangers, reader: first },
  ]
  return groups.filter((group) => group.addresses.length > 0)
}

/** The first contact of the audience that would get the campaign; undefined without one. */
async function findFirst(deps: TestDeps, campaign: FoundCampaign): Promise<Contact | undefined> {
  const scope = await audienceScope(deps, campaign).catch(noAudience)
  if (scope === undefined) return undefined
  const recipients = recipientScope(scope, campaign.type)
  for await (const [first] of walkContacts(deps, recipients, { size: 1 })) return first
  return undefined
}

/**
 * Ignores the error for an audience that cannot be found: a test may be sent before the audience is
 * complete.
 */
function noAudience(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error
}

function distinct(addresses: readonly ParsedAddress[]): ParsedAddress[] {
  return [...new Map(addresses.map((each) => [each.address, each])).values()]
}

async function checkMembers(
  deps: TestDeps,
  projectId: string,
  addresses: readonly ParsedAddress[],
): Promise<void> {
  if (!deps.config.accounts.testsToMembersOnly) return
  const given = addresses.map(({ address }) => address)
  const members = await findMemberAddresses(deps, projectId, given)
  const stranger = given.find((address) => !members.has(address))
  if (stranger === undefined) return
  throw new AppError('FORBIDDEN', `${stranger} is not the address of a member of this project.`, {
    suggestion: 'On this server, tests of campaigns go to members of the project only.',
  })
}

async function refuseSuppressed(
  tx: Tx,
  projectId: string,
  addresses: readonly ParsedAddress[],
): Promise<void> {
  const given = addresses.map(({ address }) => address)
  const { suppressed } = await findKnownAddresses(tx, projectId, given)
  const first = given.find((address) => suppressed.has(address))
  if (first === undefined) return
  throw new AppError('BAD_REQUEST', `${first} is suppressed: nothing was sent.`, {
    suggestion: 'Remove the address from the suppression list, or send the test to another one.',
  })
}

type TestParts = Pick<EmailPlan, 'project' | 'senderDomain' | 'at'> & {
  senderDomain: SenderDomain
  addresses: readonly ParsedAddress[]
}

function planTest(
  { fromAddress, fromName, replyTo, type, body, ...campaign }: Campaign,
  { project, senderDomain, addresses, at }: TestParts,
): Omit<EmailPlan, 'heldDomains'> {
  const subject = SUBJECT_MARK + campaign.subject
  const to = addresses.map((address) => ({ address, name: null }))
  return {
    project,
    request: { to, subject, body, tracking: false },
    origin: { source: 'TRANSACTIONAL', class: TRANSACTIONAL_CLASS, isTest: true },
    at,
    template: undefined,
    sender: { address: fromAddress, name: fromName, replyTo },
    senderDomain,
    contentClass: type,
    data: { changes: {}, variables: {} },
    faults: [],
    content: {
      ...{ id: newId(), projectId: project.id, shareKey: null, subject, body, at },
      ...{ isText: false, text: null, isLiteral: false, warnings: null },
      ...{ recipientFields: null },
      ...{ attachments: null, chunkBytes: 0 },
    },
  }
}
