import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/base/clock.ts'
import { createSchedule } from '../../../../src/core/areas.ts'
import { deleteExpiredDeliveries } from '../../../../src/features/outreach/webhooks/deliveries/deliveries.ts'
import { replayDelivery } from '../../../../src/features/outreach/webhooks/deliveries/replay.ts'
import {
  createEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { loadEndpointRecord } from '../../../../src/features/outreach/webhooks/endpoints/endpoint.ts'
import { takeDeliveries } from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { type WebhookDelivery, webhookEndpoints } from '../../../../src/store/schema/webhooks.ts'
import { addProject } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { openStage } from './harness.ts'
import { startReceiver } from './receiver.ts'

const hasEnded = ({ dueAt }: WebhookDelivery) => dueAt === null
const wasTried = ({ attempts }: WebhookDelivery) => attempts > 0

test('S24: an event reaches each endpoint that wants it, signed, under its own id', async (t) => {
  const stage = await openStage(t, { now: Date.now })
  const receiver = await startReceiver(t)
  const all = await stage.addEndpoint(`${receiver.url}/all`)
  const orders = await stage.addEndpoint(`${receiver.url}/orders`, ['order placed'])
  await stage.addEndpoint(`${receiver.url}/mail`, ['email.*'])
  await stage.append({ data: { total: 3 } })
  const received = await receiver.waitFor(2)
  const [row] = await stage.core.store.read.select().from(events)
  for (const { headers, body, url } of received) {
    const { secret } = url.endsWith('/all') ? all : orders
    const payload = new Webhook(secret).verify(body, headers as Record<string, string>)
    assert.equal(headers['webhook-id'], row?.id)
    assert.deepEqual(payload, {
      type: 'order placed',
      timestamp: new Date(row?.createdAt ?? 0).toISOString(),
      data: {
        ...{ id: row?.id, name: 'order placed', data: { total: 3 }, projectId: stage.projectId },
        ...{ contactId: null, emailId: null },
        createdAt: new Date(row?.createdAt ?? 0).toISOString(),
        contact: null,
      },
    })
  }
  await stage.settled(all.id, hasEnded)
  assert.deepEqual(received.map(({ url }) => url).sort(), ['/hook/all', '/hook/orders'])
})

test('during a rotation both secrets sign, and the previous one no longer after a day', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  const { id, secret } = await stage.addEndpoint(receiver.url)
  const key = { projectId: stage.projectId, id }
  const rotated = await rotateEndpointSecret(stage.core, key)
  await stage.append({})
  await receiver.waitFor(1)
  stage.core.clock.now += DAY_MS + 1
  await stage.append({})
  const [both, one] = await receiver.waitFor(2)
  const signaturesOf = (request: typeof both) =>
    String(request?.headers['webhook-signature']).split(' ')
  const sign = (request: typeof both, by: string) =>
    new Webhook(by).sign(
      String(request?.headers['webhook-id']),
      new Date(Number(request?.headers['webhook-timestamp']) * 1_000),
      request?.body ?? '',
    )
  assert.deepEqual(signaturesOf(both), [sign(both, rotated.secret), sign(both, secret)])
  assert.deepEqual(signaturesOf(one), [sign(one, rotated.secret)])
})

test('a failure is tried again at its times, under one id, and fails at last', async (t) => {
  const stage = await openStage(t)
  const { clock } = stage.core
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end('broken')
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({})
  const waits: number[] = []
  for (let attempt = 1; attempt <= 9; attempt += 1) {
    const [row] = await stage.settled(id, ({ attempts }) => attempts === attempt)
    assert.equal(row?.error, 'the server answered 500')
    assert.equal(row?.response, 'broken')
    if (row?.dueAt === null) break
    waits.push((row?.dueAt ?? 0) - clock.now)
    clock.now = row?.dueAt ?? 0
    stage.sender.reload()
  }
  const [row] = await stage.deliveries(id)
  assert.deepEqual(
    [row?.status, row?.attempts, row?.statusCode, row?.completedAt],
    ['FAILED', 9, 500, clock.now],
  )
  assert.deepEqual(waits, [
    5 * SECOND_MS,
    ...[1, 5, 30].map((minutes) => minutes * MINUTE_MS),
    ...[2, 5, 10, 24].map((hours) => hours * HOUR_MS),
  ])
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
})

test('a longer wait that the server asks for is kept', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(429, { 'retry-after': '120' }).end()
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({})
  const [row] = await stage.settled(id, wasTried)
  assert.equal(row?.dueAt, stage.core.clock.now + 120 * SECOND_MS)
})

test('S24: a redirect is a failure and is not followed', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(302, { location: '/elsewhere' }).end()
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({})
  const [row] = await stage.settled(id, wasTried)
  assert.deepEqual([row?.status, row?.statusCode], ['PENDING', 302])
  assert.equal(receiver.received.length, 1)
})

test('a delivery that fails holds back no other of its endpoint', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response, { body }) =>
    response.writeHead(JSON.parse(body).data.data.n === 0 ? 500 : 200).end()
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append(...Array.from({ length: 120 }, (_, n) => ({ data: { n } })))
  const rows = await stage.settled(id, wasTried)
  assert.deepEqual(
    [rows.filter(({ status }) => status === 'SUCCEEDED').length, rows[0]?.status],
    [119, 'PENDING'],
  )
  const order = receiver.received.map(({ body }) => JSON.parse(body).data.data.n)
  assert.equal(new Set(order).size, 120)
})

test('410 disables the endpoint: an event tells so, and what waits fails', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(410).end()
  const { id } = await stage.addEndpoint(receiver.url)
  const key = { projectId: stage.projectId, id }
  await stage.append({})
  await stage.settled(id, wasTried)
  const endpoint = await loadEndpointRecord(stage.core, key)
  assert.deepEqual(
    [endpoint.enabled, endpoint.disabledReason],
    [false, 'the endpoint answered 410 (Gone)'],
  )
  await runJobs(stage)
  const [row] = await stage.deliveries(id)
  assert.equal(row?.status, 'FAILED')
  assert.match(row?.error ?? '', /the server answered 410; the endpoint was disabled/)
  const own = await stage.core.store.read
    .select()
    .from(events)
    .where(eq(events.name, 'webhook.disabled'))
  assert.deepEqual(
    own.map(({ data, contactId }) => [data, contactId]),
    [[{ endpointId: id, url: receiver.url, reason: endpoint.disabledReason }, null]],
  )
  await stage.append({})
  assert.equal((await stage.deliveries(id)).length, 1)
  await updateEndpoint(stage.core, key, { enabled: true })
  await stage.follower.caughtUp()
  assert.equal((await stage.deliveries(id)).length, 1)
})

test('S24: an endpoint that is down for six days with many events behind it is disabled, and all fail', async (t) => {
  const stage = await openStage(t)
  const { clock } = stage.core
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(503).end()
  const { id } = await stage.addEndpoint(receiver.url)
  const key = { projectId: stage.projectId, id }
  await stage.append({ data: { n: 'first' } })
  await stage.settled(id, wasTried)
  const begunAt = clock.now
  for (let day = 0; day < 6 && (await loadEndpointRecord(stage.core, key)).enabled; day += 1) {
    clock.now = begunAt + day * DAY_MS
    const before = (await stage.deliveries(id)).length
    await stage.append(...Array.from({ length: 120 }, (_, n) => ({ data: { day, n } })))
    stage.sender.reload()
    if (day < 5) await stage.settled(id, ({ attempts, number }) => attempts > 0 || number <= before)
    else await stage.settled(id, ({ dueAt, attempts }) => dueAt !== null || attempts > 0)
  }
  while ((await loadEndpointRecord(stage.core, key)).enabled) await pause()
  const endpoint = await loadEndpointRecord(stage.core, key)
  assert.equal(endpoint.disabledReason, 'no delivery has succeeded in five days')
  assert.equal(endpoint.failingSince, new Date(begunAt).toISOString())
  await runJobs(stage)
  const rows = await stage.deliveries(id)
  // The last batches may come after its end.
  assert.ok(rows.length > 1 + 5 * 120 && rows.length <= 1 + 6 * 120, String(rows.length))
  assert.deepEqual(
    rows.filter(({ status, dueAt }) => status !== 'FAILED' || dueAt !== null),
    [],
  )
  const asked = receiver.received.length
  stage.sender.reload()
  await stage.append({})
  assert.equal((await stage.deliveries(id)).length, rows.length)
  assert.equal(receiver.received.length, asked)
})

test('an endpoint that is enabled again sends new events at once, and tries them again once its old rows are cleared', async (t) => {
  const stage = await openStage(t)
  const { core, projectId } = stage
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const { id } = await stage.addEndpoint(receiver.url)
  const key = { projectId, id }
  await stage.append({}, {})
  await stage.settled(id, wasTried)
  await updateEndpoint(core, key, { enabled: false })
  await updateEndpoint(core, key, { enabled: true })
  await stage.append({})
  const later = (rows: WebhookDelivery[]) => rows.filter(({ number }) => number > 2)
  while (!later(await stage.deliveries(id)).every(wasTried)) await pause()
  // It would take what the test takes.
  await stage.sender.stop(0)
  core.clock.now += HOUR_MS
  const query = { taken: new Set<number>(), limit: 10 }
  const take = () => takeDeliveries(core, { id: id, projectId }, { ...query, now: core.clock.now })
  assert.deepEqual(await take(), { tasks: [], nextDueAt: core.clock.now + SECOND_MS })
  await runJobs(stage)
  const [row] = await core.store.read.select().from(webhookEndpoints)
  assert.equal(row?.failedThrough, 0)
  assert.deepEqual(
    (await stage.deliveries(id)).map(({ status }) => status),
    ['FAILED', 'FAILED', 'PENDING'],
  )
  assert.deepEqual(
    (await take()).tasks.map(({ number }) => number),
    [3],
  )
})

test('a success ends the time of failures', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  let status = 500
  receiver.answer = (response) => response.writeHead(status).end()
  const { id } = await stage.addEndpoint(receiver.url)
  const key = { projectId: stage.projectId, id }
  await stage.append({})
  await stage.settled(id, wasTried)
  assert.notEqual((await loadEndpointRecord(stage.core, key)).failingSince, null)
  status = 204
  stage.core.clock.now += 4 * DAY_MS
  stage.sender.reload()
  await stage.settled(id, hasEnded)
  const { failingSince, lastSuccessAt } = await loadEndpointRecord(stage.core, key)
  assert.equal(failingSince, null)
  assert.equal(lastSuccessAt, new Date(stage.core.clock.now).toISOString())
})

test('a delivery whose event was deleted fails with that reason and is not sent', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({})
  await stage.settled(id, wasTried)
  await stage.core.store.write((tx) => tx.delete(events))
  stage.core.clock.now += MINUTE_MS
  stage.sender.reload()
  const [row] = await stage.settled(id, hasEnded)
  assert.deepEqual([row?.status, row?.error], ['FAILED', 'the event was deleted'])
  assert.equal(receiver.received.length, 1)
})

test('F3: the clock set back a day delays no new event, and forward none at all', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  const { id } = await stage.addEndpoint(receiver.url)
  stage.core.clock.now -= DAY_MS
  await stage.append({})
  await receiver.waitFor(1)
  stage.core.clock.now += 2 * DAY_MS
  await stage.append({})
  await receiver.waitFor(2)
  await stage.settled(id, hasEnded)
})

test('a delivery that is brought forward is due at once, also with the clock set back a day', async (t) => {
  const stage = await openStage(t)
  const { core, projectId } = stage
  const receiver = await startReceiver(t)
  receiver.answer = (response) => response.writeHead(500).end()
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({})
  const [failed] = await stage.settled(id, wasTried)
  await stage.sender.stop(0)
  const shown = await replayDelivery(core, { projectId, id }, failed!.id)
  assert.equal(shown.nextAttemptAt, shown.lastAttemptAt)
  const query = { taken: new Set<number>(), limit: 10, now: core.clock.now - DAY_MS }
  assert.equal((await takeDeliveries(core, { id: id, projectId }, query)).tasks.length, 1)
})

test('successes are kept seven days, failures thirty', async (t) => {
  const stage = await openStage(t)
  const { clock } = stage.core
  const receiver = await startReceiver(t)
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({})
  await stage.settled(id, hasEnded)
  receiver.answer = (response) => response.writeHead(410).end()
  await stage.append({})
  await stage.settled(id, wasTried)
  await runJobs(stage)
  const kept = async () => (await stage.deliveries(id)).map(({ status }) => status)
  clock.now += 7 * DAY_MS
  assert.equal(await deleteExpiredDeliveries(stage.core), 0)
  clock.now += 1
  assert.equal(await deleteExpiredDeliveries(stage.core), 1)
  assert.deepEqual(await kept(), ['FAILED'])
  clock.now += 23 * DAY_MS
  assert.equal(await deleteExpiredDeliveries(stage.core), 1)
  assert.deepEqual(await kept(), [])
})

test('after a stop everything waits, and a new sender delivers it', async (t) => {
  const stage = await openStage(t)
  const receiver = await startReceiver(t)
  receiver.answer = () => undefined
  const { id } = await stage.addEndpoint(receiver.url)
  await stage.append({}, {})
  await receiver.waitFor(2)
  await stage.sender.stop(0)
  const rows = await stage.deliveries(id)
  assert.deepEqual(
    rows.map(({ status, attempts, dueAt }) => [status, attempts, dueAt]),
    [
      ['PENDING', 0, 0],
      ['PENDING', 0, 0],
    ],
  )
  receiver.answer = (response) => response.end()
  const { startWebhookSender } = await import(
    '../../../../src/features/outreach/webhooks/sending/sender.ts'
  )
  const again = startWebhookSender(stage.core)
  t.after(() => again.stop(0))
  await stage.settled(id, hasEnded)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(ids.slice(0, 2).sort(), ids.slice(2).sort())
})

async function runJobs({ core }: Awaited<ReturnType<typeof openStage>>): Promise<void> {
  const { startJobs } = await import('../../../../src/work/jobs/jobs.ts')
  const { jobs } = await import('../../../../src/store/schema/jobs.ts')
  const { handlers, limits } = createSchedule(core)
  const loop = startJobs({ store: core.store, log: core.log, now: core.now, handlers, limits })
  const left = () => core.store.read.$count(jobs, eq(jobs.state, 'completed'))
  const all = () => core.store.read.$count(jobs)
  while ((await left()) < (await all())) await pause()
  await loop.stop(1_000)
}

test('the deliveries of a disabled project wait until it is enabled', async (t) => {
  const stage = await openStage(t)
  const { core, projectId } = stage
  const receiver = await startReceiver(t)
  const other = await startReceiver(t)
  const { id } = await stage.addEndpoint(receiver.url)
  const setDisabled = (isDisabled: boolean) =>
    core.store.write((tx) =>
      tx.update(projects).set({ isDisabled }).where(eq(projects.id, projectId)).run(),
    )
  await setDisabled(true)
  await stage.append({})
  const { id: otherProject } = await addProject(core, 'Other')
  const input = { projectId: otherProject, url: other.url, events: ['*'] }
  await createEndpoint(core, input)
  await stage.append({ projectId: otherProject })
  await other.waitFor(1)
  const [row] = await stage.deliveries(id)
  assert.deepEqual([row?.status, row?.attempts], ['PENDING', 0])
  await setDisabled(false)
  stage.sender.reload()
  await receiver.waitFor(1)
})
