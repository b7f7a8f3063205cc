import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { explainEmails } from '../../../../../src/features/mail/messages/explain/explain-emails.ts'
import type { Explanation } from '../../../../../src/features/mail/messages/explain/facts.ts'
import {
  cancelEmails,
  retryEmails,
} from '../../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import {
  countQueue,
  listQueue,
} from '../../../../../src/features/mail/messages/queue/queue-list.ts'
import { retryFailed } from '../../../../../src/features/outreach/campaigns/retry-failed.ts'
import { settleStopped } from '../../../../../src/features/outreach/campaigns/settle-stopped.ts'
import {
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
} from '../../../../../src/features/outreach/campaigns/stopping.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import type { Email } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { START } from '../../../../core.ts'
import { pause } from '../../../../pause.ts'
import { setEmails } from '../../../../set-emails.ts'
import {
  addCampaign,
  giveToCampaign,
  type NewCampaign,
} from '../../../outreach/campaigns/add-campaign.ts'
import { openSender, type Sender } from '../sender.ts'

/** Sends one email of a campaign before the queue starts. */
async function sendOf(
  sender: Sender,
  campaign: Partial<NewCampaign>,
  changes: Partial<Email> = {},
): Promise<string> {
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  const campaignId = await addCampaign(sender.core, { projectId: sender.project.id, ...campaign })
  await setSubscribed(sender, true)
  await giveToCampaign(sender.core, id, { campaignId, contentClass: 'MARKETING', ...changes })
  return id
}

/** Runs the queue until the email is no longer waiting. */
async function afterClaim(t: TestContext, sender: Sender, id: string): Promise<Email> {
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())
  await until(async () => {
    const { state } = await sender.email(id)
    return !['queued', 'sending'].includes(state) || sender.tasks.length > 0
  })
  return sender.email(id)
}

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await pause()
}

const setSubscribed = ({ core }: Sender, subscribed: boolean) =>
  core.store.write(async (tx) => void (await tx.update(contacts).set({ subscribed })))

const loseDomain = ({ core }: Sender) =>
  core.store.write(async (tx) => {
    await tx.update(domains).set({ isVerified: false }).where(eq(domains.domain, 'example.test'))
    tx.afterCommit(() => core.directory.drop())
  })

test('a claimed email of a paused campaign is put aside, without an attempt', async (t) => {
  const sender = await openSender(t)
  let notices = 0
  sender.core.campaignNotifier.listen(() => (notices += 1))
  const id = await sendOf(sender, { pausedAt: START, pauseReason: 'manual' })
  const email = await afterClaim(t, sender, id)
  const { state, status, dueAt, heldAt, attemptCount, leaseUntil } = email
  assert.deepEqual(
    { state, status, dueAt, heldAt, attemptCount, leaseUntil },
    {
      state: 'paused',
      status: 'PENDING',
      dueAt: null,
      heldAt: START,
      attemptCount: 0,
      leaseUntil: null,
    },
  )
  assert.equal(sender.tasks.length, 0)
  assert.equal(notices, 1)
  assert.deepEqual(await countQueue(sender.core), [{ state: 'paused', count: 1 }])
  const listed = await listQueue(sender.core, { state: 'paused' })
  assert.deepEqual(
    listed.map((one) => one.id),
    [id],
  )
})

test('mail that failed with its disabled project is retried, and waits until the resume', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const id = await sendOf(sender, {})
  const key = { projectId: project.id, id: (await sender.email(id)).campaignId as string }
  await updateProject(core, project.id, { disable: 'MANUAL' })
  await settleStopped(core)
  const queue = startQueue(core, createDeliverer(core))
  t.after(() => queue.stop())
  await until(async () => (await sender.email(id)).state === 'failed')
  assert.equal((await sender.email(id)).error, 'the project is disabled')
  await updateProject(core, project.id, { enable: true })
  assert.equal(await retryFailed(core, key), 1)
  await until(async () => (await sender.email(id)).state === 'paused')
  assert.equal(sender.tasks.length, 0)
  await resumeCampaign(core, key)
  await settleStopped(core)
  await until(() => sender.tasks.length > 0)
})

test('what a claim has in hand is withdrawn when its campaign is paused', async (t) => {
  const sender = await openSender(t)
  const { core, project, tasks } = sender
  const id = await sendOf(sender, {})
  const campaignId = (await sender.email(id)).campaignId as string
  const withdrawn = Promise.withResolvers<ReadonlySet<string>>()
  core.outbound.withdraw = withdrawn.resolve
  const delivery = createDeliverer(core)
  const queue = startQueue(core, delivery)
  t.after(() => queue.stop())
  await until(() => tasks.length > 0)
  assert.equal(tasks[0]?.group, campaignId)
  await pauseCampaign(core, { projectId: project.id, id: campaignId }, { reason: 'manual' })
  assert.deepEqual([...(await withdrawn.promise)], [campaignId])
  delivery.finished([{ emailId: id, kind: 'put back', site: 'dest.test', retryAt: null }])
  await until(async () => (await sender.email(id)).state === 'paused')
  const { attemptCount, leaseUntil } = await sender.email(id)
  assert.deepEqual({ attemptCount, leaseUntil }, { attemptCount: 0, leaseUntil: null })
  assert.equal(tasks.length, 1)
})

test('an email that was being prepared when its campaign was cancelled is withdrawn', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const id = await sendOf(sender, {})
  const campaignId = (await sender.email(id)).campaignId as string
  const log: string[] = []
  core.outbound.deliver = () => void log.push('deliver')
  core.outbound.withdraw = () => void log.push('withdraw')
  let isCancelled = false
  const { stoppedCampaigns } = core.directory
  const directory = {
    ...core.directory,
    async stoppedCampaigns() {
      const before = await stoppedCampaigns()
      if (isCancelled) return before
      isCancelled = true
      await cancelCampaign(core, { projectId: project.id, id: campaignId })
      await until(() => log.length > 0)
      return before
    },
  }
  const queue = startQueue(core, createDeliverer({ ...core, directory }))
  t.after(() => queue.stop())
  await until(() => log.length === 3)
  assert.deepEqual(log, ['withdraw', 'deliver', 'withdraw'])
})

test('an email that its campaign has paused can be cancelled, and not retried', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, { pausedAt: START, pauseReason: 'manual' })
  const { campaignId } = await afterClaim(t, sender, id)
  await assert.rejects(retryEmails(sender.core, [id]), {
    code: 'CONFLICT',
    message: `Email ${id} is paused by its campaign.`,
    suggestion: `To send it, resume the campaign: POST /campaigns/${campaignId}/resume`,
  })
  await cancelEmails(sender.core, [id])
  const { state, error } = await sender.email(id)
  assert.deepEqual({ state, error }, { state: 'failed', error: 'cancelled' })
})

test('a claimed email of a cancelled campaign ends, and cannot be retried', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, { status: 'CANCELLED', cancelledAt: START })
  const { state, status, error } = await afterClaim(t, sender, id)
  assert.deepEqual(
    { state, status, error },
    { state: 'failed', status: 'FAILED', error: 'cancelled' },
  )
  assert.equal(sender.tasks.length, 0)
  const message = `Email ${id} cannot be retried: its campaign was cancelled.`
  await assert.rejects(retryEmails(sender.core, [id]), { code: 'CONFLICT', message })
  assert.equal((await explain(sender, id)).command, null)
})

test('an email whose campaign has lost its sender domain waits, and does not fail', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {})
  await loseDomain(sender)
  assert.equal((await afterClaim(t, sender, id)).state, 'paused')
})

test('headless mail of a campaign does not go to an unsubscribed contact', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {}, { contentClass: 'HEADLESS' })
  await setSubscribed(sender, false)
  const { state, error } = await afterClaim(t, sender, id)
  assert.deepEqual({ state, error }, { state: 'failed', error: 'the contact has unsubscribed' })
})

test('an email whose contact has unsubscribed is retried only once it subscribes again', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {})
  await setSubscribed(sender, false)
  await afterClaim(t, sender, id)
  await assert.rejects(retryEmails(sender.core, [id]), {
    code: 'CONFLICT',
    message: `Email ${id} cannot be retried: the contact has unsubscribed.`,
  })
  assert.equal((await sender.email(id)).state, 'failed')
  const failures = (await sender.eventNames()).filter((name) => name === 'email.failed')
  assert.equal(failures.length, 1)
  assert.equal((await explain(sender, id)).command, null)
  await setSubscribed(sender, true)
  assert.deepEqual((await explain(sender, id)).command, ['queue', 'retry', id])
  await retryEmails(sender.core, [id])
  assert.equal((await sender.email(id)).error, null)
})

test('a retry is refused while the address is suppressed, or the sender domain is lost', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  const row = {
    id: 's',
    projectId: project.id,
    address: 'ada@dest.test',
    reason: 'MANUAL',
  } as const
  await core.store.write(async (tx) => {
    await setEmails(tx, { state: 'failed', status: 'FAILED', dueAt: null })
    await tx.insert(suppressions).values({ ...row, source: 'API', createdAt: START })
  })
  await assert.rejects(retryEmails(core, [id]), {
    message: `Email ${id} cannot be retried: its address is on the suppression list.`,
  })
  await core.store.write(async (tx) => void (await tx.delete(suppressions)))
  await loseDomain(sender)
  await assert.rejects(retryEmails(core, [id]), {
    message: `Email ${id} cannot be retried: the sender domain is no longer verified.`,
  })
})

test('failed mail of a campaign that was sent is not retried without its sender domain', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, { status: 'SENT' }, { state: 'failed', status: 'FAILED' })
  await loseDomain(sender)
  await assert.rejects(retryEmails(sender.core, [id]), {
    message: `Email ${id} cannot be retried: the sender domain is no longer verified.`,
  })
  const { campaignId } = await sender.email(id)
  const key = { projectId: sender.project.id, id: campaignId as string }
  await assert.rejects(retryFailed(sender.core, key), { code: 'FORBIDDEN' })
})

test('the refused retry of paused and held mail names possible steps', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {})
  await loseDomain(sender)
  assert.equal((await afterClaim(t, sender, id)).state, 'paused')
  const { campaignId } = await sender.email(id)
  const resume = `resume the campaign: POST /campaigns/${campaignId}/resume`
  await settleStopped(sender.core)
  await assert.rejects(retryEmails(sender.core, [id]), {
    suggestion: `To send it, verify its sender domain, then ${resume}`,
  })
  await sender.core.store.write(async (tx) => void (await setEmails(tx, { state: 'held' })))
  await assert.rejects(retryEmails(sender.core, [id]), {
    suggestion: 'To send it, release its domain: pillarbox queue release --domain dest.test',
  })
})

async function explain({ core, email }: Sender, id: string): Promise<Explanation> {
  const explained = await explainEmails(core, [await email(id)], async () => ({ server: 'none' }))
  return explained.get(id) as Explanation
}

test('a test of a campaign goes to an unsubscribed contact', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {}, { isTest: true })
  await setSubscribed(sender, false)
  await afterClaim(t, sender, id)
  assert.equal(sender.tasks[0]?.emailId, id)
  assert.equal(sender.tasks[0]?.source.isBulk, true)
})
