import assert from 'node:assert/strict'
import { beforeEach, describe, it, test } from 'node:test'
import { createTemplate } from '../../../../src/features/mail/templates/create.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { segments } from '../../../../src/store/schema/segments.ts'
import {
  workflowExecutions,
  workflowSteps,
  workflows,
  workflowTransitions,
} from '../../../../src/store/schema/workflows.ts'
import { address, trustDomain } from '../../../core.ts'
import { useService } from '../../service.ts'
import { at, type ShownStep, type ShownTransition, workflowClient } from './client.ts'

const started = useService({}, ({ service, mine }) =>
  trustDomain(service.core, mine.id, 'shop.test'),
)
const { service, mine, other, call } = started
const { ok, create, show, put, add, link, stand, chain, ways, enable, patch } =
  workflowClient(started)
const read = () => service.core.store.read

beforeEach(() => service.core.store.write(async (tx) => void (await tx.delete(workflows))))

type Graph = { steps: Record<string, unknown>[]; transitions: Record<string, unknown>[] }

const delayConfig = { amount: 1, unit: 'days' }
const exists = { field: 'data.a', operator: 'exists' }

const newStep = (type: string, config: object = {}, more: object = {}) => ({
  ...{ id: newId(), type, name: type, position: at, config },
  ...more,
})
const way = (from: { id?: unknown }, to: { id?: unknown }, more: object = {}) => ({
  ...{ fromStepId: from.id, toStepId: to.id },
  ...more,
})

/** The graph of a workflow as a request has it. */
async function graphOf(id: string): Promise<Graph> {
  const { steps }: { steps: ShownStep[] } = await show(id)
  return {
    steps: steps.map(({ id, type, name, position, config, templateId }) => ({
      ...{ id, type, name, position, config, templateId },
    })),
    transitions: steps.flatMap(({ outgoingTransitions }) =>
      outgoingTransitions.map((transition: ShownTransition) => {
        const { id, fromStepId, toStepId, condition, waitOutcome, priority } = transition
        return { id, fromStepId, toStepId, condition, waitOutcome, priority }
      }),
    ),
  }
}

test('a graph is replaced as a whole, with ids of the client', async () => {
  const { id, steps } = await create()
  const [trigger] = steps
  const condition = newStep('CONDITION', exists)
  const [yes, no] = [newStep('EXIT', {}, { name: 'Yes' }), newStep('EXIT', {}, { name: 'No' })]
  const transition = newId()
  const graph = {
    steps: [{ ...trigger, name: 'Start' }, condition, yes, no],
    transitions: [
      way(trigger, condition, { id: transition.toUpperCase() }),
      way(condition, yes, { condition: { branch: 'yes' }, priority: 2 }),
      way(condition, no, { branch: 'no' }),
    ],
  }
  const answer = await put(id, graph)
  assert.deepEqual([answer.status, answer.headers.etag], [200, '"2"'], answer.text)
  assert.deepEqual(answer.body, await show(id))
  const shown: ShownStep[] = answer.body.steps
  assert.deepEqual(
    shown.map((step) => step.id),
    [trigger.id, condition.id, yes.id, no.id],
  )
  assert.equal(shown[0]?.createdAt, trigger.createdAt)
  assert.equal(shown[0]?.outgoingTransitions[0]?.id, transition)
  assert.deepEqual(await ways(id), ['Start>CONDITION', 'CONDITION>Yes yes', 'CONDITION>No no'])

  const same = await put(id, await graphOf(id))
  assert.deepEqual([same.status, same.headers.etag], [200, '"2"'])
  assert.deepEqual(same.body, answer.body)
})

describe('short ids of steps', () => {
  const stepsOf = (...types: [id: string, type: string, config?: object][]) =>
    types.map(([id, type, config]) => ({ id, type, name: id, ...(config && { config }) }))
  const named = {
    steps: stepsOf(
      ['start', 'TRIGGER'],
      ['mail', 'SEND_EMAIL'],
      ['wait', 'WAIT_FOR_EVENT', { eventName: 'email.opened', stepId: 'mail', timeout: 60 }],
      ['end', 'EXIT'],
    ),
    transitions: [
      { fromStepId: 'start', toStepId: 'mail' },
      { fromStepId: 'mail', toStepId: 'wait' },
      { fromStepId: 'wait', toStepId: 'end', waitOutcome: 'EVENT' },
    ],
  }

  test('that no step has are refused with those that exist', async () => {
    const { id } = await create()
    const waiting = (stepId: string) =>
      named.steps.map((step) =>
        step.id === 'wait' ? { ...step, config: { eventName: 'email.opened', stepId } } : step,
      )
    for (const stepId of ['mial', 'welcome', newId()]) {
      const answer = await put(id, { ...named, steps: waiting(stepId) })
      const hint = stepId === 'mial' ? ' Did you mean "mail"?' : ''
      const message = `The workflow has no step "${stepId}"; its emails are mail.${hint}`
      const field = 'steps.2.config.stepId'
      assert.equal(answer.status, 422, answer.text)
      assert.deepEqual(answer.body.error.errors, [{ field, message, code: 'custom' }])
    }
    const { ids } = await ok(put(id, named))
    await ok(put(id, { ...named, steps: waiting(ids.mail.toUpperCase()) }))
  })

  test('stand for UUIDs, which the answer tells', async () => {
    const { id, steps } = await create()
    const { ids, ...workflow } = await ok(put(id, named))
    assert.deepEqual(workflow, await show(id))
    assert.deepEqual(Object.keys(ids), ['start', 'mail', 'wait', 'end'])
    assert.equal(ids.start, steps[0].id)
    const shown = new Map(workflow.steps.map((step: ShownStep) => [step.name, step]))
    for (const name of ['mail', 'wait', 'end']) {
      assert.equal(Object(shown.get(name)).id, ids[name])
      assert.match(
        ids[name],
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
    }
    assert.equal(Object(shown.get('wait')).config.stepId, ids.mail)
    assert.deepEqual(await ways(id), ['start>mail', 'mail>wait', 'wait>end EVENT'])
  })

  test('mean the same steps when the graph is sent again, and other ones with another type', async () => {
    const { id } = await create()
    const { ids, version } = await ok(put(id, named))
    const again = await ok(put(id, named))
    assert.deepEqual([again.ids, again.version], [ids, version])
    const mixed = {
      steps: named.steps.map((step) => ({ ...step, id: step.id === 'mail' ? ids.mail : step.id })),
      transitions: named.transitions.map((way) => ({
        ...way,
        toStepId: way.toStepId === 'mail' ? ids.mail : way.toStepId,
        fromStepId: way.fromStepId === 'mail' ? ids.mail : way.fromStepId,
      })),
    }
    mixed.steps[2] = {
      ...mixed.steps[2],
      config: { eventName: 'email.opened', stepId: ids.mail, timeout: 60 },
    } as never
    assert.equal((await ok(put(id, mixed))).version, version)
    const [start] = named.steps
    const other = {
      steps: [start, ...stepsOf(['mail', 'EXIT'])],
      transitions: named.transitions.slice(0, 1),
    }
    const changed = await ok(put(id, other))
    assert.notEqual(changed.ids.mail, ids.mail)
    assert.deepEqual(await ways(id), ['start>mail'])
    const elsewhere = await create()
    assert.notEqual((await ok(put(elsewhere.id, named))).ids.end, ids.end)
  })

  test('are refused when they occur twice, are missing, or are none', async () => {
    const { id } = await create()
    const twice = { ...named, steps: [...named.steps, ...stepsOf(['mail', 'EXIT'])] }
    const { body } = await put(id, twice)
    assert.equal(body.error.errors[0].field, 'steps.4.id')
    const missing = [...named.transitions, { fromStepId: 'mail', toStepId: 'nobody' }]
    assert.equal((await put(id, { ...named, transitions: missing })).status, 404)
    for (const wrong of ['', 'a b', '-a', 'x'.repeat(33), `${newId()}`.slice(1), 5]) {
      const steps = [...named.steps, { id: wrong, type: 'EXIT', name: 'E' }]
      const refused = await put(id, { ...named, steps })
      assert.deepEqual([refused.status, refused.body.error.errors[0].field], [422, 'steps.4.id'])
    }
    assert.deepEqual(await ways(id), [])
  })
})

test('transitions without ids stay the same rows', async () => {
  const { id } = await chain()
  const { steps, transitions } = await graphOf(id)
  const answer = await put(id, {
    steps,
    transitions: transitions.map((one) => ({ ...one, id: undefined })),
  })
  assert.equal(answer.headers.etag, '"4"')
  assert.deepEqual((await graphOf(id)).transitions, transitions)
})

test('what is missing is removed, and may come back under its id', async () => {
  const { id, update, delay } = await chain()
  const before = await graphOf(id)
  const first = {
    steps: before.steps.slice(0, 2),
    transitions: before.transitions.slice(0, 1),
  }
  await ok(put(id, first))
  assert.deepEqual(await ways(id), ['signup>DELAY'])
  const isHidden = eq(workflowSteps.id, update)
  const hidden = await read().select().from(workflowSteps).where(isHidden).get()
  assert.ok(hidden?.removedAt)
  await ok(put(id, before))
  assert.deepEqual(await ways(id), ['signup>DELAY', 'DELAY>UPDATE_CONTACT', 'UPDATE_CONTACT>EXIT'])
  assert.equal(await read().$count(workflowSteps), 4)
  assert.ok(delay)
})

test('If-Match guards a version', async () => {
  const { id } = await chain()
  const graph = await graphOf(id)
  const stale = await put(id, { ...graph, transitions: [] }, '"1"')
  assert.deepEqual([stale.status, stale.body.error.code], [412, 'CONFLICT'])
  assert.equal(stale.body.error.details.current.steps.length, 4)
  assert.equal((await ways(id)).length, 3)
  assert.equal((await put(id, { ...graph, transitions: [] }, '"4"')).status, 200)
})

describe('a graph is refused', () => {
  const refused: [string, (graph: Graph) => Graph, number, string, string?][] = [
    [
      'without steps',
      ({ transitions }) => ({ transitions }) as Graph,
      422,
      'VALIDATION_ERROR',
      'steps',
    ],
    ['with no step', () => ({ steps: [], transitions: [] }), 400, 'BAD_REQUEST'],
    [
      'with two TRIGGERs',
      ({ steps, transitions }) => ({ steps: [...steps, newStep('TRIGGER')], transitions }),
      400,
      'BAD_REQUEST',
    ],
    [
      'with an id that is neither a UUID nor a name',
      ({ steps, transitions }) => ({
        steps: [...steps, newStep('EXIT', {}, { id: 'a b' })],
        transitions,
      }),
      422,
      'VALIDATION_ERROR',
      'steps.4.id',
    ],
    [
      'with an id twice',
      ({ steps, transitions }) => ({ steps: [...steps, steps[1] ?? {}], transitions }),
      422,
      'VALIDATION_ERROR',
      'steps.4.id',
    ],
    [
      'with a transition twice',
      ({ steps, transitions }) => ({ steps, transitions: [...transitions, transitions[1] ?? {}] }),
      422,
      'VALIDATION_ERROR',
      'transitions.3.id',
    ],
    [
      'with a bad config',
      ({ steps, transitions }) => ({
        steps: [...steps, newStep('DELAY', { amount: 366, unit: 'days' })],
        transitions,
      }),
      422,
      'VALIDATION_ERROR',
      'steps.4.config.amount',
    ],
    [
      'with a fault in a template',
      ({ steps, transitions }) => ({
        steps: [...steps, newStep('WEBHOOK', { url: 'https://a.test/{{ b' })],
        transitions,
      }),
      400,
      'BAD_REQUEST',
      'steps.4.config.url',
    ],
    [
      'with a template at a step of another type',
      ({ steps, transitions }) => ({
        steps: [...steps, newStep('EXIT', {}, { templateId: newId() })],
        transitions,
      }),
      422,
      'VALIDATION_ERROR',
      'steps.4.templateId',
    ],
    [
      'with a template that does not exist',
      ({ steps, transitions }) => ({
        steps: [...steps, newStep('SEND_EMAIL', {}, { templateId: newId() })],
        transitions,
      }),
      404,
      'TEMPLATE_NOT_FOUND',
    ],
    [
      'with a transition to a step that it lacks',
      ({ steps, transitions }) => ({ steps: steps.slice(0, 3), transitions }),
      404,
      'RESOURCE_NOT_FOUND',
    ],
    [
      'with a loop',
      ({ steps, transitions }) => ({
        steps: steps.slice(0, 3),
        transitions: [...transitions.slice(0, 2), way(steps[2] ?? {}, steps[1] ?? {})],
      }),
      400,
      'BAD_REQUEST',
    ],
    [
      'with another type for a step',
      ({ steps, transitions }) => ({
        steps: steps.with(3, { ...steps[3], type: 'DELAY', config: delayConfig }),
        transitions,
      }),
      400,
      'BAD_REQUEST',
    ],
    [
      'with another event at its TRIGGER',
      ({ steps, transitions }) => ({
        steps: steps.with(0, { ...steps[0], config: { eventName: 'other' } }),
        transitions,
      }),
      400,
      'BAD_REQUEST',
    ],
  ]
  for (const [title, change, status, code, field] of refused) {
    it(title, async () => {
      const { id } = await chain()
      const before = await graphOf(id)
      const answer = await put(id, change(before))
      assert.deepEqual([answer.status, answer.body.error.code], [status, code], answer.text)
      if (field !== undefined) assert.equal(answer.body.error.errors[0].field, field)
      assert.deepEqual(await graphOf(id), before)
      assert.equal((await show(id)).version, 4)
    })
  }

  test('with an id of another workflow or project, and that stays as it is', async () => {
    const { id } = await chain()
    const second = await chain()
    const theirs = await create({}, other)
    const graph = await graphOf(id)
    const foreign = await graphOf(second.id)
    for (const stepId of [second.exit, theirs.steps[0].id]) {
      const steps = [...graph.steps, newStep('EXIT', {}, { id: stepId })]
      const answer = await put(id, { ...graph, steps })
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    }
    const [first, ...rest] = graph.transitions
    const taken = { ...first, id: foreign.transitions[0]?.id }
    const answer = await put(id, { ...graph, transitions: [taken, ...rest] })
    assert.equal(answer.status, 404)
    assert.deepEqual(await graphOf(second.id), foreign)
    assert.deepEqual(await graphOf(id), graph)
  })

  test('with more than 1,000 steps or 3,000 transitions, or of 5 MB', async () => {
    const { id, steps } = await create()
    const exits = Array.from({ length: 1_000 }, () => newStep('EXIT'))
    const tooMany = await put(id, { steps: [steps[0], ...exits], transitions: [] })
    assert.deepEqual([tooMany.status, tooMany.body.error.errors[0].field], [422, 'steps'])
    const loops = Array.from({ length: 3_001 }, () => way(steps[0], steps[0]))
    const tooLinked = await put(id, { steps, transitions: loops })
    assert.deepEqual([tooLinked.status, tooLinked.body.error.errors[0].field], [422, 'transitions'])
    const body = 'x'.repeat(200_000)
    const big = (count: number) =>
      Array.from({ length: count }, () => newStep('WEBHOOK', { url: 'https://a.test', body }))
    assert.equal((await put(id, { steps: [steps[0], ...big(27)], transitions: [] })).status, 413)
    const large = await put(id, { steps: [steps[0], ...big(22)], transitions: [] })
    assert.deepEqual([large.status, large.body.error.errors[0].field], [422, 'steps'])
    assert.equal(await read().$count(workflowSteps), 1)
  })
})

test('a graph of 1,000 steps in a row is stored, read and kept', async () => {
  const { id, steps } = await create()
  const rest = Array.from({ length: 999 }, () => newStep('DELAY', delayConfig))
  const all = [steps[0], ...rest]
  const transitions = rest.map((step, index) => way(all[index], step))
  const answer = await ok(put(id, { steps: all, transitions }))
  assert.equal(answer.steps.length, 1_000)
  assert.equal(await read().$count(workflowTransitions), 999)
  assert.equal((await ok(put(id, await graphOf(id)))).version, 2)
  const back = await link(id, answer.steps[999].id, answer.steps[1].id)
  assert.deepEqual([back.status, back.body.error.code], [400, 'BAD_REQUEST'])
})

describe('with executions in an enabled workflow, a graph is', () => {
  /** Replaces the graph of a chain, in which an execution stands at UPDATE_CONTACT. */
  const attempt = async (
    change: (graph: Graph, ids: Awaited<ReturnType<typeof chain>>) => Graph,
  ) => {
    const ids = await chain()
    await enable(ids.id)
    await stand(ids.id, ids.update)
    const { status } = await put(ids.id, change(await graphOf(ids.id), ids))
    const [row] = await read().select().from(workflowExecutions)
    assert.deepEqual([row?.status, row?.currentStepId], ['WAITING', ids.update])
    return status
  }
  const without = (steps: Graph['steps'], ...ids: string[]) =>
    steps.filter(({ id }) => !ids.includes(String(id)))
  const delay = newStep('DELAY', delayConfig)
  const condition = newStep('CONDITION', exists)

  const cases: [string, number, Parameters<typeof attempt>[0]][] = [
    ['kept', 200, (graph) => graph],
    [
      'changed in names and positions',
      200,
      ({ steps, transitions }) => ({
        steps: steps.map((step) => ({ ...step, name: 'N', position: { x: 9, y: 9 } })),
        transitions,
      }),
    ],
    [
      'refused with another config',
      409,
      ({ steps, transitions }) => ({
        steps: steps.with(1, { ...steps[1], config: { amount: 2, unit: 'days' } }),
        transitions,
      }),
    ],
    [
      'refused without the step at which an execution stands',
      409,
      ({ steps }, { trigger, delay, update, exit }) => ({
        steps: without(steps, update),
        transitions: [way({ id: trigger }, { id: delay }), way({ id: delay }, { id: exit })],
      }),
    ],
    [
      'refused without a transition before the execution',
      409,
      ({ steps, transitions }) => ({ steps, transitions: transitions.slice(1) }),
    ],
    [
      'changed behind the execution',
      200,
      ({ steps, transitions }, { exit }) => ({
        steps: without(steps, exit),
        transitions: transitions.slice(0, 2),
      }),
    ],
    [
      'spliced before the execution',
      200,
      ({ steps, transitions }, { trigger, delay, update }) => ({
        steps: without(steps, delay),
        transitions: [way({ id: trigger }, { id: update }), transitions[2] ?? {}],
      }),
    ],
    [
      'refused with a step removed before the execution, whose place stays empty',
      409,
      ({ steps, transitions }, { delay }) => ({
        steps: without(steps, delay),
        transitions: transitions.slice(2),
      }),
    ],
    [
      'extended by steps before the execution',
      200,
      ({ steps, transitions }, { delay: before, update }) => ({
        steps: [...steps, condition, delay],
        transitions: [
          transitions[0] ?? {},
          way({ id: before }, condition),
          way(condition, delay, { branch: 'yes' }),
          way(delay, { id: update }),
          transitions[2] ?? {},
        ],
      }),
    ],
    [
      'refused with a new step that does not lead on',
      409,
      ({ steps, transitions }, { delay: before, update }) => ({
        steps: [...steps, condition],
        transitions: [
          transitions[0] ?? {},
          way({ id: before }, condition),
          way(condition, { id: update }, { branch: 'no' }),
          transitions[2] ?? {},
        ],
      }),
    ],
    [
      'extended by a transition',
      200,
      ({ steps, transitions }) => {
        const [wait, exit] = [newStep('WAIT_FOR_EVENT', { eventName: 'a' }), newStep('EXIT')]
        return { steps: [...steps, wait, exit], transitions: [...transitions, way(wait, exit)] }
      },
    ],
    [
      'refused with another TRIGGER',
      409,
      ({ steps, transitions }, { trigger, delay }) => {
        const start = newStep('TRIGGER')
        return {
          steps: [start, ...without(steps, trigger)],
          transitions: [way(start, { id: delay }), ...transitions.slice(1)],
        }
      },
    ],
  ]
  for (const [title, status, change] of cases) {
    it(title, async () => assert.equal(await attempt(change), status))
  }
})

test('in a disabled workflow, executions at removed steps are cancelled', async () => {
  const { id, delay } = await chain()
  await stand(id, delay)
  const { steps } = await graphOf(id)
  await ok(put(id, { steps: steps.slice(0, 1), transitions: [] }))
  const [row] = await read().select().from(workflowExecutions)
  assert.deepEqual([row?.status, row?.exitReason], ['CANCELLED', 'step removed'])
})

test('a graph with an error has a warning in an enabled workflow', async () => {
  const { id, steps } = await create()
  const [trigger] = steps
  const mail = newStep('SEND_EMAIL', {}, { name: 'Mail' })
  const graph = { steps: [trigger, mail], transitions: [way(trigger, mail)] }
  assert.equal((await put(id, graph)).body.warnings, undefined)
  await ok(put(id, { steps: [trigger], transitions: [] }))
  await ok(patch(id, { enabled: true }))
  const other = { ...mail, id: newId() }
  const apart = await put(id, { steps: [trigger, other], transitions: [] })
  assert.deepEqual([apart.status, apart.body.warnings], [200, undefined], 'no way leads to it')
  const { status, body } = await put(id, {
    steps: [trigger, other],
    transitions: [way(trigger, other)],
  })
  assert.deepEqual(
    [status, body.warnings],
    [
      200,
      [
        {
          field: 'steps',
          message:
            'The workflow is enabled, so executions meet an error: The step "Mail" has no template.',
          suggestion: "Set the step's templateId to a template of this project.",
        },
      ],
    ],
  )
})

describe('a check', () => {
  type Finding = { code: string; severity: string; message: string; fix: string; stepId?: string }
  const findingsOf = async (id: string): Promise<Finding[]> =>
    (await ok(call('post', `/workflows/${id}/validate`))).findings
  const codesOf = async (id: string) =>
    (await findingsOf(id)).map(({ severity, code }) => `${severity} ${code}`)

  test('of a sound workflow finds nothing', async () => {
    assert.deepEqual(await codesOf((await chain()).id), [])
  })

  test('finds a workflow without steps', async () => {
    assert.deepEqual(await codesOf((await create()).id), ['info no_steps'])
  })

  test('finds emails without template or sender', async () => {
    const { id } = await create()
    const from = address('a@shop.test')
    const template = { projectId: mine.id, name: 'T', subject: 'S', body: 'B', from }
    const { id: templateId } = await createTemplate(service.core, template)
    const step = await ok(add(id, 'SEND_EMAIL'), 201)
    const [finding] = await findingsOf(id)
    assert.deepEqual(
      [finding?.code, finding?.severity, finding?.stepId],
      ['no_template', 'error', step.id],
    )
    assert.ok(finding?.message && finding.fix)
    await ok(call('patch', `/workflows/${id}/steps/${step.id}`).send({ templateId }))
    assert.deepEqual(await codesOf(id), [])
    const setVerified = (isVerified: boolean) =>
      service.core.store.write((tx) => tx.update(domains).set({ isVerified }))
    await setVerified(false)
    assert.deepEqual(await codesOf(id), ['warning sender_unverified'])
    await setVerified(true)
    await service.core.store.write((tx) =>
      tx.update(workflowSteps).set({ templateId: newId() }).where(eq(workflowSteps.id, step.id)),
    )
    assert.deepEqual(await codesOf(id), ['error template_missing'])
  })

  test('finds conditions that can never be true, and branches that lead nowhere', async () => {
    const { id } = await create()
    const config = { field: 'data.plan', operator: 'greaterThan', value: 'x' }
    const step = await ok(add(id, 'CONDITION', config), 201)
    await ok(add(id, 'EXIT'), 201)
    // As it could be saved before such fields were refused.
    await service.core.store.write((tx) =>
      tx
        .update(workflowSteps)
        .set({ config: { ...config, field: 'plan' } })
        .where(eq(workflowSteps.id, step.id)),
    )
    assert.deepEqual(await codesOf(id), [
      'warning unknown_field',
      'warning value_not_numeric',
      'info branch_without_transition',
    ])
  })

  test('finds values of another type than the field has', async () => {
    const { id } = await create()
    const config = { field: 'contact.subscribed', operator: 'equals', value: 'true' }
    const step = await ok(add(id, 'CONDITION', config), 201)
    assert.equal(step.config.value, true)
    const found = async (value: unknown) => {
      const next = { config: { ...config, value } }
      await ok(call('patch', `/workflows/${id}/steps/${step.id}`).send(next))
      return (await findingsOf(id)).filter(({ code }) => code === 'value_of_other_type')
    }
    assert.deepEqual(await found('false'), [])
    const [finding] = await found('yes')
    assert.match(finding?.message ?? '', /contact\.subscribed, which is true or false/)
  })

  test('finds events of segments that do not occur, as a warning of the request does', async () => {
    const named = { projectId: mine.id, name: `Big Spender ${newId().slice(-6)}` }
    const made = await createSegment(service.core, {
      ...{ ...named, type: 'DYNAMIC', hasMembershipEvents: true },
      condition: { logic: 'AND', groups: [{ filters: [exists] }] },
    })
    const still = await createSegment(service.core, {
      ...{ projectId: mine.id, name: newId(), type: 'STATIC' },
    })
    const slug = made.name.toLowerCase().replaceAll(' ', '-')
    const [right, near] = [`segment.${slug}.entry`, `segment.${slug}s.entry`]
    const silent = `segment.${still.name}.exit`

    const workflow = await create({ eventName: near })
    const { id } = workflow
    const [warning, ...others] = workflow.warnings
    assert.deepEqual([warning.field, warning.suggestion, others], ['eventName', right, []])
    const found = async () =>
      (await findingsOf(id)).filter(({ code }) => code === 'segment_unknown')
    const [finding] = await found()
    assert.match(finding?.message ?? '', /nothing starts the workflow/)
    assert.ok(finding?.message.includes(`Did you mean ${right}?`), finding?.message)

    const changed = await ok(patch(id, { triggerConfig: { eventName: right } }))
    assert.equal(changed.warnings, undefined)
    assert.deepEqual(await found(), [])

    const wait = await ok(add(id, 'WAIT_FOR_EVENT', { eventName: silent, timeout: 9 }), 201)
    assert.equal(wait.warnings[0].field, 'config.eventName')
    assert.match(wait.warnings[0].message, /does not track its membership/)
    assert.deepEqual(
      (await found()).map(({ stepId }) => stepId),
      [wait.id],
    )
    const again = await ok(put(id, await graphOf(id)))
    assert.equal(again.warnings[0].field, 'steps.1.config.eventName')
    const mended = { config: { eventName: right, timeout: 9 } }
    const step = await ok(call('patch', `/workflows/${id}/steps/${wait.id}`).send(mended))
    assert.equal(step.warnings, undefined)
    assert.deepEqual(await found(), [])
  })

  test('accepts every event of emails as the field of a condition', async () => {
    const names = ['sent', 'delivered', 'delivery', 'opened', 'open', 'clicked', 'click', 'bounced']
    names.push('bounce', 'complained', 'complaint', 'failed', 'suppressed', 'received')
    const { id } = await create()
    const step = await ok(add(id, 'CONDITION', { field: 'email.open', operator: 'exists' }), 201)
    const change = (field: string) => {
      const config = { field, operator: 'exists' }
      return call('patch', `/workflows/${id}/steps/${step.id}`).send({ config })
    }
    for (const name of names) {
      await ok(change(`email.${name}`))
      const codes = (await codesOf(id)).filter((code) => code.startsWith('warning'))
      assert.deepEqual(codes, [], name)
    }
    for (const name of ['', 'opens', 'opened.x', 'Open']) {
      assert.equal((await change(`email.${name}`)).status, 422, name)
    }
  })

  test('refuses a condition on a campaign that the project lacks, and finds one that was deleted', async () => {
    const { id, steps } = await create()
    const from = address('a@shop.test')
    const campaign = { name: 'C', subject: 'S', body: '<p>B</p>', from: from.address }
    const audience = { audienceType: 'ALL' }
    const made = async (by = mine) =>
      (await ok(call('post', '/campaigns', by).send({ ...campaign, ...audience }), 201)).data.id
    const [campaignId, foreign] = [await made(), newId()]
    const config = (id: string) => ({ field: 'email.opened', operator: 'exists', campaignId: id })
    const refused = async (request: ReturnType<typeof add>, field: string) => {
      const { status, body } = await request
      assert.deepEqual([status, body.error?.code], [400, 'BAD_REQUEST'], JSON.stringify(body))
      assert.equal(body.error.errors?.[0]?.field, field)
      assert.equal(body.error.details?.id, foreign)
    }
    await refused(add(id, 'CONDITION', config(foreign)), 'config.campaignId')
    const step = await ok(add(id, 'CONDITION', config(campaignId)), 201)
    const change = (id_: string, more = {}) =>
      call('patch', `/workflows/${id}/steps/${step.id}`).send({ config: config(id_), ...more })
    await refused(change(foreign), 'config.campaignId')
    const graph = await graphOf(id)
    const others = graph.steps.map((each) =>
      each.id === step.id ? { ...each, config: config(foreign) } : each,
    )
    await refused(put(id, { ...graph, steps: others }), 'steps.1.config.campaignId')
    assert.ok(!(await codesOf(id)).includes('warning campaign_missing'))
    await ok(call('delete', `/campaigns/${campaignId}`))
    assert.ok((await codesOf(id)).includes('warning campaign_missing'))
    // What was there before does not keep other edits from being saved.
    await ok(put(id, graph))
    await ok(change(campaignId, { name: 'Opened' }))
    assert.equal(steps.length, 1)
  })

  test('finds waits without end, and timeouts that lead nowhere', async () => {
    const { id } = await create()
    await ok(add(id, 'WAIT_FOR_EVENT', { eventName: 'a' }), 201)
    await ok(add(id, 'WAIT_FOR_EVENT', { eventName: 'campaign.sent', timeout: 5 }), 201)
    await ok(add(id, 'EXIT'), 201)
    assert.deepEqual(await codesOf(id), [
      'warning event_without_contact',
      'info wait_without_timeout',
      'info timeout_without_transition',
    ])
  })

  test('finds variables that nothing fills, with the one that may be meant', async () => {
    const { id } = await create()
    await call('post', '/contacts').send({ email: 'ann@people.test', data: { vorname: 'Ann' } })
    const from = address('a@shop.test')
    const body = '<p>{{ Vorname }} {{ vorname }} {{ plan }} {{ event.any }} {{ zzz ?? x }}</p>'
    const template = { projectId: mine.id, name: 'T', subject: 'Hi', body, from }
    const { id: templateId } = await createTemplate(service.core, template)
    const step = await ok(add(id, 'SEND_EMAIL', {}, { templateId }), 201)
    const seen = '{{ vornam }}{{ seen }}{{ contact.email }}{{ contact.vornam }}'
    await ok(add(id, 'UPDATE_CONTACT', { updates: { seen } }), 201)
    const unfilled = async () =>
      (await findingsOf(id)).filter(({ code }) => code === 'unfilled_variable')
    const guessed = await unfilled()
    assert.deepEqual(
      guessed.map(({ message }) => /\{\{(\w+)\}\}/.exec(message)?.[1]),
      ['Vorname', 'vornam'],
    )
    assert.equal(guessed[0]?.stepId, step.id)
    assert.match(guessed[0]?.fix ?? '', /^Did you mean \{\{vorname\}\}\?/)
    // Once the event has occurred, its names are known.
    const signup = { event: 'signup', email: 'ann@people.test' }
    await ok(
      call('post', '/v1/track').send({
        ...signup,
        data: { tier: { value: 1, persistent: false } },
      }),
    )
    const known = await unfilled()
    assert.deepEqual(
      known.map(({ message }) => /\{\{(\w+)\}\}/.exec(message)?.[1]),
      ['Vorname', 'plan', 'vornam'],
    )
  })

  test('tells slips in variables with a fallback or in tags', async () => {
    const { id } = await create({ eventName: 'unheard' })
    await call('post', '/contacts').send({ email: 'ann@people.test', data: { vorname: 'Ann' } })
    const from = address('a@shop.test')
    const body =
      '<p>{{ zzz ?? x }}{{ vornmae ?? you }}{% if vornama %}{{ vornmae ?? you }}{% endif %}'
    const template = { projectId: mine.id, name: 'T', subject: 'Hi', body, from }
    const { id: templateId } = await createTemplate(service.core, template)
    const step = await ok(add(id, 'SEND_EMAIL', {}, { templateId }), 201)
    await ok(add(id, 'UPDATE_CONTACT', { updates: { seen: '{{ vornama }}' } }), 201)
    const found = (await findingsOf(id)).filter(({ code }) => code === 'unfilled_variable')
    assert.deepEqual(
      found.map(({ severity, message }) => [severity, /\{\{(\w+)\}\}/.exec(message)?.[1]]),
      [
        ['warning', 'vornama'],
        ['info', 'vornmae'],
      ],
    )
    assert.equal(found[1]?.stepId, step.id)
    assert.match(found[1]?.fix ?? '', /^Did you mean \{\{vorname\}\}\?/)
  })

  test('tells a slip behind many variables that contacts have', async () => {
    const { id } = await create({ eventName: 'unheard' })
    const names = Array.from({ length: 120 }, (_, at) => `filled${at}`)
    const data = Object.fromEntries([...names, 'vorname'].map((name) => [name, 'x']))
    await ok(call('post', '/contacts').send({ email: 'full@people.test', data }), 201)
    const seen = [...names, 'vornmae'].map((name) => `{{ ${name} ?? x }}`).join('')
    await ok(add(id, 'UPDATE_CONTACT', { updates: { seen } }), 201)
    const found = (await findingsOf(id)).filter(({ code }) => code === 'unfilled_variable')
    assert.deepEqual(
      found.map(({ message }) => /\{\{(\w+)\}\}/.exec(message)?.[1]),
      ['vornmae'],
    )
  })

  test('finds a mail that asks to confirm in a workflow that a contact walks once', async () => {
    const from = address('a@shop.test')
    const templateOf = async (body: string) => {
      const template = { projectId: mine.id, name: 'T', subject: 'Hi', body, from }
      return (await createTemplate(service.core, template)).id
    }
    const leaving = await templateOf('<a href="{{ unsubscribeUrl }}">no</a> {{UnsubscribeURL}}')
    const asking = await templateOf('<a href="{{ unsubscribeUrl }}">no</a> {{subscribeUrl}}')
    const { id } = await create()
    const found = async () => (await findingsOf(id)).filter(({ code }) => code === 'asks_once')
    await ok(add(id, 'SEND_EMAIL', {}, { templateId: leaving }), 201)
    assert.deepEqual(await found(), [])
    const step = await ok(add(id, 'SEND_EMAIL', {}, { templateId: asking }), 201)
    assert.deepEqual(
      (await found()).map(({ severity, stepId }) => [severity, stepId]),
      [['info', step.id]],
    )
    await ok(call('patch', `/workflows/${id}`).send({ allowReentry: true }))
    assert.deepEqual(await found(), [])
  })

  test('judges a variable once, however many steps print it, and compares few of them', async () => {
    const { id } = await create({ eventName: 'unheard' })
    await call('post', '/contacts').send({ email: 'ann@people.test', data: { vorname: 'Ann' } })
    const strange = Array.from({ length: 20 }, (_, at) => `{{ qqq${'x'.repeat(at)}${at} }}`)
    const from = address('a@shop.test')
    const body = `<p>{{ vornam }} ${strange.join(' ')} {{ vornamee }}</p>`
    const template = { projectId: mine.id, name: 'T', subject: 'Hi', body, from }
    const { id: templateId } = await createTemplate(service.core, template)
    const step = await ok(add(id, 'SEND_EMAIL', {}, { templateId }), 201)
    await ok(add(id, 'SEND_EMAIL', {}, { templateId }), 201)
    await ok(add(id, 'UPDATE_CONTACT', { updates: { seen: '{{ vornam }}' } }), 201)
    const found = (await findingsOf(id)).filter(({ code }) => code === 'unfilled_variable')
    assert.deepEqual(
      found.map(({ message, stepId }) => [/\{\{(\w+)\}\}/.exec(message)?.[1], stepId]),
      [['vornam', step.id]],
    )
  })

  test('knows each key of the contacts, however many there are', async () => {
    const { id } = await create()
    const keys = Array.from({ length: 600 }, (_, at) => `key${String(at).padStart(3, '0')}`)
    for (const at of [0, 200, 400]) {
      const data = Object.fromEntries(keys.slice(at, at + 200).map((key) => [key, 'x']))
      await ok(call('post', '/contacts').send({ email: `many${at}@people.test`, data }), 201)
    }
    await ok(add(id, 'UPDATE_CONTACT', { updates: { seen: '{{ key599 }}' } }), 201)
    const found = (await findingsOf(id)).filter(({ code }) => code === 'unfilled_variable')
    assert.deepEqual(found, [])
  })

  test('finds steps without a way to them', async () => {
    const { id } = await create()
    const exit = await ok(add(id, 'EXIT', {}, { autoConnect: false }), 201)
    const [finding] = await findingsOf(id)
    assert.deepEqual([finding?.code, finding?.stepId], ['unreachable_step', exit.id])
  })

  test('finds references to emails that are not sent before', async () => {
    const { id } = await create()
    const email = await ok(add(id, 'SEND_EMAIL', {}, { autoConnect: false }), 201)
    const stepId = email.id
    const wait = await ok(add(id, 'WAIT_FOR_EVENT', { eventName: 'email.open', stepId }), 201)
    const has = async () => (await codesOf(id)).includes('error unknown_email_step')
    assert.equal(await has(), false)
    for (const other of ['welcome', newId()]) {
      const unknown = { eventName: 'email.open', stepId: other }
      const refusals = [
        await add(id, 'WAIT_FOR_EVENT', unknown),
        await call('patch', `/workflows/${id}/steps/${wait.id}`).send({ config: unknown }),
      ]
      for (const { status, body } of refusals) {
        const { field, message } = body.error.errors[0]
        assert.deepEqual([status, field], [422, 'config.stepId'])
        assert.ok(message.endsWith(`its emails are ${stepId} ("SEND_EMAIL").`), message)
      }
    }
    await ok(call('delete', `/workflows/${id}/transitions/${wait.incomingTransitions[0].id}`), 204)
    assert.equal(await has(), true)
    await ok(link(id, stepId, wait.id), 201)
    const config = { eventName: 'email.open', stepId: wait.id }
    await ok(call('patch', `/workflows/${id}/steps/${wait.id}`).send({ config }))
    assert.equal(await has(), true)
    const found = (await findingsOf(id)).find(({ code }) => code === 'unknown_email_step')
    assert.ok(found?.fix.includes(`${stepId} ("SEND_EMAIL")`), found?.fix)
  })

  test('finds data that contacts cannot have', async () => {
    const { id } = await create()
    await ok(add(id, 'UPDATE_CONTACT', { updates: { id: 5, a: 1 } }), 201)
    assert.deepEqual(await codesOf(id), ['warning reserved_key'])
  })

  test('finds a schedule whose segment is gone, and the workflow cannot be enabled', async () => {
    const { id } = await chain()
    const segment = { projectId: mine.id, name: newId(), type: 'STATIC' as const }
    const { id: segmentId } = await createSegment(service.core, segment)
    const triggerConfig = { schedule: '0 9 * * *', segmentId }
    await ok(patch(id, { triggerType: 'SCHEDULE', triggerConfig }))
    assert.deepEqual(await codesOf(id), [])
    await service.core.store.write((tx) => tx.delete(segments).where(eq(segments.id, segmentId)))
    assert.deepEqual(await codesOf(id), ['error segment_missing'])
    assert.equal((await patch(id, { enabled: true })).status, 400)
  })

  const feeding: [string, string, object][] = [
    ['contact.subscribed', 'UPDATE_CONTACT', { subscriptionAction: 'subscribe' }],
    ['contact.unsubscribed', 'UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }],
    ['email.opened', 'SEND_EMAIL', {}],
    ['workflow.completed', 'EXIT', {}],
  ]
  for (const [eventName, type, config] of feeding) {
    test(`finds that a workflow feeds itself by ${eventName}`, async () => {
      const { id } = await create({ eventName })
      await ok(add(id, type, config), 201)
      assert.ok((await codesOf(id)).includes('warning feeds_itself'))
      await ok(patch(id, { triggerConfig: { eventName: 'a' } }))
      assert.ok(!(await codesOf(id)).includes('warning feeds_itself'))
    })
  }
})
