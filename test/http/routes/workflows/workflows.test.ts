import assert from 'node:assert/strict'
import { beforeEach, describe, it, test } from 'node:test'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { deleteWorkflowRows } from '../../../../src/features/outreach/workflows/definition/delete.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
} from '../../../../src/store/schema/workflows.ts'
import { useService } from '../../service.ts'
import { workflowClient } from './client.ts'

const started = useService()
const { service, mine, other, call } = started
const { ok, create, show, patch, add, stand, chain, ways, enable } = workflowClient(started)

beforeEach(() => service.core.store.write(async (tx) => void (await tx.delete(workflows))))

const rowOf = (id: string) =>
  service.core.store.read.select().from(workflows).where(eq(workflows.id, id)).get()

const makeSegment = async (projectId = mine.id) =>
  (await createSegment(service.core, { projectId, name: newId(), type: 'STATIC' })).id

const noticesOf = () => {
  const kinds: string[] = []
  service.core.workflowNotifier.listen(({ kind }) => kinds.push(kind))
  return kinds
}

test('a workflow is created disabled, with its TRIGGER, and read', async () => {
  const given = { description: 'D', enabled: true, allowReentry: true }
  const { warnings, ...body } = await create(given)
  assert.equal(warnings[0].field, 'enabled')
  const { id, createdAt, updatedAt, steps, ...fields } = body
  assert.deepEqual(fields, {
    name: 'W',
    description: 'D',
    enabled: false,
    triggerType: 'EVENT',
    triggerConfig: { eventName: 'signup' },
    allowReentry: true,
    version: 1,
    nextFireAt: null,
    projectId: mine.id,
  })
  assert.equal(createdAt, updatedAt)
  assert.equal(steps.length, 1)
  const [{ type, name, position, config }] = steps
  assert.deepEqual(
    { type, name, position, config },
    {
      type: 'TRIGGER',
      name: 'signup',
      position: { x: 100, y: 100 },
      config: { eventName: 'signup' },
    },
  )
  const read = await call('get', `/workflows/${id}`)
  assert.deepEqual([read.status, read.body, read.headers.etag], [200, body, '"1"'])
})

describe('the options of the trigger email.received', () => {
  const eventName = 'email.received'
  const first = { includeAutomatic: false, answersPerDay: 1 }

  it('begin with one answer a day for people only', async () => {
    assert.deepEqual((await create({ eventName })).triggerConfig, { eventName, ...first })
    const options = { includeAutomatic: true, answersPerDay: null }
    const given = await create({ eventName, triggerConfig: options })
    assert.deepEqual(given.triggerConfig, { eventName, ...options })
    assert.deepEqual(given.steps[0].config, { eventName })
    const { id } = await create()
    const moved = await patch(id, { triggerConfig: { eventName } })
    assert.deepEqual(moved.body.triggerConfig, { eventName, ...first })
  })

  it('stay as they are if absent, and change while executions are active', async () => {
    const { id } = await create({ eventName })
    const delay = await ok(add(id, 'DELAY', { amount: 1, unit: 'days' }), 201)
    await enable(id)
    await stand(id, delay.id)
    const { enabledSeq } = (await rowOf(id)) ?? {}
    await service.core.store.write((tx) =>
      appendEvents(tx, [
        { projectId: mine.id, name: 'x', contactId: null, emailId: null, data: null, at: 0 },
      ]),
    )
    const set = async (options: object) => {
      const answer = await ok(patch(id, { triggerConfig: { eventName, ...options } }))
      const { eventName: _, ...stored } = answer.triggerConfig
      return stored
    }
    assert.deepEqual(await set({ answersPerDay: null }), { ...first, answersPerDay: null })
    assert.deepEqual(await set({}), { ...first, answersPerDay: null })
    assert.deepEqual(await set({ includeAutomatic: true }), {
      ...{ includeAutomatic: true, answersPerDay: null },
    })
    assert.equal((await rowOf(id))?.enabledSeq, enabledSeq, 'no event is passed over')
    assert.equal((await patch(id, { triggerConfig: { eventName: 'b' } })).status, 409)
  })

  for (const [title, triggerConfig, field] of [
    ['none a day', { eventName, answersPerDay: 0 }, 'answersPerDay too_small'],
    ['too many a day', { eventName, answersPerDay: 1_001 }, 'answersPerDay too_big'],
    ['half an answer', { eventName, answersPerDay: 1.5 }, 'answersPerDay invalid_type'],
    ['a word', { eventName, includeAutomatic: 'yes' }, 'includeAutomatic invalid_type'],
    ['another event', { eventName: 'b', answersPerDay: 1 }, 'answersPerDay custom'],
    ['another event too', { eventName: 'b', includeAutomatic: true }, 'includeAutomatic custom'],
  ] as const) {
    it(`are refused: ${title}`, async () => {
      const { id } = await create()
      for (const answer of [
        await patch(id, { triggerConfig }),
        await call('post', '/workflows').send({ name: 'W', triggerConfig }),
      ]) {
        assert.equal(answer.status, 422)
        const [error] = answer.body.error.errors
        assert.equal(`${error.field} ${error.code}`, `triggerConfig.${field}`)
      }
    })
  }
})

test('a new workflow is triggered by an event, whatever the request says', async () => {
  const body = await create({ triggerType: 'SCHEDULE', triggerConfig: { schedule: '* * * * *' } })
  assert.equal(body.triggerType, 'EVENT')
  const config = { eventName: undefined, triggerConfig: { eventName: 'email.opened' } }
  const { id, triggerConfig } = await create(config)
  assert.deepEqual(triggerConfig, { eventName: 'email.opened' })
  assert.equal((await rowOf(id))?.triggerEvent, 'email.open')
})

describe('a workflow is not created', () => {
  const refused: [string, object, string[]][] = [
    ['without anything', { name: undefined, eventName: undefined }, ['name invalid_type']],
    ['without an event', { eventName: undefined }, ['eventName custom']],
    ['with an empty name', { name: '' }, ['name too_small']],
    ['with a long name', { name: 'x'.repeat(101) }, ['name too_big']],
    ['with a long description', { description: 'x'.repeat(501) }, ['description too_big']],
    ['with a long event', { eventName: 'x'.repeat(256) }, ['eventName too_big']],
    ['with two events', { triggerConfig: { eventName: 'b' } }, ['triggerConfig.eventName custom']],
    ['with text for a flag', { allowReentry: 'yes' }, ['allowReentry invalid_type']],
  ]
  for (const [title, change, errors] of refused) {
    it(title, async () => {
      const answer = await call('post', '/workflows').send({ name: 'W', eventName: 'a', ...change })
      assert.deepEqual([answer.status, answer.body.error.code], [422, 'VALIDATION_ERROR'])
      const found = answer.body.error.errors.map(
        ({ field, code }: { field: string; code: string }) => `${field} ${code}`,
      )
      assert.deepEqual(found, errors)
      assert.equal(await service.core.store.read.$count(workflows), 0)
    })
  }
})

test('workflows are listed by page, search, status and number of steps, with their counts', async () => {
  const first = await create({ name: 'Alpha' })
  const second = await chain()
  await create({ name: 'Gamma', description: 'the BETA one' })
  await create({ name: 'Foreign' }, other)
  await stand(second.id, second.delay)
  await stand(second.id, second.delay, { status: 'COMPLETED' })
  await enable(first.id)

  const list = async (query: object) =>
    (await ok(call('get', '/workflows').query(query))) as {
      data: { id: string; name: string; _count: object }[]
      total: number
    }
  const all = await list({})
  assert.deepEqual([all.total, all.data.map(({ name }) => name)], [3, ['Gamma', 'W', 'Alpha']])
  assert.deepEqual(all.data[1]?._count, { steps: 4, executions: 2 })
  const names = async (query: object) => (await list(query)).data.map(({ name }) => name)
  assert.deepEqual(await names({ search: 'beta' }), ['Gamma'])
  assert.deepEqual(await names({ status: 'active' }), ['Alpha'])
  assert.deepEqual(await names({ status: 'disabled' }), ['Gamma', 'W'])
  assert.deepEqual(await names({ sort: 'steps' }), ['W', 'Gamma', 'Alpha'])
  assert.deepEqual(await names({ sort: 'name', dir: 'asc' }), ['Alpha', 'Gamma', 'W'])
  assert.deepEqual(await names({ sort: 'nonsense', dir: 'up' }), ['Gamma', 'W', 'Alpha'])
  const page = await ok(call('get', '/workflows').query({ page: 2, pageSize: 2 }))
  assert.deepEqual(
    [page.data.length, page.total, page.page, page.pageSize, page.totalPages],
    [1, 3, 2, 2, 2],
  )
  assert.equal((await call('get', '/workflows').query({ status: 'on' })).status, 422)
})

test('a PATCH changes the given fields, and each change makes a version', async () => {
  const { id } = await create()
  const changed = await patch(id, { name: 'New', description: 'D', allowReentry: true })
  assert.deepEqual([changed.status, changed.headers.etag], [200, '"2"'])
  assert.deepEqual(await show(id), changed.body)
  const same = await patch(id, { name: 'New' })
  assert.deepEqual([same.headers.etag, same.body.updatedAt], ['"2"', changed.body.updatedAt])
  assert.equal((await patch(id, { description: null })).body.description, null)
})

test('a PATCH with If-Match changes that version only', async () => {
  const { id } = await create()
  const withTag = (tag: string) => patch(id, { name: 'New' }).set('If-Match', tag)
  const stale = await withTag('"7"')
  assert.deepEqual([stale.status, stale.body.error.code], [412, 'CONFLICT'])
  assert.equal(stale.body.error.details.current.name, 'W')
  assert.equal((await withTag('nonsense')).status, 422)
  assert.equal((await show(id)).version, 1)
  assert.equal((await withTag('"1"')).status, 200)
})

describe('the trigger', () => {
  test('of an event follows into the TRIGGER step, with its name', async () => {
    const { id, steps } = await create()
    const change = { triggerConfig: { eventName: 'email.clicked' } }
    const { body } = await patch(id, change)
    assert.deepEqual(body.triggerConfig, change.triggerConfig)
    assert.deepEqual(body.steps[0].config, change.triggerConfig)
    assert.equal(body.steps[0].name, 'email.clicked')
    assert.equal((await rowOf(id))?.triggerEvent, 'email.click')
    await ok(call('patch', `/workflows/${id}/steps/${steps[0].id}`).send({ name: 'Start' }))
    const again = await patch(id, { triggerConfig: { eventName: 'b' } })
    assert.equal(again.body.steps[0].name, 'Start')
  })

  test('may be requests only, and an event again', async () => {
    const { id } = await create()
    const manual = await patch(id, { triggerType: 'MANUAL', triggerConfig: { eventName: 'x' } })
    assert.deepEqual([manual.body.triggerType, manual.body.triggerConfig], ['MANUAL', null])
    assert.deepEqual(manual.body.steps[0].config, {})
    assert.equal((await rowOf(id))?.triggerEvent, null)
    assert.equal((await patch(id, { triggerType: 'EVENT' })).status, 422)
    const wrongNames = ['', 'a\nb', 'a\tb', 'a\u0085', '\ud800', '.', '..', 'x'.repeat(256), 5]
    for (const eventName of wrongNames) {
      const wrong = await patch(id, { triggerType: 'EVENT', triggerConfig: { eventName } })
      assert.equal(wrong.body.error.errors[0].field, 'triggerConfig.eventName')
    }
    const back = await patch(id, { triggerType: 'EVENT', triggerConfig: { eventName: 'b' } })
    assert.equal(back.body.steps[0].config.eventName, 'b')
  })

  test('may be a schedule, which fires only while the workflow is enabled', async () => {
    const { id } = await create()
    const segmentId = await makeSegment()
    const config = { schedule: '0 9 * * *', segmentId }
    const set = await patch(id, { triggerType: 'SCHEDULE', triggerConfig: config })
    assert.deepEqual(set.body.triggerConfig, { ...config, timezone: 'UTC' })
    assert.equal(set.body.nextFireAt, null)
    assert.equal((await rowOf(id))?.segmentId, segmentId)
    const on = await patch(id, { enabled: true })
    assert.match(on.body.nextFireAt, /T09:00:00\.000Z$/)
    const timezone = 'Asia/Kathmandu'
    const moved = await patch(id, { triggerConfig: { ...config, timezone } })
    assert.match(moved.body.nextFireAt, /T03:15:00\.000Z$/)
    assert.equal((await patch(id, { name: 'X' })).body.nextFireAt, moved.body.nextFireAt)
    assert.equal((await patch(id, { enabled: false })).body.nextFireAt, null)
  })

  const segmentId = newId()
  const refused: [string, unknown, string][] = [
    ['no config', undefined, 'triggerConfig'],
    ['a null', null, 'triggerConfig'],
    ['a list', [], 'triggerConfig'],
    ['no schedule', { segmentId }, 'triggerConfig.schedule'],
    ['no segment', { schedule: '0 9 * * *' }, 'triggerConfig.segmentId'],
    ['no UUID', { schedule: '0 9 * * *', segmentId: 'x' }, 'triggerConfig.segmentId'],
    ['six fields', { schedule: '0 0 9 * * *', segmentId }, 'triggerConfig.schedule'],
    ['nonsense', { schedule: 'every day', segmentId }, 'triggerConfig.schedule'],
    ['a day that never comes', { schedule: '0 0 31 2 *', segmentId }, 'triggerConfig.schedule'],
    [
      'a time zone that does not exist',
      { schedule: '0 9 * * *', timezone: 'Mars/Olympus', segmentId },
      'triggerConfig.timezone',
    ],
    [
      'an offset as time zone',
      { schedule: '0 9 * * *', timezone: '+02:00', segmentId },
      'triggerConfig.timezone',
    ],
  ]
  for (const [title, triggerConfig, field] of refused) {
    it(`is not a schedule with ${title}`, async () => {
      const { id } = await create()
      const answer = await patch(id, { triggerType: 'SCHEDULE', triggerConfig })
      assert.deepEqual([answer.status, answer.body.error.errors[0].field], [422, field])
      assert.equal((await show(id)).version, 1)
    })
  }

  test("is not a schedule for an unknown segment, nor for another project's", async () => {
    const { id } = await create()
    for (const segmentId of [newId(), await makeSegment(other.id)]) {
      const triggerConfig = { schedule: '0 9 * * *', segmentId }
      const answer = await patch(id, { triggerType: 'SCHEDULE', triggerConfig })
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    }
    assert.equal((await show(id)).triggerType, 'EVENT')
  })

  test('does not change while the workflow is enabled and has active executions', async () => {
    const { id, delay } = await chain()
    await enable(id)
    const number = await stand(id, delay)
    const change = { triggerConfig: { eventName: 'other' } }
    const answer = await patch(id, change)
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'CONFLICT'])
    assert.equal(
      (await patch(id, { triggerConfig: { eventName: 'signup' }, name: 'X' })).status,
      200,
    )
    await service.core.store.write((tx) =>
      tx.update(workflows).set({ cancelledThrough: number }).where(eq(workflows.id, id)),
    )
    assert.equal((await patch(id, change)).status, 200)
    await stand(id, delay)
    await ok(patch(id, { enabled: false }))
    assert.equal((await patch(id, { triggerType: 'MANUAL' })).status, 200)
  })
})

describe('enabling', () => {
  test('remembers the newest event, and tells the schedule', async () => {
    const kinds = noticesOf()
    const { id } = await chain()
    assert.equal((await rowOf(id))?.enabledSeq, 0)
    const event = {
      projectId: mine.id,
      contactId: null,
      emailId: null,
      name: 'a',
      data: null,
      at: 1,
    }
    await service.core.store.write((tx) => appendEvents(tx, [event, event]))
    kinds.length = 0
    await enable(id)
    const { enabledSeq = 0 } = (await rowOf(id)) ?? {}
    assert.ok(enabledSeq >= 2)
    assert.deepEqual(kinds, ['schedule'])
    await service.core.store.write((tx) => appendEvents(tx, [event]))
    await ok(patch(id, { enabled: true, name: 'Renamed' }))
    assert.equal((await rowOf(id))?.enabledSeq, enabledSeq)
    await ok(patch(id, { triggerConfig: { eventName: 'b' } }))
    assert.equal((await rowOf(id))?.enabledSeq, enabledSeq + 1)
  })

  test('is refused while the workflow has errors, and changes nothing', async () => {
    const { id } = await create()
    await ok(add(id, 'SEND_EMAIL'), 201)
    const answer = await patch(id, { enabled: true, name: 'X' })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'])
    const [finding] = answer.body.error.details.findings
    assert.deepEqual([finding.code, finding.severity], ['no_template', 'error'])
    const { enabled, name } = await show(id)
    assert.deepEqual([enabled, name], [false, 'W'])
  })
})

describe('a workflow', () => {
  test('is deleted with its executions', async () => {
    const { id, delay } = await chain()
    await stand(id, delay, { status: 'COMPLETED' })
    await enable(id)
    assert.equal((await call('delete', `/workflows/${id}`)).status, 204)
    assert.equal((await call('get', `/workflows/${id}`)).body.error.code, 'WORKFLOW_NOT_FOUND')
    const { read } = service.core.store
    const { signal } = new AbortController()
    await deleteWorkflowRows(service.core, { projectId: mine.id, signal })
    assert.equal(await read.$count(workflows), 0)
    assert.equal(await read.$count(workflowExecutions), 0)
    assert.equal(await read.$count(workflowStepExecutions), 0)
    assert.equal(await read.$count(workflowSteps), 0)
  })

  test('is not deleted while executions are active', async () => {
    const { id, delay } = await chain()
    const number = await stand(id, delay, { status: 'RUNNING' })
    const answer = await call('delete', `/workflows/${id}`)
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'CONFLICT'])
    assert.equal(await service.core.store.read.$count(workflowExecutions), 1)
    await service.core.store.write((tx) =>
      tx.update(workflows).set({ cancelledThrough: number }).where(eq(workflows.id, id)),
    )
    assert.equal((await call('delete', `/workflows/${id}`)).status, 204)
  })

  test('is copied, disabled, with steps of its own', async () => {
    const { id, delay } = await chain()
    await enable(id)
    await stand(id, delay)
    const email = await ok(add(id, 'SEND_EMAIL', {}, { autoConnect: false }), 201)
    const waitConfig = { eventName: 'email.open', stepId: email.id }
    const wait = await ok(add(id, 'WAIT_FOR_EVENT', waitConfig), 201)
    const copy = await ok(call('post', `/workflows/${id}/duplicate`), 201)
    const original = await show(id)
    assert.deepEqual([copy.name, copy.enabled, copy.version], ['W (Copy)', false, 1])
    assert.deepEqual(copy.triggerConfig, original.triggerConfig)
    assert.deepEqual(await ways(copy.id), await ways(id))
    const typed = (type: string) => copy.steps.find((step: { type: string }) => step.type === type)
    assert.equal(typed('WAIT_FOR_EVENT').config.stepId, typed('SEND_EMAIL').id)
    const ids = new Set(original.steps.map((step: { id: string }) => step.id))
    assert.ok(copy.steps.every((step: { id: string }) => !ids.has(step.id)))
    assert.ok(wait.id !== typed('WAIT_FOR_EVENT').id)
    assert.equal(await service.core.store.read.$count(workflowExecutions), 1)
  })

  const unknown: [string, () => string][] = [
    ['an unknown id', () => newId()],
    ["another project's", () => foreign],
  ]
  let foreign = ''
  for (const [title, idOf] of unknown) {
    it(`is not found by ${title}`, async () => {
      foreign = (await create({ name: 'Foreign' }, other)).id
      const id = idOf()
      const answers = await Promise.all([
        call('get', `/workflows/${id}`),
        patch(id, { name: 'X' }),
        call('delete', `/workflows/${id}`),
        call('post', `/workflows/${id}/duplicate`),
        call('post', `/workflows/${id}/validate`),
        call('post', '/workflows/bulk-update').send({ ids: [id], delete: true }),
        add(id, 'EXIT'),
        call('put', `/workflows/${id}/graph`).send({ steps: [], transitions: [] }),
      ])
      for (const { status, body } of answers) {
        assert.deepEqual([status, body.error.code], [404, 'WORKFLOW_NOT_FOUND'])
      }
      const left = await service.core.store.read.select().from(workflows)
      assert.deepEqual(
        left.map(({ name, version }) => [name, version]),
        [['Foreign', 1]],
      )
    })
  }

  test('needs a UUID', async () => {
    assert.equal((await call('get', '/workflows/nonsense')).status, 422)
  })
})

test('bulk-update deletes all workflows or none', async () => {
  const [first, second] = [await create(), await create()]
  const bulk = (ids: string[], more: object = { delete: true }) =>
    call('post', '/workflows/bulk-update').send({ ids, ...more })
  assert.equal((await bulk([first.id, newId()])).status, 404)
  const number = await stand(second.id, second.steps[0].id)
  assert.equal((await bulk([first.id, second.id])).status, 409)
  assert.deepEqual((await bulk([first.id], {})).body, { updated: 0 })
  assert.equal(await service.core.store.read.$count(workflows), 2)
  assert.equal((await bulk([])).status, 422)
  await service.core.store.write((tx) =>
    tx.delete(workflowExecutions).where(eq(workflowExecutions.number, number)),
  )
  assert.deepEqual((await bulk([first.id, second.id, first.id])).body, { deleted: 2 })
  assert.equal((await ok(call('get', '/workflows'))).total, 0)
  assert.equal((await bulk([first.id])).status, 404)
})

test('the fields of conditions are those of contacts, of their data and of an event', async () => {
  const address = 'fields@people.test'
  await service.core.store.write(async (tx) => {
    await tx.delete(contacts)
    const data = { plan: 'pro', age: 5 }
    await tx.insert(contacts).values({
      ...{ id: newId(), projectId: mine.id, address, subscribed: true, data },
      ...{ createdAt: 1, updatedAt: 1 },
    })
    const event = { projectId: mine.id, contactId: null, emailId: null, at: 1 }
    const data2 = { total: 5.5, paid: true, list: [1], 'a.b': 'x', __key: null }
    const oneShot = { total: { value: 3, persistent: false } }
    await appendEvents(tx, [
      { ...event, name: 'order', data: data2 },
      { ...event, name: 'order', data: oneShot },
      { ...event, name: 'order', data: ['a list'] },
      { ...event, name: 'order', data: null },
      { ...event, name: 'email.click', data: { link: 'x', clicks: 1 } },
      { ...event, projectId: other.id, name: 'order', data: { foreign: 1 } },
    ])
  })
  const fields = (query: object) => ok(call('get', '/workflows/fields').query(query))
  const plain = await fields({})
  assert.deepEqual(plain, {
    fields: ['contact.email', 'contact.subscribed', 'data.age', 'data.plan'],
    typedFields: [
      { field: 'contact.email', type: 'string', category: 'Contact Fields' },
      { field: 'contact.subscribed', type: 'boolean', category: 'Contact Fields' },
      { field: 'data.age', type: 'number', category: 'Custom Data' },
      { field: 'data.plan', type: 'string', category: 'Custom Data' },
    ],
    count: 4,
  })
  const order = await fields({ eventName: 'order' })
  assert.equal(order.count, order.fields.length)
  assert.deepEqual(order.typedFields.slice(4), [
    { field: 'event.__key', type: 'string', category: 'Event Data' },
    { field: 'event.a.b', type: 'string', category: 'Event Data' },
    { field: 'event.list', type: 'string', category: 'Event Data' },
    { field: 'event.paid', type: 'boolean', category: 'Event Data' },
    { field: 'event.total', type: 'number', category: 'Event Data' },
  ])
  const click = await fields({ eventName: 'email.clicked' })
  for (const name of ['event.link', 'event.clicks', 'event.subject']) {
    assert.ok(click.fields.includes(name), name)
  }
  assert.equal(
    (await call('get', '/workflows/fields').query({ eventName: 'x'.repeat(256) })).status,
    422,
  )
})
