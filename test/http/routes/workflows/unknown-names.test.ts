import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workflowSteps, workflows } from '../../../../src/store/schema/workflows.ts'
import { useService } from '../../service.ts'

const { service, call } = useService()

const position = { x: 0, y: 0 }

async function makeWorkflow(): Promise<string> {
  const answer = await call('post', '/workflows').send({ name: 'w', eventName: 'signup' })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.id
}

const wait = { type: 'WAIT_FOR_EVENT', name: 'wait', position }
const misspelt = { eventName: 'paid', timout: 60 }
const message = 'A step of this type has no such field, so it was ignored; did you mean timeout?'

test('a name in a config that the step does not read is named in a warning', async () => {
  const id = await makeWorkflow()
  const made = await call('post', `/workflows/${id}/steps`).send({ ...wait, config: misspelt })
  assert.equal(made.status, 201)
  assert.deepEqual(made.body.warnings, [{ field: 'config.timout', message, suggestion: 'timeout' }])
  const path = `/workflows/${id}/steps/${made.body.id}`
  const changed = await call('patch', path).send({ config: misspelt })
  assert.equal(changed.body.warnings[0].field, 'config.timout')
  const whole = { id: '0199a7c0-0000-7000-8000-00000000aaaa', ...wait, config: misspelt }
  const other = await makeWorkflow()
  const { body: shown } = await call('get', `/workflows/${other}`)
  const transition = { fromStepId: shown.steps[0].id, toStepId: whole.id }
  const graph = { steps: [shown.steps[0], { ...whole, extra: 1 }], transitions: [transition] }
  const replaced = await call('put', `/workflows/${other}/graph`).send(graph)
  assert.deepEqual(
    replaced.body.warnings?.map(({ field }: { field: string }) => field),
    ['steps.1.extra', 'steps.1.config.timout'],
    replaced.text,
  )
})

test('nested objects, branches and triggers are looked at, and maps have any name', async () => {
  const id = await makeWorkflow()
  const fieldsOf = async (type: string, config: object) => {
    const step = { type, name: 's', position, config, autoConnect: false }
    const { status, body, text } = await call('post', `/workflows/${id}/steps`).send(step)
    assert.equal(status, 201, text)
    return body.warnings?.map(({ field }: { field: string }) => field)
  }
  const recipient = { type: 'CUSTOM', customEmail: 'a@b.test', emial: 'c' }
  assert.deepEqual(await fieldsOf('SEND_EMAIL', { recipient }), ['config.recipient.emial'])
  const branch = { id: 'a', name: 'A', operator: 'exists', value: 1, color: 'red' }
  const multi = { mode: 'multi', field: 'data.plan', branches: [branch], operator: 'exists' }
  assert.deepEqual(await fieldsOf('CONDITION', multi), [
    'config.operator',
    'config.branches.0.color',
  ])
  const webhook = {
    url: 'https://a.test',
    headers: { 'x-any': 'b' },
    body: { any: 1 },
    verb: 'GET',
  }
  assert.deepEqual(await fieldsOf('WEBHOOK', webhook), ['config.verb'])
  assert.equal(await fieldsOf('UPDATE_CONTACT', { updates: { any: 1 } }), undefined)
  assert.equal(await fieldsOf('DELAY', { amount: 1, unit: 'days', note: null }), undefined)
  const trigger = { triggerConfig: { eventName: 'signup', once: true } }
  const changed = await call('patch', `/workflows/${id}`).send(trigger)
  assert.equal(changed.body.warnings[0].field, 'triggerConfig.once')
  const made = await call('post', '/workflows').send({ name: 'w', ...trigger })
  assert.equal(made.body.warnings[0].field, 'triggerConfig.once')
})

test('a step that refers to no other one keeps no stepId, whatever it is', async () => {
  const id = await makeWorkflow()
  const config = { amount: 1, unit: 'days', stepId: 'mine-7' }
  const made = await call('post', `/workflows/${id}/steps`).send({
    ...{ type: 'DELAY', name: 's', position, config },
  })
  const path = `/workflows/${id}/steps/${made.body.id}`
  const changed = await call('patch', path).send({ config: { ...config, amount: 2 } })
  const { body: shown } = await call('get', `/workflows/${id}`)
  const steps = shown.steps.map((step: { type: string }) =>
    step.type === 'DELAY' ? { ...step, config } : step,
  )
  const [trigger, delay] = shown.steps
  const transitions = [{ fromStepId: trigger.id, toStepId: delay.id }]
  const replaced = await call('put', `/workflows/${id}/graph`).send({ steps, transitions })
  for (const [answer, status, field] of [
    [made, 201, 'config.stepId'],
    [changed, 200, 'config.stepId'],
    [replaced, 200, 'steps.1.config.stepId'],
  ] as const) {
    assert.equal(answer.status, status, answer.text)
    assert.equal(answer.body.warnings[0].field, field)
  }
})

test('with Prefer: handling=strict such a name is refused, and nothing is written', async () => {
  const id = await makeWorkflow()
  const { read } = service.core.store
  const before = [await read.$count(workflows), await read.$count(workflowSteps)]
  const strict = { Prefer: 'handling=strict' }
  const answers = [
    await call('post', `/workflows/${id}/steps`)
      .set(strict)
      .send({ ...wait, config: misspelt }),
    await call('post', '/workflows')
      .set(strict)
      .send({ name: 'w', triggerConfig: { eventName: 'a', once: 1 } }),
    await call('patch', `/workflows/${id}`)
      .set(strict)
      .send({ triggerConfig: { eventName: 'b', once: 1 } }),
  ]
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.error.errors[0].code], [422, 'unrecognized'])
  }
  assert.equal(answers[0]?.body.error.errors[0].field, 'config.timout')
  assert.deepEqual([await read.$count(workflows), await read.$count(workflowSteps)], before)
  const { body } = await call('get', `/workflows/${id}`)
  assert.equal(body.triggerConfig.eventName, 'signup')
})

test('a new workflow that should be enabled says that no event starts it', async () => {
  const { status, body } = await call('post', '/workflows').send({
    ...{ name: 'w', eventName: 'signup', enabled: true },
  })
  assert.deepEqual([status, body.enabled, body.warnings[0].field], [201, false, 'enabled'])
  assert.match(body.warnings[0].suggestion, new RegExp(`PATCH /workflows/${body.id}`))
})
