/** Every way in which a person leaves, and every way in which the program may subscribe an address. */
import { DAY_MS } from '../../../../src/base/clock.ts'
import { leaveByMail } from '../../../../src/features/incoming/receiving/process/apply-unsubscribe.ts'
import { createSnsReceiver } from '../../../../src/features/incoming/sns/receive.ts'
import { recordReports } from '../../../../src/features/mail/messages/outcome/record-reports.ts'
import {
  addSuppressions,
  deleteAddresses,
} from '../../../../src/features/mail/suppressions/suppressions.ts'
import { createStepValues } from '../../../../src/features/outreach/workflows/engine/step-values.ts'
import { updateContactOfStep as runUpdateStep } from '../../../../src/features/outreach/workflows/engine/steps/steps.ts'
import { createTurnChanges } from '../../../../src/features/outreach/workflows/engine/turn-changes.ts'
import type { StepCall } from '../../../../src/features/outreach/workflows/engine/walk.ts'
import type { StepOf } from '../../../../src/features/outreach/workflows/graph/step-config.ts'
import { runBulk, startBulk } from '../../../../src/features/people/contacts/bulk/bulk-job.ts'
import { recordEventByAddress } from '../../../../src/features/people/contacts/events/contact-events.ts'
import { upsertContact } from '../../../../src/features/people/contacts/write/contact-queue.ts'
import { changeSubscription } from '../../../../src/features/people/contacts/write/subscription-request.ts'
import { updateContact } from '../../../../src/features/people/contacts/write/update.ts'
import { addMembers } from '../../../../src/features/people/segments/edit-members.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { and, eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { address, START } from '../../../core.ts'
import { createSns, sesEvent, TOPIC } from '../../../fakes/sns.ts'
import { setEmails } from '../../../set-emails.ts'
import { claimJob } from '../../../work/jobs/running.ts'
import type { Sender } from '../../mail/messages/sender.ts'
import { importFile } from '../import-export/run-import.ts'

const sns = createSns({
  ...{ validFrom: START - DAY_MS, validTo: START + DAY_MS },
  now: () => START,
})

export type Person = { email: string; contactId: string; emailId: string }
type Way = (sender: Sender, person: Person) => Promise<unknown>

const contactOf = ({ core, project }: Sender, email: string) =>
  core.store.read
    .select()
    .from(contacts)
    .where(and(eq(contacts.projectId, project.id), eq(contacts.address, email)))
    .get()

export async function isSubscribed(sender: Sender, email: string): Promise<boolean | undefined> {
  return (await contactOf(sender, email))?.subscribed
}

/** A subscribed contact with a delivered email. */
export async function addPerson(sender: Sender, email: string): Promise<Person> {
  const { core } = sender
  const sent = await sender.send({
    to: [{ address: address(email), name: null }],
    subscribed: true,
  })
  const { contact, email: emailId } = sent.emails[0] as { contact: { id: string }; email: string }
  await core.store.write((tx) =>
    setEmails(tx, { state: 'delivered', status: 'DELIVERED', dueAt: null }),
  )
  return { email: address(email).address, contactId: contact.id, emailId }
}

const byLink =
  (reason: 'page' | 'one-click' | 'api'): Way =>
  ({ core }, { contactId, emailId }) =>
    changeSubscription(core, { contactId, emailId }, { subscribed: false, reason })

async function complainBySns({ core }: Sender, { emailId }: Person, type: string): Promise<void> {
  const config = { ...core.config, sns: { topicArns: [TOPIC] } }
  const { publicFetch } = sns
  const receiver = createSnsReceiver({ ...core, config, publicFetch })
  const isIt = eq(emails.id, emailId)
  const email = await core.store.read.select().from(emails).where(isIt).get()
  const mail = { messageId: 'of SES', commonHeaders: { messageId: email?.messageId } }
  const Message = sesEvent('Complaint', mail, { complaintFeedbackType: type })
  await receiver.receive(sns.message({ Message }))
}

export const LEAVING: Record<string, Way> = {
  page: byLink('page'),
  'one-click': byLink('one-click'),
  'public contact call': byLink('api'),
  mail: ({ core }, { emailId }) =>
    core.store.write((tx) => leaveByMail(core, tx, { email: { emailId }, reason: 'mail' })),
  complaint: async ({ core, project }, { email, emailId }) => {
    const report = { type: 'complaint', emailId, feedbackType: null } as const
    await core.store.write((tx) => recordReports(core, tx, [report]))
    await deleteAddresses(core, { projectId: project.id, addresses: [address(email)] })
  },
  'complaint by SNS': async (sender, person) => {
    await complainBySns(sender, person, 'abuse')
    const { core, project } = sender
    await deleteAddresses(core, { projectId: project.id, addresses: [address(person.email)] })
  },
  'opt-out by SNS': (sender, person) => complainBySns(sender, person, 'opt-out'),
  'complaint that the project adds': async ({ core, project }, { email }) => {
    const key = { projectId: project.id, addresses: [address(email)] }
    await addSuppressions(core, { ...key, reason: 'COMPLAINT' })
    await deleteAddresses(core, key)
  },
  'POST /contacts with unsubscribed': ({ core, project }, { email }) =>
    upsertContact(core, {
      ...{ projectId: project.id, address: address(email) },
      ...{ subscribed: false, hasLeft: true },
    }),
  'PATCH /contacts/:id with unsubscribed': ({ core, project }, { contactId }) =>
    updateContact(
      core,
      { projectId: project.id, id: contactId },
      { subscribed: false, hasLeft: true },
    ),
  "an import of another service's export": ({ core, project }, { email }) =>
    importFile(core, `email,UNSUB_TIME\n${email},2024-05-01\n`, { projectId: project.id }),
}

async function bulk({ core, project }: Sender, email: string, resubscribe?: boolean) {
  const contact = await contactOf({ core, project } as Sender, email)
  const selection = { mode: 'ids', contactIds: [contact?.id ?? newId()] } as const
  const asked = resubscribe === undefined ? {} : { resubscribe }
  await startBulk(core, { projectId: project.id, operation: 'subscribe', selection, ...asked })
  const job = await claimJob(core, 'bulk')
  const result = await runBulk(core, job)
  await core.store.write((tx) => tx.delete(jobs).where(eq(jobs.id, job.id)).run())
  return result
}

async function runStep({ core, project }: Sender, email: string): Promise<void> {
  const contact = await contactOf({ core, project } as Sender, email)
  if (contact === undefined) return
  const config = { updates: {}, subscriptionAction: 'subscribe' }
  const call = { step: { config }, execution: { contact, depth: 0 } } as unknown as StepCall<
    StepOf<'UPDATE_CONTACT'>
  >
  const values = createStepValues(core)
  const changes = createTurnChanges({ workflowId: '', projectId: project.id })
  const input = { call, workflow: { id: '' }, at: core.now(), ask: () => undefined, changes }
  await core.store.write(async (tx) => {
    await runUpdateStep({ values }, tx, input)
    await changes.write(tx, input.at)
  })
}

const file = (sender: Sender, csv: string, options: { resubscribe?: boolean } = {}) =>
  importFile(sender.core, csv, { projectId: sender.project.id, ...options })

/** By default: none of these subscribes who left. The key begins with the file that writes. */
export const DEFAULTS: Record<string, Way> = {
  'contacts/write/contact-queue: POST /contacts': ({ core, project }, { email }) =>
    upsertContact(core, { projectId: project.id, address: address(email), data: { a: 1 } }),
  'contacts/events/event-queue: track': ({ core, project }, { email }) =>
    recordEventByAddress(core, {
      projectId: project.id,
      request: { event: 'seen', address: address(email) },
    }),
  'messages/accept/accept-emails: send': (sender, { email }) =>
    sender.send({ to: [{ address: address(email), name: null }] }),
  'messages/accept/accept-emails: send to several, subscribed': (sender, { email }) =>
    sender.send({
      subscribed: true,
      to: [email, `${newId()}@dest.test`].map((each) => ({ address: address(each), name: null })),
    }),
  'segments/edit-members: createMissing': async ({ core, project }, { email }) => {
    const key = { projectId: project.id, name: newId(), type: 'STATIC' } as const
    const { id } = await createSegment(core, key)
    const members = { projectId: project.id, id, emails: [email] }
    await addMembers(core, { ...members, createMissing: true, subscribed: true })
  },
  'import-export/import-contacts: with the column': (sender, { email }) =>
    file(sender, `email,subscribed\n${email.toUpperCase()},true\n`),
  'import-export/import-contacts: without the column': (sender, { email }) =>
    file(sender, `email,plan\n${email},pro\n`),
  'contacts/bulk/bulk-job: subscribe': (sender, { email }) => bulk(sender, email),
  'workflows/engine/steps/steps: subscribe': (sender, { email }) => runStep(sender, email),
  'contacts/write/update: another contact gets the address': async ({ core, project }, person) => {
    const key = { projectId: project.id, address: address(`${newId()}@dest.test`) }
    const { contact } = await upsertContact(core, { ...key, subscribed: true })
    const there = await contactOf({ core, project } as Sender, person.email)
    if (there !== undefined) return
    const changes = { address: address(person.email) }
    await updateContact(core, { projectId: project.id, id: contact.id }, changes)
  },
}

/** A new wish, or the project's word for this in so many words. */
export const NEW_WISHES: Record<string, Way> = {
  'POST /contacts': ({ core, project }, { email }) =>
    upsertContact(core, { projectId: project.id, address: address(email), subscribed: true }),
  'PATCH /contacts/:id': async ({ core, project }, { email }) => {
    const id = (await contactOf({ core, project } as Sender, email))?.id
    if (id === undefined) {
      await upsertContact(core, {
        projectId: project.id,
        address: address(email),
        subscribed: true,
      })
    } else await updateContact(core, { projectId: project.id, id }, { subscribed: true })
  },
  track: ({ core, project }, { email }) =>
    recordEventByAddress(core, {
      projectId: project.id,
      request: { event: 'joined', address: address(email), subscribed: true },
    }),
  send: (sender, { email }) =>
    sender.send({ to: [{ address: address(email), name: null }], subscribed: true }),
  'import with resubscribe': (sender, { email }) =>
    file(sender, `email,subscribed\n${email},yes\n`, { resubscribe: true }),
  'import with resubscribe, without the column': async (sender, { email }) => {
    const contact = await contactOf(sender, email)
    // An existing contact keeps its state without the column.
    const column = contact === undefined ? 'plan' : 'subscribed'
    await file(sender, `email,${column}\n${email},true\n`, { resubscribe: true })
  },
  'bulk with resubscribe': async (sender, { email }) => {
    if ((await contactOf(sender, email)) === undefined) await file(sender, `email\n${email}\n`)
    await bulk(sender, email, true)
  },
}
