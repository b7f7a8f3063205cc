/**
 * Sends a test of a campaign with its present content, whatever the state of the campaign
 * (`../tests/accept-tests.ts` has the rules of tests).
 */
import { AppError } from '../../../base/errors.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import { and, eq, inArray, isNotNull } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Campaign } from '../../../store/schema/campaigns.ts'
import { type Contact, contacts } from '../../../store/schema/contacts.ts'
import type { SenderDomain } from '../../ground/directory.ts'
import type { AcceptedEmail } from '../../mail/messages/accept/email-drafts.ts'
import type { EmailPlan } from '../../mail/messages/accept/plan.ts'
import { walkContacts } from '../../people/contacts/list/walk.ts'
import { loadContact } from '../../people/contacts/read/find-contact.ts'
import {
  acceptTests,
  markSubject,
  refuseStrangers,
  TEST_ORIGIN,
  type TestDeps,
} from '../tests/accept-tests.ts'
import { audienceScope, recipientScope } from './audience/scope.ts'
import { type FoundCampaign, loadCampaign } from './campaign.ts'
import { requireSenderDomain } from './sending/send.ts'

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
  await refuseStrangers(deps, projectId, addresses)
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
  return { emails: await acceptTests(deps, { projectId, plans, addresses }), at }
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

type TestParts = Pick<EmailPlan, 'project' | 'senderDomain' | 'at'> & {
  senderDomain: SenderDomain
  addresses: readonly ParsedAddress[]
}

function planTest(
  { fromAddress, fromName, replyTo, type, body, ...campaign }: Campaign,
  { project, senderDomain, addresses, at }: TestParts,
): Omit<EmailPlan, 'heldDomains'> {
  const subject = markSubject(campaign.subject)
  const to = addresses.map((address) => ({ address, name: null }))
  return {
    project,
    request: { to, subject, body, tracking: false },
    origin: TEST_ORIGIN,
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
