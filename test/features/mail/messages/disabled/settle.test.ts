import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { settleDisabled } from '../../../../../src/features/mail/messages/disabled/settle.ts'
import { explainEmails } from '../../../../../src/features/mail/messages/explain/explain-emails.ts'
import { holdDomain } from '../../../../../src/features/mail/messages/queue/holds.ts'
import {
  cancelEmails,
  retryEmails,
} from '../../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import { settleStopped } from '../../../../../src/features/outreach/campaigns/settle-stopped.ts'
import { resumeCampaign } from '../../../../../src/features/outreach/campaigns/stopping.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { address, START } from '../../../../core.ts'
import { pause } from '../../../../pause.ts'
import { setEmails } from '../../../../set-emails.ts'
import { addCampaign, giveToCampaign } from '../../../outreach/campaigns/add-campaign.ts'
import { addSenderProject, openSender, type Sender } from '../sender.ts'

const HOUR_MS = 3_600_000
const HELD_MS = 72 * HOUR_MS

const disable = ({ core, project }: Sender, reason = 'EMAIL_REPUTATION') =>
  updateProject(core, project.id, { disable: reason })
const enable = ({ core, project }: Sender) => updateProject(core, project.id, { enable: true })

async function sendTo(sender: Sender, to = 'ada@dest.test'): Promise<string> {
  const { emails: accepted } = await sender.send({ to: [{ address: address(to), name: null }] })
  return accepted[0]?.email as string
}

const change = ({ core }: Sender, id: string, columns: Partial<typeof emails.$inferInsert>) =>
  core.store.write((tx) => setEmails(tx, columns, eq(emails.id, id)))

const stateOf = async (sender: Sender, id: string) => {
  const { state, error } = await sender.email(id)
  return [state, error]
}

async function explain(sender: Sender, id: string) {
  const email = await sender.email(id)
  const explained = await explainEmails(sender.core, [email], async () => ({ server: 'silent' }))
  return explained.get(id)
}

/** The queue of a running server. */
function startDelivery(t: TestContext, sender: Sender): void {
  const queue = startQueue(sender.core, createDeliverer(sender.core))
  t.after(() => queue.stop())
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause()
}

test('S27: the mail of a project that is disabled for its reputation is held, and says why', async (t) => {
  const sender = await openSender(t)
  const due = await sendTo(sender)
  const deferred = await sendTo(sender)
  const later = START + HOUR_MS
  await change(sender, deferred, { state: 'deferred', attemptCount: 1, dueAt: later })
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  const from = { address: address('shop@other.test'), name: null }
  const { emails: accepted } = await sender.send({ from }, { project: other })
  await disable(sender)
  await settleDisabled(sender.core)
  for (const id of [due, deferred]) {
    const { state, status, dueAt, heldAt, campaignId } = await sender.email(id)
    assert.deepEqual(
      { state, status, dueAt, heldAt, campaignId },
      { state: 'paused', status: 'PENDING', dueAt: null, heldAt: START, campaignId: null },
    )
  }
  assert.equal((await sender.email(accepted[0]?.email as string)).state, 'queued')
  assert.deepEqual(await explain(sender, due), {
    reason:
      'It is held: its project was disabled for its reputation at 2026-11-21 12:00:00Z. It waits until the project is enabled, or fails at 2026-11-24 12:00:00Z.',
    reasonCode: 'project_held',
    reasonData: {
      since: '2026-11-21T12:00:00.000Z',
      until: '2026-11-24T12:00:00.000Z',
      ofCampaign: false,
      heldDomain: null,
    },
    command: ['project', 'update', sender.project.id, '--enable'],
    nextAttemptAt: null,
  })
  assert.deepEqual(await sender.eventNames(), [])
})

test('enabling the project makes held mail due at once, with a later give-up time', async (t) => {
  const sender = await openSender(t)
  const ids = [await sendTo(sender), await sendTo(sender)]
  const [first = '', second = ''] = ids
  await change(sender, second, { state: 'deferred', attemptCount: 1, dueAt: START + HOUR_MS })
  const before = await sender.email(first)
  await disable(sender)
  await settleDisabled(sender.core)
  sender.clock.now += HELD_MS - 1
  await settleDisabled(sender.core)
  await enable(sender)
  assert.equal(
    (await explain(sender, first))?.reason,
    'It has been held since 2026-11-21 12:00:00Z, and is due within a minute.',
  )
  await settleDisabled(sender.core)
  for (const [id, state] of [
    [first, 'queued'],
    [second, 'deferred'],
  ] as const) {
    const email = await sender.email(id)
    assert.deepEqual(
      [email.state, email.dueAt, email.retryAt, email.heldAt],
      [state, START, null, null],
    )
    assert.equal(email.giveUpAt, before.giveUpAt + HELD_MS - 1)
  }
})

test('after 72 hours held mail fails, once, and can be retried when the project is enabled', async (t) => {
  const sender = await openSender(t)
  const id = await sendTo(sender)
  await disable(sender)
  await settleDisabled(sender.core)
  sender.clock.now += HELD_MS - 1
  await settleDisabled(sender.core)
  assert.equal((await sender.email(id)).state, 'paused')
  sender.clock.now += 1
  await settleDisabled(sender.core)
  const error = 'the project was disabled and not enabled within 72 hours'
  const { state, status, error: shown } = await sender.email(id)
  assert.deepEqual([state, status, shown], ['failed', 'FAILED', error])
  const rows = await sender.core.store.read.select().from(events)
  assert.deepEqual(
    rows.map(({ name, data }) => [name, data]),
    [['email.failed', { error, reason: 'refused' }]],
  )
  const retry = () => retryEmails(sender.core, [id])
  await assert.rejects(retry, { code: 'CONFLICT', message: /: the project is disabled\.$/ })
  await enable(sender)
  await retry()
  assert.equal((await sender.email(id)).state, 'queued')
})

test('another reason fails all waiting mail at once: due, deferred, held and paused', async (t) => {
  const sender = await openSender(t)
  const due = await sendTo(sender)
  const deferred = await sendTo(sender)
  await change(sender, deferred, { state: 'deferred', attemptCount: 1, dueAt: START + HOUR_MS })
  const held = await sendTo(sender, 'ada@held.test')
  await holdDomain(sender.core, 'held.test')
  const ofCampaign = await sendTo(sender)
  const campaignId = await addCampaign(sender.core, {
    ...{ projectId: sender.project.id, pausedAt: START, pauseReason: 'manual' },
  })
  await giveToCampaign(sender.core, ofCampaign, {
    campaignId,
    state: 'paused',
    dueAt: null,
    heldAt: START,
  })
  await disable(sender, 'PHISHING_DETECTED')
  await settleDisabled(sender.core)
  for (const id of [due, deferred, held, ofCampaign]) {
    assert.deepEqual(await stateOf(sender, id), ['failed', 'the project is disabled'])
  }
})

test('held mail fails at once when the reason becomes another one', async (t) => {
  const sender = await openSender(t)
  const id = await sendTo(sender)
  await disable(sender)
  await settleDisabled(sender.core)
  await disable(sender, 'MANUAL')
  await settleDisabled(sender.core)
  assert.deepEqual(await stateOf(sender, id), ['failed', 'the project is disabled'])
})

for (const columns of [{ resetSince: START }, { deletedAt: START }]) {
  test(`the mail of a project with ${Object.keys(columns)} is left to the eraser`, async (t) => {
    const sender = await openSender(t)
    const id = await sendTo(sender)
    await sender.core.store.write((tx) =>
      tx
        .update(projects)
        .set({ isDisabled: true, disabledReason: null, ...columns })
        .where(eq(projects.id, sender.project.id))
        .run(),
    )
    await settleDisabled(sender.core)
    assert.deepEqual(await stateOf(sender, id), ['queued', null])
  })
}

test('what an operator holds stays held while the project is disabled, and after it is enabled', async (t) => {
  const sender = await openSender(t)
  const before = await sendTo(sender, 'ada@early.test')
  await holdDomain(sender.core, 'early.test')
  const later = await sendTo(sender, 'ada@late.test')
  await disable(sender)
  await settleDisabled(sender.core)
  await holdDomain(sender.core, 'late.test')
  assert.equal((await sender.email(before)).state, 'held')
  assert.equal((await sender.email(later)).state, 'paused')
  sender.clock.now += HOUR_MS
  const { giveUpAt } = await sender.email(later)
  await enable(sender)
  await settleDisabled(sender.core)
  assert.equal((await sender.email(before)).state, 'held')
  const email = await sender.email(later)
  assert.deepEqual(
    [email.state, email.dueAt, email.heldAt, email.giveUpAt],
    ['held', null, START + HOUR_MS, giveUpAt + HOUR_MS],
  )
})

test('mail of campaigns stays with them, also after 72 hours, until they are resumed', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const id = await sendTo(sender)
  const own = await sendTo(sender, 'eve@dest.test')
  const campaignId = await addCampaign(core, { projectId: project.id })
  await giveToCampaign(core, id, { campaignId })
  await disable(sender)
  await settleDisabled(core)
  await settleStopped(core)
  await settleStopped(core)
  assert.equal((await sender.email(id)).state, 'paused')
  assert.match(
    (await explain(sender, id))?.reason ?? '',
    /^It is held: its project was disabled .* until the project is enabled\. Its campaign must be resumed after that\.$/,
  )
  sender.clock.now += HELD_MS
  await settleDisabled(core)
  assert.equal((await sender.email(own)).state, 'failed')
  assert.equal((await sender.email(id)).state, 'paused')
  await enable(sender)
  await settleDisabled(core)
  await settleStopped(core)
  assert.equal((await sender.email(id)).state, 'paused')
  await resumeCampaign(core, { projectId: project.id, id: campaignId })
  await settleStopped(core)
  assert.equal((await sender.email(id)).state, 'queued')
})

test('mail of a campaign that was sent, which is tried again, waits for the project alone', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const id = await sendTo(sender)
  const sent = { projectId: project.id, status: 'SENT', sentAt: START } as const
  const campaignId = await addCampaign(core, sent)
  await giveToCampaign(core, id, { campaignId })
  await disable(sender)
  await settleDisabled(core)
  await settleStopped(core)
  assert.equal((await sender.email(id)).state, 'paused')
  await enable(sender)
  await settleStopped(core)
  assert.equal((await sender.email(id)).state, 'queued')
})

test('a claim puts mail of such a project aside, and nothing of it is sent', async (t) => {
  const sender = await openSender(t)
  const id = await sendTo(sender)
  await disable(sender)
  startDelivery(t, sender)
  await until(async () => (await sender.email(id)).state === 'paused')
  const { attemptCount, status, heldAt } = await sender.email(id)
  assert.deepEqual([attemptCount, status, heldAt, sender.tasks], [0, 'PENDING', START, []])
})

test('a claim after 72 hours fails it', async (t) => {
  const sender = await openSender(t)
  const id = await sendTo(sender)
  await disable(sender)
  sender.clock.now += HELD_MS
  startDelivery(t, sender)
  await until(async () => (await sender.email(id)).state === 'failed')
  assert.equal(
    (await sender.email(id)).error,
    'the project was disabled and not enabled within 72 hours',
  )
  assert.deepEqual(sender.tasks, [])
})

test('held mail cannot be retried, and can be cancelled', async (t) => {
  const sender = await openSender(t)
  const id = await sendTo(sender)
  await disable(sender)
  await settleDisabled(sender.core)
  await assert.rejects(retryEmails(sender.core, [id]), {
    code: 'CONFLICT',
    message: `Email ${id} is held: its project was disabled for its reputation.`,
    suggestion: `To send it, enable the project: pillarbox project update ${sender.project.id} --enable`,
  })
  await cancelEmails(sender.core, [id])
  assert.deepEqual(await stateOf(sender, id), ['failed', 'cancelled'])
})

test('five hundred emails are held and released in several transactions', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const id = await sendTo(sender)
  const row = await sender.email(id)
  const copies = Array.from({ length: 499 }, () => ({ ...row, id: newId() }))
  await core.store.write(async (tx) => {
    for (let from = 0; from < copies.length; from += 100) {
      await tx.insert(emails).values(copies.slice(from, from + 100))
    }
  })
  let writes = 0
  const write: typeof core.store.write = (fn, options) => {
    writes += 1
    assert.equal(options?.heavyFor, sender.project.id)
    return core.store.write(fn, options)
  }
  const deps = { ...core, store: { ...core.store, write } }
  const count = (state: 'paused' | 'queued') =>
    core.store.read.$count(emails, eq(emails.state, state))
  await disable(sender)
  await settleDisabled(deps)
  assert.deepEqual([await count('paused'), writes > 2], [500, true])
  writes = 0
  await enable(sender)
  await settleDisabled(deps)
  assert.deepEqual([await count('queued'), writes > 2], [500, true])
})

test('the queue is searched again after a minute only, unless the disabled projects change', async (t) => {
  const sender = await openSender(t)
  let passes = 0
  const { core } = sender
  const list: typeof core.store.scan.list = (statement, values) => {
    if (/emails_ready/.test(statement.compiled().text)) passes += 1
    return core.store.scan.list(statement, values)
  }
  const scan = Object.assign(Object.create(core.store.scan) as typeof core.store.scan, { list })
  const deps = { ...core, store: { ...core.store, scan } }
  await settleDisabled(deps)
  assert.equal(passes, 0)
  await disable(sender)
  const emptied = await settleDisabled(deps)
  assert.equal(passes, 1)
  assert.equal(await settleDisabled(deps, { emptied }), emptied)
  assert.equal(passes, 1)
  await disable(sender, 'MANUAL')
  await settleDisabled(deps, { emptied })
  assert.equal(passes, 2)
})

test('all statements find their rows by an index, and none sorts', async (t) => {
  const { core } = await openSender(t)
  const statements = await import(
    '../../../../../src/features/mail/messages/disabled/waiting-rows.ts'
  )
  for (const [name, statement] of Object.entries(statements)) {
    const text = statement.compiled().text.replaceAll('?', 'null')
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text}`),
    )
    assert.ok(plan.length > 0)
    assert.ok(!plan.some(({ detail }) => /emails_newest/.test(detail)), name)
    for (const { detail } of plan) {
      // One pass over the queue, in its index alone.
      if (
        name === 'listQueuedOfProjects' &&
        detail === 'SCAN emails USING COVERING INDEX emails_ready'
      )
        continue
      if (name === 'listDisabled' && /^SCAN projects USING INDEX projects_disabled$/.test(detail))
        continue
      assert.doesNotMatch(detail, /^SCAN (?!\(|CONSTANT|json_each|parked)/, `${name}: ${detail}`)
      assert.doesNotMatch(detail, /TEMP B-TREE/, `${name}: ${detail}`)
    }
  }
})
