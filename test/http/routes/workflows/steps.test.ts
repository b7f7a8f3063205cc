import assert from 'node:assert/strict'
import { beforeEach, describe, it, test } from 'node:test'
import { createTemplate } from '../../../../src/features/mail/templates/templates.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
} from '../../../../src/store/schema/workflows.ts'
import { address, type TestProject, trustDomain } from '../../../core.ts'
import { addExecutions } from '../../../features/outreach/workflows/definition/add-execution.ts'
import { useService } from '../../service.ts'
import { at, type ShownStep, workflowClient } from './client.ts'

const started = useService({}, async ({ service, mine, other }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
  await trustDomain(service.core, other.id, 'other.test')
})
const { service, mine, other, call } = started
const { ok, create, show, add, link, stand, chain, ways, enable, patch } = workflowClient(started)
const read = () => service.core.store.read

beforeEach(() => service.core.store.write(async (tx) => void (await tx.delete(workflows))))

const makeTemplate = async (by: TestProject = mine) => {
  const from = address(by === mine ? 'a@shop.test' : 'a@other.test')
  const fields = { name: 'T', subject: 'S', body: 'B', from }
  return (await createTemplate(service.core, { ...fields, projectId: by.id })).id
}

const change = (id: string, stepId: string, body: object) =>
  call('patch', `/workflows/${id}/steps/${stepId}`).send(body)
const remove = (id: string, stepId: string, query: object = {}) =>
  call('delete', `/workflows/${id}/steps/${stepId}`).query(query)
const exists = { field: 'data.a', operator: 'exists' }
const versionOf = async (id: string) => (await show(id)).version

describe('a step is added', () => {
  test('and linked from the newest step that nothing follows', async () => {
    const { id } = await create()
    const delay = await ok(add(id, 'DELAY', { amount: 1, unit: 'hours' }), 201)
    const { createdAt, updatedAt, incomingTransitions, ...fields } = delay
    assert.deepEqual(fields, {
      id: delay.id,
      workflowId: id,
      type: 'DELAY',
      name: 'DELAY',
      position: at,
      config: { amount: 1, unit: 'hours' },
      templateId: null,
      template: null,
      outgoingTransitions: [],
    })
    assert.equal(createdAt, updatedAt)
    assert.equal(incomingTransitions.length, 1)
    await ok(add(id, 'CONDITION', exists), 201)
    await ok(add(id, 'WAIT_FOR_EVENT', { eventName: 'a', timeout: 5 }), 201)
    await ok(add(id, 'EXIT'), 201)
    await ok(add(id, 'UPDATE_CONTACT', { subscriptionAction: 'subscribe' }), 201)
    assert.deepEqual(await ways(id), [
      'signup>DELAY',
      'DELAY>CONDITION',
      'CONDITION>WAIT_FOR_EVENT yes',
      'WAIT_FOR_EVENT>EXIT EVENT',
    ])
    assert.equal(await versionOf(id), 6)
  })

  test('alone, if the caller wants it so', async () => {
    const { id } = await create()
    await ok(add(id, 'EXIT', {}, { autoConnect: false }), 201)
    assert.deepEqual(await ways(id), [])
  })

  test('with its template, from the body or from the config', async () => {
    const { id } = await create()
    const templateId = await makeTemplate()
    for (const [config, more] of [
      [{}, { templateId }],
      [{ templateId }, {}],
      [{ templateId: newId() }, { templateId }],
    ] as const) {
      const step = await ok(add(id, 'SEND_EMAIL', config, more), 201)
      assert.deepEqual(step.template, { id: templateId, name: 'T' })
      assert.deepEqual([step.templateId, step.config], [templateId, { templateId }])
    }
    const rows = await read().select().from(workflowSteps)
    assert.ok(rows.every(({ config }) => !('templateId' in config)))
  })
})

test('a step needs no position, and no config if it has nothing to say', async () => {
  const { id } = await create()
  const steps = `/workflows/${id}/steps`
  const first = await ok(call('post', steps).send({ type: 'SEND_EMAIL', name: 'Mail' }), 201)
  const second = await ok(call('post', steps).send({ type: 'EXIT', name: 'End' }), 201)
  assert.deepEqual([first.config, second.config], [{}, {}])
  assert.deepEqual(
    [first.position, second.position],
    [
      { x: 100, y: 250 },
      { x: 100, y: 400 },
    ],
  )
  assert.deepEqual(await ways(id), ['signup>Mail', 'Mail>End'])
  const apart = { type: 'EXIT', name: 'Apart', autoConnect: false }
  assert.deepEqual((await ok(call('post', steps).send(apart), 201)).position, { x: 100, y: 550 })
})

describe('a step with an error has a warning in an enabled workflow', () => {
  const noTemplate = (name: string) => ({
    field: 'templateId',
    message: `The workflow is enabled, so executions meet an error: The step "${name}" has no template.`,
    suggestion: "Set the step's templateId to a template of this project.",
  })

  test('when it is added, inserted and changed', async () => {
    const { id } = await create()
    const before = await ok(add(id, 'SEND_EMAIL'), 201)
    assert.equal(before.warnings, undefined, 'the workflow is disabled')
    const templateId = await makeTemplate()
    assert.equal((await ok(change(id, before.id, { templateId }))).warnings, undefined)
    await ok(patch(id, { enabled: true }))
    const added = await ok(add(id, 'SEND_EMAIL', {}, { name: 'New' }), 201)
    assert.deepEqual(added.warnings, [noTemplate('New')])
    assert.equal((await ok(add(id, 'EXIT'), 201)).warnings, undefined)
    const other = await ok(change(id, before.id, { name: 'Other' }))
    assert.equal(other.warnings, undefined, 'the error is of another step')
    const detached = await ok(change(id, before.id, { templateId: null }))
    assert.deepEqual(detached.warnings, [noTemplate('Other')])
    const [transition] = before.incomingTransitions
    const path = `/workflows/${id}/transitions/${transition?.id}/insert-step`
    const inserted = await ok(call('post', path).send({ type: 'SEND_EMAIL', name: 'Between' }), 201)
    assert.deepEqual(inserted.warnings, [noTemplate('Between')])
  })

  test('but only once a way leads to it', async () => {
    const { id, steps } = await create()
    const apart = { autoConnect: false }
    const templateId = await makeTemplate()
    const email = await ok(add(id, 'SEND_EMAIL', {}, { ...apart, templateId }), 201)
    await ok(patch(id, { enabled: true }))
    const opened = { field: 'email.opened', operator: 'exists', stepId: email.id }
    const asks = await ok(add(id, 'CONDITION', opened, apart), 201)
    assert.equal(asks.warnings, undefined, 'the email may still lead to it')
    const bad = await ok(add(id, 'SEND_EMAIL', {}, { ...apart, name: 'Bad' }), 201)
    assert.equal(bad.warnings, undefined)
    const yes = { condition: { branch: 'yes' } }
    assert.equal((await ok(link(id, asks.id, bad.id, yes), 201)).warnings, undefined)
    assert.equal((await ok(link(id, email.id, asks.id), 201)).warnings, undefined)
    const linked = await ok(link(id, steps[0].id, email.id), 201)
    assert.deepEqual(linked.warnings, [{ ...noTemplate('Bad'), field: 'toStepId' }])
    const end = await ok(add(id, 'EXIT', {}, apart), 201)
    const no = { condition: { branch: 'no' } }
    assert.equal((await ok(link(id, asks.id, end.id, no), 201)).warnings, undefined)
  })
})

describe('a step is not added', () => {
  const url = 'https://hooks.test'
  const refused: [string, object, number, string, string?][] = [
    ['without a type', { type: undefined }, 422, 'VALIDATION_ERROR', 'type'],
    ['without a name', { name: undefined }, 422, 'VALIDATION_ERROR', 'name'],
    [
      'without the config that it needs',
      { type: 'DELAY', config: undefined },
      422,
      'VALIDATION_ERROR',
      'config.unit',
    ],
    ['of an unknown type', { type: 'SMS' }, 422, 'VALIDATION_ERROR', 'type'],
    ['with a long name', { name: 'x'.repeat(101) }, 422, 'VALIDATION_ERROR', 'name'],
    ['nowhere', { position: { x: 'a', y: 1 } }, 422, 'VALIDATION_ERROR', 'position.x'],
    ['with a list as config', { config: [] }, 422, 'VALIDATION_ERROR', 'config'],
    ['with a bad config', { config: { reason: 5 } }, 422, 'VALIDATION_ERROR', 'config.reason'],
    ['with a template', { templateId: newId() }, 422, 'VALIDATION_ERROR', 'templateId'],
    ['as a second TRIGGER', { type: 'TRIGGER' }, 400, 'BAD_REQUEST'],
    [
      'with an unknown template',
      { type: 'SEND_EMAIL', templateId: newId() },
      404,
      'TEMPLATE_NOT_FOUND',
    ],
    [
      'with a fault in its url',
      { type: 'WEBHOOK', config: { url: `${url}/{{ a` } },
      400,
      'BAD_REQUEST',
      'config.url',
    ],
    [
      'with a fault in a header',
      { type: 'WEBHOOK', config: { url, headers: { a: '{{ x | nothing }}' } } },
      400,
      'BAD_REQUEST',
      'config.headers.a',
    ],
    [
      'with a fault in its body',
      { type: 'WEBHOOK', config: { url, body: { a: [1, '{% if %}'] } } },
      400,
      'BAD_REQUEST',
      'config.body.a.1',
    ],
    [
      'with a fault in a value',
      { type: 'UPDATE_CONTACT', config: { updates: { a: { b: ['{{ c'] } } } },
      400,
      'BAD_REQUEST',
      'config.updates.a.b.0',
    ],
    [
      'with too many placeholders in its values',
      { type: 'UPDATE_CONTACT', config: { updates: { a: '{{a}}'.repeat(1_001) } } },
      422,
      'VALIDATION_ERROR',
      'config',
    ],
    [
      'with too many placeholders',
      { type: 'WEBHOOK', config: { url, body: '{{a}}'.repeat(1_001) } },
      422,
      'VALIDATION_ERROR',
      'config',
    ],
  ]
  for (const [title, body, status, code, field] of refused) {
    it(title, async () => {
      const { id } = await create()
      const step = { type: 'EXIT', name: 'N', position: at, config: {}, ...body }
      const answer = await call('post', `/workflows/${id}/steps`).send(step)
      assert.deepEqual([answer.status, answer.body.error.code], [status, code], answer.text)
      if (field !== undefined) assert.equal(answer.body.error.errors[0].field, field)
      const { steps, version } = await show(id)
      assert.deepEqual([steps.length, version], [1, 1])
    })
  }

  test("S20: with another project's template", async () => {
    const { id } = await create()
    const templateId = await makeTemplate(other)
    for (const [config, more] of [
      [{}, { templateId }],
      [{ templateId }, {}],
    ]) {
      const answer = await add(id, 'SEND_EMAIL', config, more)
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'TEMPLATE_NOT_FOUND'])
    }
    assert.equal((await show(id)).steps.length, 1)
  })

  test('of 5 MB', async () => {
    const { id } = await create()
    const body = 'x'.repeat(5 * 1024 * 1024)
    assert.equal((await add(id, 'WEBHOOK', { url: 'https://hooks.test', body })).status, 413)
    const short = 'x'.repeat(300_000)
    const answer = await add(id, 'WEBHOOK', { url: 'https://hooks.test', body: short })
    assert.deepEqual([answer.status, answer.body.error.errors[0].field], [422, 'config'])
  })

  test('beyond 1,000 steps', async () => {
    const { id } = await create()
    const rows = Array.from({ length: 999 }, () => ({
      ...{ id: newId(), workflowId: id, projectId: mine.id, type: 'EXIT' as const },
      ...{ name: 'E', position: at, config: {}, createdAt: 1, updatedAt: 1 },
    }))
    await service.core.store.write((tx) => tx.insert(workflowSteps).values(rows))
    const answer = await add(id, 'EXIT')
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'])
  })
})

describe('a step is changed', () => {
  test('in the given fields', async () => {
    const { id, delay } = await chain()
    const body = await ok(change(id, delay, { name: 'Later', position: { x: 1.5, y: -2 } }))
    assert.deepEqual(
      [body.name, body.position, body.config.unit],
      ['Later', { x: 1.5, y: -2 }, 'days'],
    )
    assert.equal(await versionOf(id), 5)
    await ok(change(id, delay, { name: 'Later' }))
    assert.equal(await versionOf(id), 5)
    const config = { amount: 2, unit: 'hours' }
    assert.deepEqual((await ok(change(id, delay, { config }))).config, config)
  })

  test('back to stored templates that are faults by now, in its fields and in the graph', async () => {
    const { id, steps } = await create()
    const old = { url: 'https://hooks.test/{{ .Name }}', method: 'POST', body: { a: ['{{> b}}'] } }
    const [hook, update] = [
      await ok(add(id, 'WEBHOOK', { url: 'https://hooks.test/' }), 201),
      await ok(add(id, 'UPDATE_CONTACT', { updates: { a: 1 } }), 201),
    ]
    const store = (stepId: string, config: Record<string, unknown>) =>
      service.core.store.write((tx) =>
        tx.update(workflowSteps).set({ config }).where(eq(workflowSteps.id, stepId)),
      )
    await store(hook.id, old)
    await store(update.id, { updates: { a: '{{#if x}}' } })
    const answer = await ok(change(id, hook.id, { name: 'Hook', config: old }))
    assert.deepEqual([answer.name, answer.config], ['Hook', old])
    const stored = (await show(id)).steps
    const graph = (first: object) => ({
      steps: stored.map((step: ShownStep) => (step.id === hook.id ? { ...step, ...first } : step)),
      transitions: stored.flatMap((step: ShownStep) => step.outgoingTransitions),
    })
    const put = (first: object) => call('put', `/workflows/${id}/graph`).send(graph(first))
    assert.equal((await ok(put({ name: 'Renamed' }))).steps.length, steps.length + 2)
    const other = { ...old, body: { a: ['{{> c}}'] } }
    const index = stored.findIndex((step: ShownStep) => step.id === hook.id)
    for (const [refused, field] of [
      [await change(id, hook.id, { config: other }), 'config.body.a.0'],
      [await put({ config: other }), `steps.${index}.config.body.a.0`],
    ] as const) {
      assert.equal(refused.body.error?.errors?.[0]?.code, 'template_syntax', refused.text)
      assert.equal(refused.body.error.errors[0].field, field)
    }
  })

  test('in its template, which null detaches', async () => {
    const { id } = await create()
    const templateId = await makeTemplate()
    const step = await ok(add(id, 'SEND_EMAIL'), 201)
    const templateOf = async (body: object) => (await ok(change(id, step.id, body))).templateId
    assert.equal(await templateOf({ templateId }), templateId)
    assert.equal(await templateOf({ config: { recipient: { type: 'CONTACT' } } }), templateId)
    assert.equal(await templateOf({ config: { templateId }, templateId: null }), null)
    assert.equal(await templateOf({ config: { templateId } }), templateId)
    const foreign = await change(id, step.id, { templateId: await makeTemplate(other) })
    assert.deepEqual([foreign.status, foreign.body.error.code], [404, 'TEMPLATE_NOT_FOUND'])
  })

  test('but not in config or template while enabled with active executions', async () => {
    const { id, delay } = await chain()
    const email = await ok(add(id, 'SEND_EMAIL', {}, { autoConnect: false }), 201)
    const templateId = await makeTemplate()
    await ok(change(id, email.id, { templateId }))
    await enable(id)
    await stand(id, delay)
    const config = { amount: 2, unit: 'days' }
    for (const [stepId, body] of [
      [delay, { config }],
      [email.id, { templateId: null }],
    ]) {
      const answer = await change(id, stepId, body)
      assert.deepEqual([answer.status, answer.body.error.code], [409, 'CONFLICT'])
    }
    await ok(change(id, delay, { name: 'Free', position: at, config: { amount: 1, unit: 'days' } }))
    await ok(patch(id, { enabled: false }))
    await ok(change(id, delay, { config }))
  })

  test('but not so that its transitions no longer fit', async () => {
    const { id } = await create()
    const condition = await ok(add(id, 'CONDITION', exists), 201)
    await ok(add(id, 'EXIT'), 201)
    const branches = [{ id: 'a', name: 'A', operator: 'exists' }]
    const config = { mode: 'multi', field: 'data.a', branches }
    const answer = await change(id, condition.id, { config })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'])
    assert.deepEqual((await show(id)).steps[1].config, exists)
  })

  test('but a TRIGGER keeps the event of the workflow', async () => {
    const { id, steps } = await create({ eventName: 'email.opened' })
    const trigger = steps[0].id
    const answer = await change(id, trigger, { config: { eventName: 'other' } })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'])
    const same = await ok(change(id, trigger, { config: { eventName: 'email.open' } }))
    assert.deepEqual(same.config, { eventName: 'email.opened' })
    assert.equal(await versionOf(id), 1)
  })

  test('only if the workflow has it', async () => {
    const [one, two] = [await chain(), await chain()]
    for (const stepId of [two.delay, newId()]) {
      assert.equal((await change(one.id, stepId, { name: 'X' })).status, 404)
      assert.equal((await remove(one.id, stepId)).status, 404)
    }
    assert.equal((await change(one.id, 'nonsense', { name: 'X' })).status, 422)
    assert.equal((await show(two.id)).steps[1].name, 'DELAY')
  })
})

describe('a step is removed', () => {
  test('with everything that follows it', async () => {
    const { id, update } = await chain()
    const side = await ok(add(id, 'EXIT', {}, { autoConnect: false, name: 'Side' }), 201)
    assert.ok(side.id)
    assert.equal((await remove(id, update)).status, 204)
    assert.deepEqual(await ways(id), ['signup>DELAY'])
    const names = (await show(id)).steps.map(({ name }: ShownStep) => name)
    assert.deepEqual(names, ['signup', 'DELAY', 'Side'])
    assert.equal(await read().$count(workflowSteps), 5)
  })

  test('alone with splice: the steps before it lead to the one after it', async () => {
    const { id, trigger, delay, update } = await chain()
    assert.equal((await remove(id, update, { splice: true })).status, 204)
    assert.deepEqual(await ways(id), ['signup>DELAY', 'DELAY>EXIT'])
    await ok(remove(id, delay, { splice: 'true' }), 204)
    assert.deepEqual(await ways(id), ['signup>EXIT'])
    assert.equal((await show(id)).steps[0].id, trigger)
  })

  test('with splice at the end of the graph', async () => {
    const { id, exit } = await chain()
    await ok(remove(id, exit, { splice: true }), 204)
    assert.deepEqual(await ways(id), ['signup>DELAY', 'DELAY>UPDATE_CONTACT'])
  })

  test('with splice, whatever branches lead to it', async () => {
    const { id } = await create()
    const condition = await ok(add(id, 'CONDITION', exists), 201)
    const delay = await ok(add(id, 'DELAY', { amount: 1, unit: 'days' }), 201)
    await ok(link(id, condition.id, delay.id, { branch: 'no' }), 201)
    await ok(add(id, 'EXIT'), 201)
    await ok(remove(id, delay.id, { splice: true }), 204)
    assert.deepEqual(await ways(id), [
      'signup>CONDITION',
      'CONDITION>EXIT yes',
      'CONDITION>EXIT no',
    ])
  })

  test('unless it is the TRIGGER, or has several ways on and is to be spliced', async () => {
    const { id, steps } = await create()
    const condition = await ok(add(id, 'CONDITION', exists), 201)
    const wait = await ok(add(id, 'WAIT_FOR_EVENT', { eventName: 'a' }), 201)
    for (const [stepId, query] of [
      [steps[0].id, {}],
      [steps[0].id, { splice: true }],
      [condition.id, { splice: true }],
      [wait.id, { splice: true }],
    ]) {
      const answer = await remove(id, stepId, query)
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'])
    }
    assert.equal((await show(id)).steps.length, 3)
  })

  test('unless the workflow is enabled and executions stand there', async () => {
    const { id, delay, update, exit } = await chain()
    await enable(id)
    await stand(id, update)
    for (const [stepId, query, status] of [
      [update, {}, 409],
      [update, { splice: true }, 409],
      [delay, {}, 409],
      [exit, {}, 204],
      [delay, { splice: true }, 204],
    ] as const) {
      assert.equal((await remove(id, stepId, query)).status, status, `${stepId} ${status}`)
    }
    const [row] = await read().select().from(workflowExecutions)
    assert.deepEqual([row?.status, row?.currentStepId], ['WAITING', update])
  })

  test('from a disabled workflow: executions that stand there are cancelled', async () => {
    const { id, delay, update } = await chain()
    const [gone, kept] = [await stand(id, update), await stand(id, delay)]
    await ok(remove(id, update), 204)
    const statusOf = async (number: number) => {
      const isIt = eq(workflowExecutions.number, number)
      const row = await read().select().from(workflowExecutions).where(isIt).get()
      return [row?.status, row?.exitReason, row?.currentStepId]
    }
    assert.deepEqual(await statusOf(gone), ['CANCELLED', 'step removed', null])
    assert.deepEqual(await statusOf(kept), ['WAITING', null, delay])
    const steps = await read().select().from(workflowStepExecutions)
    assert.deepEqual(steps.map(({ status }) => status).toSorted(), ['SKIPPED', 'WAITING'])
  })

  test('from a disabled workflow at which very many executions stand', async () => {
    const { id, update } = await chain()
    const standing = { projectId: mine.id, workflowId: id, stepId: update }
    await addExecutions(service.core, standing, 1_100)
    await ok(remove(id, update), 204)
    const rows = await read().select().from(workflowExecutions)
    const reasons = new Set(rows.map(({ status, exitReason }) => `${status} ${exitReason}`))
    assert.deepEqual([...reasons], ['CANCELLED step removed'])
    assert.deepEqual(await ways(id), ['signup>DELAY'])
  })

  test('only in the version that the caller knows', async () => {
    const { id, exit } = await chain()
    assert.equal((await remove(id, exit).set('If-Match', '"1"')).status, 412)
    assert.equal((await remove(id, exit).set('If-Match', '"4"')).status, 204)
  })
})
