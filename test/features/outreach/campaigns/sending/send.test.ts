import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { sendCampaign } from '../../../../../src/features/outreach/campaigns/sending/send.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import type { ContentClass } from '../../../../../src/store/schema/words.ts'
import { addProject, type TestCore } from '../../../../core.ts'
import {
  addCampaign,
  addContacts,
  breakCounts,
  emailsOf,
  eventNames,
  loadCampaignRow,
  openSendingCore,
  runUntil,
} from './campaign.ts'

test('a campaign is scheduled, scheduled again, and sent at its time', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [{ address: 'a@x.test' }])
  const id = await addCampaign(core, project.id)
  const key = { projectId: project.id, id }
  const { campaign, message } = await sendCampaign(core, key, { scheduledFor: '2026-11-23' })
  assert.deepEqual(
    [campaign.status, campaign.scheduledFor],
    ['SCHEDULED', '2026-11-23T00:00:00.000Z'],
  )
  assert.match(message, /2026-11-23 00:00:00Z/)
  await sendCampaign(core, key, { scheduledFor: '2026-11-22T10:00:00+02:00' })
  assert.equal((await loadCampaignRow(core, id)).scheduledFor, Date.UTC(2026, 10, 22, 8))
  const early = await addCampaign(core, project.id, { status: 'SCHEDULED', scheduledFor: 1 })
  await runUntil(core, async () => (await emailsOf(core, early)).length === 1)
  assert.equal((await loadCampaignRow(core, id)).status, 'SCHEDULED')
  core.clock.now = Date.UTC(2026, 10, 22, 8)
  await runUntil(core, async () => (await emailsOf(core, id)).length === 1)
  assert.deepEqual(await eventNames(core, 'campaign.'), [
    'campaign.scheduled',
    'campaign.scheduled',
  ])
})

test('a campaign that was sent is not sent again', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [{ address: 'a@x.test' }])
  const id = await addCampaign(core, project.id)
  const key = { projectId: project.id, id }
  const results = await Promise.allSettled([sendCampaign(core, key), sendCampaign(core, key)])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await assert.rejects(sendCampaign(core, key), { code: 'BAD_REQUEST' })
  await assert.rejects(sendCampaign(core, { ...key, id: newId() }), { code: 'CAMPAIGN_NOT_FOUND' })
  const foreign = await addProject(core)
  await assert.rejects(sendCampaign(core, { id, projectId: foreign.id }), {
    code: 'CAMPAIGN_NOT_FOUND',
  })
})

test('a campaign without recipients, or of an unverified domain, is refused', async (t) => {
  const { core, project } = await openSendingCore(t)
  const id = await addCampaign(core, project.id)
  const key = { projectId: project.id, id }
  const address = 'gone@x.test'
  await addContacts(core, project.id, [{ address: 'no@x.test', subscribed: false }, { address }])
  const row = { projectId: project.id, reason: 'MANUAL', source: 'api', createdAt: 1 } as const
  await core.store.write((tx) => tx.insert(suppressions).values({ id: newId(), address, ...row }))
  await assert.rejects(sendCampaign(core, key), { code: 'BAD_REQUEST' })
  const foreign = await addCampaign(core, project.id, { fromDomain: 'other.test' })
  await assert.rejects(sendCampaign(core, { ...key, id: foreign }), { code: 'FORBIDDEN' })
  assert.equal((await loadCampaignRow(core, id)).status, 'DRAFT')
  const receipt = await addCampaign(core, project.id, { type: 'TRANSACTIONAL' })
  await sendCampaign(core, { ...key, id: receipt })
  assert.equal((await loadCampaignRow(core, receipt)).status, 'SENDING')
})

/** A core on which an unsubscribed contact gets a TRANSACTIONAL campaign, and the campaign's key. */
async function openTransactional(t: Parameters<typeof openSendingCore>[0]) {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [{ address: 'left@x.test', subscribed: false }])
  const id = await addCampaign(core, project.id, { type: 'TRANSACTIONAL' })
  return { core, key: { projectId: project.id, id } }
}

test('a count of the unsubscribed recipients that fails is logged, and the campaign is sent', async (t) => {
  const { core, key } = await openTransactional(t)
  const lines: unknown[] = []
  const broken = new Error('the scan threads are busy')
  breakCounts(t, core, () => Promise.reject(broken))
  const log = { ...core.log, warn: (...line: unknown[]) => void lines.push(line) } as never
  const sent = await sendCampaign({ ...core, log }, key)
  assert.deepEqual([sent.campaign.status, sent.unsubscribedRecipients], ['SENDING', undefined])
  assert.equal((await loadCampaignRow(core, key.id)).status, 'SENDING')
  const text = 'the unsubscribed recipients of a campaign could not be counted'
  assert.deepEqual(lines, [[{ error: broken, campaignId: key.id }, text]])
})

test('a count of the unsubscribed recipients that never ends begins after the sending, and only once', async (t) => {
  const { core, key } = await openTransactional(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let runs = 0
  const begun = Promise.withResolvers<void>()
  breakCounts(t, core, () => {
    runs += 1
    begun.resolve()
    return new Promise<never>(() => undefined)
  })
  const send = async (scheduledFor?: string) => {
    const asked = Promise.withResolvers<void>()
    const take: TestCore['sharedRuns']['take'] = (name, act) => {
      asked.resolve()
      return core.sharedRuns.take(name, act)
    }
    const sending = sendCampaign({ ...core, sharedRuns: { take } }, key, { scheduledFor })
    await asked.promise
    const { status } = await loadCampaignRow(core, key.id)
    await begun.promise
    t.mock.timers.tick(2_000)
    return [status, (await sending).unsubscribedRecipients]
  }
  const tomorrow = new Date(core.now() + DAY_MS).toISOString()
  assert.deepEqual(await send(tomorrow), ['SCHEDULED', undefined])
  assert.deepEqual(await send(), ['SENDING', undefined])
  assert.equal(runs, 1)
})

test('the refusal of an empty audience names those whom the type leaves out', async (t) => {
  const { core, project } = await openSendingCore(t)
  const suggestionOf = async (type: ContentClass) => {
    const id = await addCampaign(core, project.id, { type })
    const error = await sendCampaign(core, { projectId: project.id, id }).catch((error) => error)
    return error.suggestion
  }
  const look = 'Look at the audience of the campaign: who is'
  for (const type of ['MARKETING', 'HEADLESS'] as const) {
    assert.equal(await suggestionOf(type), `${look} unsubscribed or suppressed is left out.`)
  }
  assert.equal(await suggestionOf('TRANSACTIONAL'), `${look} suppressed is left out.`)
})

test('a time that is no time, has passed or is too far away is refused', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [{ address: 'a@x.test' }])
  const id = await addCampaign(core, project.id)
  const tell = async (at: number | string) => {
    const scheduledFor = typeof at === 'string' ? at : new Date(at).toISOString()
    const key = { projectId: project.id, id }
    return sendCampaign(core, key, { scheduledFor }).then(
      () => 'sent',
      (error: { code: string }) => error.code,
    )
  }
  const { now } = core.clock
  assert.equal(await tell('tomorrow'), 'VALIDATION_ERROR')
  assert.equal(await tell('2026-02-30'), 'VALIDATION_ERROR')
  assert.equal(await tell('+010000-01-01T00:00:00Z'), 'VALIDATION_ERROR')
  assert.equal(await tell(now + 366 * DAY_MS + 1), 'VALIDATION_ERROR')
  assert.equal(await tell(now), 'BAD_REQUEST')
  assert.equal(await tell(now - DAY_MS), 'BAD_REQUEST')
  assert.equal((await loadCampaignRow(core, id)).status, 'DRAFT')
  assert.equal(await tell(now + 366 * DAY_MS), 'sent')
})
