import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import { createKeyring } from '../../../../src/config/keyring.ts'
import { createSchedule } from '../../../../src/core/areas.ts'
import { resealAll } from '../../../../src/features/operation/seals/seals.ts'
import { startReplay } from '../../../../src/features/outreach/webhooks/deliveries/replay-range.ts'
import { deleteEndpoint } from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { readSigningSecret } from '../../../../src/features/outreach/webhooks/signing-secret.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { webhookDeliveries, webhookEndpoints } from '../../../../src/store/schema/webhooks.ts'
import { startJobs } from '../../../../src/work/jobs/jobs.ts'
import { SECRET } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { openStage, type WebhookStage } from './harness.ts'
import { startReceiver } from './receiver.ts'

async function work({ core }: WebhookStage): Promise<void> {
  const { handlers, limits } = createSchedule(core)
  const { store, log, now } = core
  const loop = startJobs({ store, log, now, handlers, limits })
  const done = () => store.read.$count(jobs, eq(jobs.state, 'completed'))
  while ((await done()) < (await store.read.$count(jobs))) await pause()
  await loop.stop(1_000)
}

test('the events of a span are sent again, in order, also unlisted ones, under the same ids', async (t) => {
  const stage = await openStage(t)
  const { core, projectId } = stage
  const at = core.clock.now - 10 * DAY_MS
  const event = (n: number, name: string) => ({ name, data: { n }, at: at + n })
  await stage.append(
    ...Array.from({ length: 1_200 }, (_, n) =>
      event(n, ['wanted', 'email.failed', 'other'][n % 3]!),
    ),
  )
  const receiver = await startReceiver(t)
  const { id } = await stage.addEndpoint(receiver.url, ['wanted', 'email.failed'])
  const key = { projectId, id }
  await startReplay(core, key, { since: at + 300, until: at + 1_099 })
  await work(stage)
  const rows = await stage.settled(id, ({ status }) => status === 'SUCCEEDED')
  const wanted = Array.from({ length: 800 }, (_, index) => 300 + index).filter((n) => n % 3 < 2)
  assert.equal(rows.length, wanted.length)
  const sent = new Map(
    receiver.received.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body)]),
  )
  assert.deepEqual(
    rows.map(({ eventId }) => sent.get(eventId).data.data.n),
    wanted,
  )
})

test('a deleted endpoint is unknown at once, and its rows go in batches', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const { id } = await stage.addEndpoint(receiver.url)
  const kept = await stage.addEndpoint(receiver.url)
  await stage.append(...Array.from({ length: 650 }, () => ({})))
  await deleteEndpoint(stage.core, { projectId: stage.projectId, id })
  await work(stage)
  assert.equal((await stage.deliveries(id)).length, 0)
  assert.equal((await stage.deliveries(kept.id)).length, 650)
  assert.equal(await stage.core.store.read.$count(webhookEndpoints), 1)
})

test('an endpoint gets no event of another project, and none from before its creation', async (t) => {
  const stage = await openStage(t)
  await stage.append({})
  const receiver = await startReceiver(t)
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({ projectId: 'another project' })
  await stage.append({})
  assert.equal((await stage.deliveries(id)).length, 1)
  assert.equal(await stage.core.store.read.$count(webhookDeliveries), 1)
})

test('secrets are sealed again after a change of the secret', async (t) => {
  const stage = await openStage(t)
  const { core, projectId } = stage
  await stage.addEndpoint('http://127.0.0.1:9/')
  const { secret } = await readSigningSecret(core, projectId)
  assert.equal(await resealAll(core), 0)
  const keyring = createKeyring('another secret, long enough for everything', SECRET)
  // The endpoint's secret, that of steps, and the key of address digests.
  assert.equal(await resealAll({ ...core, keyring }), 3)
  const alone = createKeyring('another secret, long enough for everything')
  const shown = await readSigningSecret({ ...core, keyring: alone }, projectId)
  assert.equal(shown.secret, secret)
})
