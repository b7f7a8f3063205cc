/** A bounce or a complaint is about an address: the contact that has it is unsubscribed, whoever the mail was about. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recordReports } from '../../../../../src/features/mail/messages/outcome/record-reports.ts'
import type { EmailReport } from '../../../../../src/features/mail/messages/outcome/reported-email.ts'
import {
  addSuppressions,
  deleteAddresses,
} from '../../../../../src/features/mail/suppressions/suppressions.ts'
import { undoSuppressions } from '../../../../../src/features/mail/suppressions/undo-suppressions.ts'
import { updateContact } from '../../../../../src/features/people/contacts/write/update.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { addProject, address, START } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender, type Sender } from '../sender.ts'
import { acceptWorkflowEmail, addContact, emailFor, planOf } from '../workflow-mail.ts'

const HELD = 'boss@dest.test'

const hard = {
  isFinal: true,
  class: 'hard',
  reason: 'userunknown',
  isHard: true,
  isStrike: false,
  retryAfterMs: null,
  site: 'none',
  countsAsFailure: true,
} as const

/** Reports, and whether the contact of the email is unsubscribed as well if the email was for it. */
const REPORTS: Record<string, { report: (emailId: string) => EmailReport; isForContact: boolean }> =
  {
    complaint: {
      report: (emailId) => ({ type: 'complaint', emailId, feedbackType: null }),
      isForContact: true,
    },
    bounce: {
      report: (emailId) => ({ type: 'bounce', emailId, verdict: hard, diagnostic: '550 no user' }),
      isForContact: false,
    },
  }

/** Mail to HELD that belongs to the contact Ada; HELD is the address of another contact. */
const MAIL: Record<string, { send: (sender: Sender) => Promise<string>; isToOther: boolean }> = {
  'to an address that a step names': {
    isToOther: true,
    send: async (sender) => {
      const ada = await addContact(sender)
      await addContact(sender, { id: 'boss', address: HELD })
      const mail = emailFor(await planOf(sender), ada, { recipient: address(HELD) })
      return (await acceptWorkflowEmail(sender, mail)).id
    },
  },
  'to a contact that has another address by now': {
    isToOther: false,
    send: async (sender) => {
      const { core, project } = sender
      const ada = await addContact(sender, { address: HELD })
      const { id } = await acceptWorkflowEmail(sender, emailFor(await planOf(sender), ada))
      const moved = { address: address('ada@dest.test') }
      await updateContact(core, { projectId: project.id, id: ada.id }, moved)
      await addContact(sender, { id: 'boss', address: HELD })
      return id
    },
  },
}

async function begin(t: TestContext, send: (sender: Sender) => Promise<string>) {
  const sender = await openSender(t)
  const { core, project } = sender
  const emailId = await send(sender)
  const delivered = { state: 'delivered', status: 'DELIVERED', dueAt: null, sentAt: START } as const
  await core.store.write((tx) => setEmails(tx, delivered))
  const isSubscribed = async (email: string) => {
    const isIt = eq(contacts.address, email)
    return (await core.store.read.select().from(contacts).where(isIt).get())?.subscribed
  }
  return { core, projectId: project.id, emailId, isSubscribed }
}

for (const [what, { report, isForContact }] of Object.entries(REPORTS)) {
  for (const [which, { send, isToOther }] of Object.entries(MAIL)) {
    test(`a ${what} about mail ${which} unsubscribes the holder of the address`, async (t) => {
      const { core, projectId, emailId, isSubscribed } = await begin(t, send)
      await core.store.write((tx) => recordReports(core, tx, [report(emailId)]))
      assert.equal(await isSubscribed(HELD), false)
      assert.equal(await isSubscribed('ada@dest.test'), isToOther || !isForContact)
      const rows = await core.store.read
        .select()
        .from(events)
        .where(eq(events.contactId, 'boss'))
        .all()
      assert.deepEqual(
        rows.map(({ name, emailId, data }) => [name, emailId, data]),
        [['contact.unsubscribed', emailId, { reason: what }]],
      )
      await deleteAddresses(core, { projectId, addresses: [address(HELD)] })
      assert.equal(await isSubscribed(HELD), false)
    })
  }
}

test('undoing the bounce subscribes the holder of the address again', async (t) => {
  for (const { send } of Object.values(MAIL)) {
    const { core, emailId, isSubscribed } = await begin(t, send)
    const bounce = REPORTS.bounce?.report(emailId) as EmailReport
    await core.store.write((tx) => recordReports(core, tx, [bounce]))
    const { resubscribed } = await undoSuppressions(core, { since: START })
    assert.equal(resubscribed, 1)
    assert.equal(await isSubscribed(HELD), true)
  }
})

test('the contacts of other projects with the address keep their state', async (t) => {
  const { core, projectId, emailId, isSubscribed } = await begin(t, async (sender) => {
    const ada = await addContact(sender)
    const mail = emailFor(await planOf(sender), ada, { recipient: address(HELD) })
    return (await acceptWorkflowEmail(sender, mail)).id
  })
  const other = await addProject(core, 'Other')
  const elsewhere = { id: 'boss', projectId: other.id, address: HELD, subscribed: true }
  await core.store.write((tx) =>
    tx
      .insert(contacts)
      .values({ ...elsewhere, createdAt: START, updatedAt: START })
      .run(),
  )
  for (const { report } of Object.values(REPORTS)) {
    await core.store.write((tx) => recordReports(core, tx, [report(emailId)]))
  }
  const addresses = [address(HELD)]
  await addSuppressions(core, { projectId, addresses, reason: 'MANUAL' })
  assert.equal(await isSubscribed(HELD), true)
})
