import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { startUrgentReader } from '../../../../src/features/ground/events/readers.ts'
import { createEndpoint } from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import {
  MAX_DELIVERY_ROWS,
  webhookHandler,
} from '../../../../src/features/outreach/webhooks/follow-events.ts'
import { asc } from '../../../../src/store/drizzle.ts'
import { webhookDeliveries } from '../../../../src/store/schema/webhooks.ts'
import type { Store } from '../../../../src/store/store.ts'
import { addProject } from '../../../core.ts'
import { openStage } from './harness.ts'

test('a transaction makes at most 500 deliveries, and none is lost or made twice', async (t) => {
  const stage = await openStage(t)
  const { core } = stage
  await stage.follower.stop()
  await stage.sender.stop(0)
  for (let count = 0; count < 20; count += 1) await stage.addEndpoint('http://127.0.0.1:9/')
  await appendOnly(stage, 90)
  const counts: number[] = []
  const write: Store['write'] = async (...given) => {
    const before = await core.store.read.$count(webhookDeliveries)
    const result = await core.store.write(...given)
    counts.push((await core.store.read.$count(webhookDeliveries)) - before)
    return result
  }
  const follower = startUrgentReader({ ...core, store: { ...core.store, write } }, [
    webhookHandler(core),
  ])
  t.after(() => follower.stop())
  await follower.caughtUp()
  assert.ok(Math.max(...counts) <= MAX_DELIVERY_ROWS, String(counts))
  const rows = await core.store.read
    .select()
    .from(webhookDeliveries)
    .orderBy(asc(webhookDeliveries.number))
  const seqs = rows.map(({ eventSeq }) => eventSeq ?? 0)
  assert.equal(
    new Set(rows.map(({ endpointId, eventSeq }) => `${endpointId} ${eventSeq}`)).size,
    1_800,
  )
  assert.deepEqual([rows.length, seqs], [1_800, seqs.toSorted((one, other) => one - other)])
})

test('endpoints of several projects get the events of their own, by name and by beginning', async (t) => {
  const stage = await openStage(t)
  const { core, projectId } = stage
  await stage.sender.stop(0)
  const other = await addProject(core)
  const mine = await stage.addEndpoint('http://127.0.0.1:9/', ['a', 'b.*'])
  const theirs = await createEndpoint(core, {
    ...{ projectId: other.id, url: 'http://127.0.0.1:9/', events: ['b.1'] },
  })
  const names = ['a', 'b.1', 'c', 'b.2', 'a']
  await stage.append(
    ...names.flatMap((name) => [
      { name, projectId },
      { name, projectId: other.id },
    ]),
  )
  const got = async (id: string) => (await stage.deliveries(id)).map(({ eventName }) => eventName)
  assert.deepEqual(await got(mine.id), ['a', 'b.1', 'b.2', 'a'])
  assert.deepEqual(await got(theirs.id), ['b.1'])
})

async function appendOnly(
  { core, projectId }: Awaited<ReturnType<typeof openStage>>,
  count: number,
) {
  const event = { projectId, name: 'n', contactId: null, emailId: null, data: {}, at: core.now() }
  await core.store.write((tx) =>
    appendEvents(
      tx,
      Array.from({ length: count }, () => event),
    ),
  )
}
