/** Campaigns whose `maxPerHour` changes on the way. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recoverLeases } from '../../../../../src/features/mail/messages/queue/leases.ts'
import { retryFailed } from '../../../../../src/features/outreach/campaigns/retry-failed.ts'
import { listSending } from '../../../../../src/features/outreach/campaigns/sending/active.ts'
import { createExpansion } from '../../../../../src/features/outreach/campaigns/sending/expansion.ts'
import { sendCampaign } from '../../../../../src/features/outreach/campaigns/sending/send.ts'
import { settleStopped } from '../../../../../src/features/outreach/campaigns/settle-stopped.ts'
import {
  pauseCampaign,
  resumeCampaign,
} from '../../../../../src/features/outreach/campaigns/stopping.ts'
import { updateCampaign } from '../../../../../src/features/outreach/campaigns/update.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { campaignProgress } from '../../../../../src/store/schema/campaigns.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { setEmails } from '../../../../set-emails.ts'
import {
  addCampaign,
  addContacts,
  emailsOf,
  loadProgress,
  openSendingCore,
  people,
  runUntil,
} from './campaign.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** A campaign whose emails are all made, and due: it has no pace. */
async function openSending(t: TestContext, count: number) {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(count))
  const key = {
    projectId: project.id,
    id: await addCampaign(core, project.id, { totalRecipients: count }),
  }
  await sendCampaign(core, key)
  const progress = () => loadProgress(core, key.id)
  await runUntil(core, async () => (await progress()).expandedAt !== null)
  const states = async (state: Email['state']) =>
    (await emailsOf(core, key.id)).filter((email) => email.state === state)
  const change = (id: string, fields: Partial<Email>) =>
    core.store.write(async (tx) => void (await setEmails(tx, fields, eq(emails.id, id))))
  const setPace = (maxPerHour: number | null) =>
    updateCampaign(core, { ...key, changes: { maxPerHour } })
  return { core, key, progress, states, change, setPace }
}

const dueTimes = (rows: readonly Email[]) => rows.map(({ dueAt }) => dueAt).sort()

test('a lower maxPerHour slows emails that are made already', async (t) => {
  const { core, states, setPace, progress, key } = await openSending(t, 100)
  assert.equal((await states('queued')).length, 100)
  const at = core.now()
  await setPace(3_600)
  await settleStopped(core)
  assert.equal((await states('paused')).length, 100)
  // A slot a second, the first one in a second, at most a minute ahead.
  await runUntil(core, async () => (await states('queued')).length === 60)
  assert.deepEqual(
    dueTimes(await states('queued')),
    Array.from({ length: 60 }, (_, index) => at + (index + 1) * SECOND),
  )
  assert.equal((await progress()).pacedAt, at + 61 * SECOND)
  core.clock.now += 30 * SECOND
  await runUntil(core, async () => (await states('queued')).length === 90)
  assert.equal((await states('paused')).length, 10)
  const [first] = await states('queued')
  assert.equal((first?.giveUpAt ?? 0) > at, true)
  // Without a pace the rest is due at once.
  await setPace(null)
  await settleStopped(core)
  assert.equal((await states('paused')).length, 0)
  assert.equal((await emailsOf(core, key.id)).filter(({ dueAt }) => dueAt === at).length, 10)
})

test('the slots that were given under a higher pace are given anew', async (t) => {
  const { core, states, setPace } = await openSending(t, 100)
  await setPace(3_600)
  await settleStopped(core)
  await runUntil(core, async () => (await states('queued')).length === 60)
  const at = core.now()
  await setPace(60)
  await settleStopped(core)
  assert.equal((await states('paused')).length, 100)
  await runUntil(core, async () => (await states('queued')).length === 1)
  assert.deepEqual(dueTimes(await states('queued')), [at + MINUTE])
})

test('a higher maxPerHour leaves the emails that are made in the queue', async (t) => {
  const { core, states, setPace, progress } = await openSending(t, 20)
  await setPace(600)
  await settleStopped(core)
  await runUntil(core, async () => (await states('queued')).length === 10)
  await setPace(3_600)
  assert.equal((await progress()).hasOldSlots, false)
  await settleStopped(core)
  assert.equal((await states('queued')).length, 10)
})

test('a paced campaign that is resumed keeps its pace; what was tried before is due as it was', async (t) => {
  const { core, key, states, change, setPace } = await openSending(t, 100)
  const [first] = await emailsOf(core, key.id)
  const retryAt = core.now() + 5 * MINUTE
  await change(first?.id ?? '', { state: 'deferred', attemptCount: 1, dueAt: retryAt })
  await pauseCampaign(core, key, { reason: 'manual' })
  await settleStopped(core)
  assert.equal((await states('paused')).length, 100)
  await setPace(3_600)
  core.clock.now += 2 * MINUTE
  const at = core.now()
  await resumeCampaign(core, key)
  await settleStopped(core)
  const deferred = await states('deferred')
  assert.deepEqual(
    deferred.map(({ id, dueAt }) => [id, dueAt]),
    [[first?.id, retryAt]],
  )
  await runUntil(core, async () => (await states('queued')).length === 60)
  assert.deepEqual(dueTimes(await states('queued')).slice(0, 2), [at + SECOND, at + 2 * SECOND])
})

test('a resume before the mail was put aside keeps the pace, too', async (t) => {
  const { core, key, states, setPace } = await openSending(t, 100)
  await setPace(3_600)
  await pauseCampaign(core, key, { reason: 'manual' })
  const at = core.now()
  await resumeCampaign(core, key)
  await settleStopped(core)
  await runUntil(core, async () => (await states('queued')).length === 60)
  assert.equal(dueTimes(await states('queued'))[0], at + SECOND)
  assert.equal((await states('paused')).length, 40)
})

test('no new emails are made while others wait for their slots', async (t) => {
  const { core, key, states, setPace } = await openSending(t, 100)
  await core.store.write(
    async (tx) =>
      void (await tx
        .update(campaignProgress)
        .set({ expandedAt: null, lastNumber: 1_000 })
        .where(eq(campaignProgress.campaignId, key.id))),
  )
  await addContacts(core, key.projectId, [{ address: 'late@mail.test' }])
  await setPace(3_600)
  await settleStopped(core)
  await runUntil(core, async () => (await states('queued')).length === 60)
  assert.equal((await emailsOf(core, key.id)).length, 100)
  core.clock.now += MINUTE
  await runUntil(core, async () => (await emailsOf(core, key.id)).length === 101)
  const [late] = (await emailsOf(core, key.id)).filter(({ recipient }) =>
    recipient.startsWith('late'),
  )
  const last = Math.max(...(await emailsOf(core, key.id)).map(({ dueAt }) => dueAt ?? 0))
  assert.equal(late?.dueAt, last)
})

test('a turn that began before the pace was lowered writes nothing', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(50))
  const totalRecipients = 50
  const key = {
    projectId: project.id,
    id: await addCampaign(core, project.id, { totalRecipients }),
  }
  await sendCampaign(core, key)
  const [unpaced] = await listSending(core.store.read)
  assert.ok(unpaced)
  const { promise: isRead, resolve: wake } = Promise.withResolvers<void>()
  const expansion = createExpansion(core, { wake, isStopping: () => false })
  assert.equal((await expansion.advance(unpaced, 50)).isReading, true)
  await isRead
  await updateCampaign(core, { ...key, changes: { maxPerHour: 60 } })
  await settleStopped(core)
  assert.equal((await expansion.advance(unpaced, 50)).inserted, 0)
  assert.equal((await emailsOf(core, key.id)).length, 0)
})

test('what waits for its site gets a slot, too, and is read past what was tried', async (t) => {
  const { core, key, states, change, setPace } = await openSending(t, 4)
  const [tried, untried] = await emailsOf(core, key.id)
  await change(tried?.id ?? '', { state: 'deferred', attemptCount: 1, error: '421 busy' })
  await change(untried?.id ?? '', { state: 'deferred', error: '421 busy' })
  await setPace(60)
  await settleStopped(core)
  const ids = (rows: readonly Email[]) => rows.map(({ id }) => id)
  assert.deepEqual(ids(await states('deferred')), [tried?.id])
  assert.equal((await states('paused')).length, 3)
})

test('an email whose attempt was interrupted also waits for its retry', async (t) => {
  const { core, key, states, change, setPace } = await openSending(t, 2)
  const [first] = await emailsOf(core, key.id)
  const id = first?.id ?? ''
  await change(id, { state: 'sending', dueAt: null, leaseUntil: core.now() })
  await recoverLeases(core, { until: core.now(), except: [] })
  const retryAt = core.now() + 5 * MINUTE
  await change(id, { dueAt: retryAt })
  await setPace(3_600)
  await settleStopped(core)
  assert.equal((await states('paused')).length, 2)
  await runUntil(core, async () => (await states('paused')).length === 0)
  assert.deepEqual(
    (await states('deferred')).map((email) => [email.id, email.dueAt]),
    [[id, retryAt]],
  )
})

test('failed emails that were not tried are retried at the pace', async (t) => {
  const { core, key, states, setPace } = await openSending(t, 3)
  await setPace(60)
  await settleStopped(core)
  await core.store.write(
    async (tx) =>
      void (await setEmails(tx, {
        state: 'failed',
        status: 'FAILED',
        dueAt: null,
        error: 'the project is disabled',
      })),
  )
  assert.equal(await retryFailed(core, key), 3)
  await settleStopped(core)
  assert.equal((await states('paused')).length, 3)
  await runUntil(core, async () => (await states('queued')).length === 1)
})
