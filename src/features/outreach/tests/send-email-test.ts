/**
 * Sends a test of a text or of a template, which need not belong to a campaign. The data of the request is
 * used for this test only: it changes no contact. An address that is unknown becomes a contact, as in a
 * test of a campaign.
 */
import { invalidField } from '../../../base/errors.ts'
import type { NamedMailbox } from '../../../formats/address/named-mailbox.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Contact } from '../../../store/schema/contacts.ts'
import type { AcceptedMessage } from '../../mail/messages/accept/accept-message.ts'
import { type EmailPlan, planEmails } from '../../mail/messages/accept/plan.ts'
import type { TemplateCheck } from '../../mail/messages/accept/template-check.ts'
import { loadContact } from '../../people/contacts/read/find-contact.ts'
import { findSandboxSender } from '../../tenancy/accounts/projects/sandbox-project.ts'
import {
  acceptTests,
  markSubject,
  refuseStrangers,
  TEST_ORIGIN,
  type TestDeps,
} from './accept-tests.ts'

/** Exactly one of `body` and `templateId` is given, and a `subject` beside `body`. */
export type EmailTest = {
  /** An address that occurs twice gets one email. */
  to: readonly NamedMailbox[]
  /** By default the sender of the template; without a template, that of the sandbox. */
  from?: NamedMailbox | undefined
  /** Replaces the subject of the template. */
  subject?: string | undefined
  /** HTML */
  body?: string | undefined
  templateId?: string | undefined
  /** The contact whose data the message shows; each recipient's own contact if absent. */
  contactId?: string | undefined
  data?: unknown
}

/**
 * Returns the emails in the order of their recipients.
 * @throws AppError TEMPLATE_NOT_FOUND, CONTACT_NOT_FOUND; VALIDATION_ERROR: no sender, wrong data, a fault in a
 *   text where the project refuses faults; FORBIDDEN (sender domain, address of no member); BAD_REQUEST for a
 *   suppressed address; RATE_LIMIT_EXCEEDED, BILLING_LIMIT_EXCEEDED: then nothing is sent
 */
export async function sendEmailTest(
  deps: TestDeps,
  project: Project,
  { test, check }: { test: EmailTest; check: TemplateCheck },
): Promise<AcceptedMessage> {
  const { contactId, templateId, subject, body, data } = test
  const { id: projectId } = project
  const reader =
    contactId === undefined ? undefined : await loadContact(deps, { projectId, id: contactId })
  const to = distinct(test.to)
  const addresses = to.map(({ address }) => address)
  await refuseStrangers(deps, projectId, addresses)
  const from = test.from ?? (templateId === undefined ? await findSender(deps, project) : undefined)
  const at = deps.now()
  const request = { to, subject, body, template: templateId, from, data, tracking: false }
  const plan = await planEmails(deps, { project, request, origin: TEST_ORIGIN, check }, at)
  const fieldOf = (address: string) =>
    `to.${test.to.findIndex((each) => each.address.address === address)}`
  const plans = [toTestPlan(plan, reader)]
  const emails = await acceptTests(deps, { projectId, plans, addresses, fieldOf })
  return { emails, at, warnings: plan.content.warnings ?? [], faults: plan.faults }
}

/** @throws AppError VALIDATION_ERROR without a sender */
async function findSender(
  deps: Pick<TestDeps, 'config' | 'directory'>,
  project: Project,
): Promise<NamedMailbox> {
  const sender = await findSandboxSender(deps, project.id)
  if (sender === undefined)
    throw invalidField('from', 'required', 'Required, unless templateId is given')
  return { address: sender, name: null }
}

function distinct(to: readonly NamedMailbox[]): NamedMailbox[] {
  return [...new Map(to.map((each) => [each.address.address, each])).values()]
}

/**
 * Turns the plan of a send into that of a test: the subject is marked, the content is not shared with sends
 * of the template, and the data of the request serves this test only.
 */
function toTestPlan(plan: EmailPlan, reader: Contact | undefined): EmailPlan {
  const subject = markSubject(plan.content.subject)
  const { changes, variables } = plan.data
  return {
    ...plan,
    reader,
    template: undefined,
    request: { ...plan.request, subject },
    content: { ...plan.content, subject, shareKey: null },
    data: { changes: {}, variables: { ...changes, ...variables } },
  }
}
