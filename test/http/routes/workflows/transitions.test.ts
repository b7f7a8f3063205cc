import assert from 'node:assert/strict'
import { beforeEach, describe, it, test } from 'node:test'
import { newId } from '../../../../src/store/ids.ts'
import { workflows, workflowTransitions } from '../../../../src/store/schema/workflows.ts'
import { useService } from '../../service.ts'
import { type ShownStep, workflowClient } from './client.ts'

const started = useService()
const { service, call } = started
const { ok, create, show, add, link, stand, chain, ways, enable } = workflowClient(started)

beforeEach(() => service.core.store.write(async (tx) => void (await tx.delete(workflows))))

const apart = { autoConnect: false }
const exists = { field: 'data.a', operator: 'exists' }

/** A CONDITION, a WAIT_FOR_EVENT with timeout, a DELAY and an EXIT, not linked. */
async function loose() {
  const { id, steps } = await create()
  const step = async (type: string, config: object) =>
    (await ok(add(id, type, config, apart), 201)).id
  return {
    id,
    trigger: steps[0].id as string,
    condition: (await step('CONDITION', exists)) as string,
    wait: (await step('WAIT_FOR_EVENT', { eventName: 'a', timeout: 5 })) as string,
    delay: (await step('DELAY', { amount: 1, unit: 'days' })) as string,
    exit: (await step('EXIT', {})) as string,
  }
}

type Loose = Awaited<ReturnType<typeof loose>>

/** The transitions that leave a step, by its type. */
const leaving = async (id: string, type: string) => {
  const { steps }: { steps: ShownStep[] } = await show(id)
  return steps.find((step) => step.type === type)?.outgoingTransitions ?? []
}

test('a transition is added and removed', async () => {
  const { id, condition, wait, exit } = await loose()
  const body = await ok(
    link(id, condition, wait, { condition: { branch: 'yes' }, priority: 3 }),
    201,
  )
  const { createdAt, updatedAt, ...fields } = body
  assert.deepEqual(fields, {
    id: body.id,
    fromStepId: condition,
    toStepId: wait,
    condition: { branch: 'yes' },
    waitOutcome: null,
    priority: 3,
  })
  assert.equal(createdAt, updatedAt)
  await ok(link(id, condition, exit, { branch: 'no' }), 201)
  await ok(link(id, wait, exit, { waitOutcome: 'TIMEOUT' }), 201)
  assert.deepEqual(await ways(id), [
    'CONDITION>WAIT_FOR_EVENT yes',
    'CONDITION>EXIT no',
    'WAIT_FOR_EVENT>EXIT TIMEOUT',
  ])
  await ok(call('delete', `/workflows/${id}/transitions/${body.id}`), 204)
  assert.deepEqual(await ways(id), ['CONDITION>EXIT no', 'WAIT_FOR_EVENT>EXIT TIMEOUT'])
  assert.equal((await show(id)).version, 9)
})

describe('a transition is refused', () => {
  const refused: [string, (steps: Loose) => object, number, string][] = [
    ['without steps', () => ({}), 422, 'VALIDATION_ERROR'],
    [
      'between ids that are none',
      () => ({ fromStepId: 'a', toStepId: 'b' }),
      422,
      'VALIDATION_ERROR',
    ],
    [
      'from a step that does not exist',
      ({ exit }) => ({ fromStepId: newId(), toStepId: exit }),
      404,
      'RESOURCE_NOT_FOUND',
    ],
    [
      'to a step that does not exist',
      ({ delay }) => ({ fromStepId: delay, toStepId: newId() }),
      404,
      'RESOURCE_NOT_FOUND',
    ],
    ['to itself', ({ delay }) => ({ fromStepId: delay, toStepId: delay }), 400, 'BAD_REQUEST'],
    [
      'from an EXIT',
      ({ exit, delay }) => ({ fromStepId: exit, toStepId: delay }),
      400,
      'BAD_REQUEST',
    ],
    [
      'to the TRIGGER',
      ({ delay, trigger }) => ({ fromStepId: delay, toStepId: trigger }),
      400,
      'BAD_REQUEST',
    ],
    [
      'from a CONDITION without a branch',
      ({ condition, exit }) => ({ fromStepId: condition, toStepId: exit, condition: {} }),
      400,
      'BAD_REQUEST',
    ],
    [
      'for an unknown branch',
      ({ condition, exit }) => ({ fromStepId: condition, toStepId: exit, branch: 'maybe' }),
      400,
      'BAD_REQUEST',
    ],
    [
      'for two branches',
      ({ condition, exit }) => ({
        ...{ fromStepId: condition, toStepId: exit },
        ...{ branch: 'yes', condition: { branch: 'no' } },
      }),
      422,
      'VALIDATION_ERROR',
    ],
    [
      'for an unknown outcome',
      ({ wait, exit }) => ({ fromStepId: wait, toStepId: exit, waitOutcome: 'NEVER' }),
      422,
      'VALIDATION_ERROR',
    ],
    [
      'with a broken priority',
      ({ delay, exit }) => ({ fromStepId: delay, toStepId: exit, priority: 1.5 }),
      422,
      'VALIDATION_ERROR',
    ],
  ]
  for (const [title, body, status, code] of refused) {
    it(title, async () => {
      const steps = await loose()
      const answer = await call('post', `/workflows/${steps.id}/transitions`).send(body(steps))
      assert.deepEqual([answer.status, answer.body.error.code], [status, code], answer.text)
      assert.deepEqual(await ways(steps.id), [])
    })
  }

  test('if its place is taken, or it would close a loop', async () => {
    const { id, trigger, delay, update, exit } = await chain()
    for (const [from, to] of [
      [trigger, exit],
      [delay, exit],
      [update, delay],
    ] as const) {
      assert.equal((await link(id, from, to)).status, 400)
    }
    assert.equal((await ways(id)).length, 3)
  })

  test('with what is in its place, and how it came there', async () => {
    const { id, delay, update, exit } = await chain()
    const [taken] = await leaving(id, 'DELAY')
    const refusal = async (to: string, of = delay) => (await link(id, of, to)).body.error
    const connects = 'Adding a step connects it, unless `autoConnect` is false.'
    const other = await refusal(exit)
    assert.equal(other.message, 'The step has a transition already.')
    const removes = `DELETE /workflows/:id/transitions/${taken?.id}.`
    const text = `${connects} To lead elsewhere, remove the transition first: ${removes}`
    assert.equal(other.suggestion, text)
    const details = { fromStepId: delay, toStepId: exit, transitionId: taken?.id }
    assert.deepEqual(other.details, details)
    const same = await refusal(update)
    const done = 'The transition leads to this very step, so nothing is left to do.'
    assert.equal(same.suggestion, `${connects} ${done}`)
    const wait = await loose()
    const event = { waitOutcome: 'EVENT' }
    const first = await ok(link(wait.id, wait.wait, wait.delay, event), 201)
    const both = (await link(wait.id, wait.wait, wait.exit)).body.error
    assert.match(both.message, /serves both/)
    assert.ok(both.suggestion.endsWith(`/transitions/${first.id}.`), both.suggestion)
  })

  test('to a step of another workflow', async () => {
    const [one, two] = [await loose(), await loose()]
    assert.equal((await link(one.id, one.delay, two.exit)).status, 404)
    assert.equal(await service.core.store.read.$count(workflowTransitions), 0)
  })
})

describe('a transition is not removed', () => {
  test('while the workflow is enabled and executions stand after it', async () => {
    const { id, update } = await chain()
    await enable(id)
    await stand(id, update)
    const drop = async (type: string) => {
      const [transition] = await leaving(id, type)
      return (await call('delete', `/workflows/${id}/transitions/${transition?.id}`)).status
    }
    assert.deepEqual([await drop('TRIGGER'), await drop('DELAY')], [409, 409])
    assert.equal(await drop('UPDATE_CONTACT'), 204)
    assert.deepEqual(await ways(id), ['signup>DELAY', 'DELAY>UPDATE_CONTACT'])
  })

  test('by another workflow', async () => {
    const [one, two] = [await chain(), await chain()]
    const [transition] = await leaving(two.id, 'DELAY')
    const answer = await call('delete', `/workflows/${one.id}/transitions/${transition?.id}`)
    assert.equal(answer.status, 404)
    assert.equal((await ways(two.id)).length, 3)
  })
})

describe('a step is inserted into a transition', () => {
  const insert = async (id: string, after: string, body: object) => {
    const [transition] = await leaving(id, after)
    const path = `/workflows/${id}/transitions/${transition?.id}/insert-step`
    return call('post', path).send({ name: 'New', config: {}, ...body })
  }

  test('and the graph goes on behind it', async () => {
    const { id } = await chain()
    const config = { amount: 5, unit: 'minutes' }
    const answer = await insert(id, 'DELAY', { type: 'DELAY', config })
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.incomingTransitions.length, 1)
    assert.deepEqual(await ways(id), [
      'signup>DELAY',
      'DELAY>New',
      'UPDATE_CONTACT>EXIT',
      'New>UPDATE_CONTACT',
    ])
  })

  test('which may be a CONDITION, that goes on with yes, or a wait, with its event', async () => {
    const { id } = await chain()
    const position = { x: 7, y: 8 }
    const answer = await insert(id, 'TRIGGER', { type: 'CONDITION', config: exists, position })
    assert.deepEqual(answer.body.position, position)
    const branches = [{ id: 'one', name: 'One', operator: 'exists' }]
    const multi = { mode: 'multi', field: 'data.a', branches }
    await ok(insert(id, 'DELAY', { type: 'CONDITION', name: 'Multi', config: multi }), 201)
    const config = { eventName: 'a' }
    await ok(insert(id, 'UPDATE_CONTACT', { type: 'WAIT_FOR_EVENT', name: 'Wait', config }), 201)
    assert.deepEqual((await ways(id)).toSorted(), [
      'DELAY>Multi',
      'Multi>UPDATE_CONTACT one',
      'New>DELAY yes',
      'UPDATE_CONTACT>Wait',
      'Wait>EXIT EVENT',
      'signup>New',
    ])
  })

  for (const type of ['TRIGGER', 'EXIT']) {
    test(`which is never of type ${type}`, async () => {
      const { id } = await chain()
      const answer = await insert(id, 'DELAY', { type })
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'])
      assert.equal((await ways(id)).length, 3)
    })
  }

  test('of this workflow only', async () => {
    const [one, two] = [await chain(), await chain()]
    const [transition] = await leaving(two.id, 'DELAY')
    const path = `/workflows/${one.id}/transitions/${transition?.id}/insert-step`
    const body = { type: 'DELAY', name: 'New', config: { amount: 1, unit: 'days' } }
    assert.equal((await call('post', path).send(body)).status, 404)
    assert.equal((await show(two.id)).steps.length, 4)
  })
})
