import assert from 'node:assert/strict'
import { test } from 'node:test'
import { segments } from '../../../src/store/schema/segments.ts'
import { useService } from '../service.ts'

const { service, call } = useService()

const of = (field: string) => ({
  logic: 'AND',
  groups: [{ filters: [{ field, operator: 'triggered' }] }],
})

/** Each place of a request in which something names an event that it follows, with the field of the error. */
const PLACES: Record<
  string,
  (name: string) => Promise<[path: string, body: object, field: string]>
> = {
  'the trigger of a new workflow': async (eventName) => [
    '/workflows',
    { name: 'W', eventName },
    'eventName',
  ],
  'the config of that trigger': async (eventName) => [
    '/workflows',
    { name: 'W', triggerConfig: { eventName } },
    'triggerConfig.eventName',
  ],
  'a changed trigger': async (eventName) => [
    `patch /workflows/${await makeWorkflow()}`,
    { triggerType: 'EVENT', triggerConfig: { eventName } },
    'triggerConfig.eventName',
  ],
  'a wait': async (eventName) => [
    `/workflows/${await makeWorkflow()}/steps`,
    {
      ...{ type: 'WAIT_FOR_EVENT', name: 'W', position: { x: 0, y: 0 } },
      config: { eventName },
    },
    'config.eventName',
  ],
  'a condition of a workflow': async (field) => [
    `/workflows/${await makeWorkflow()}/steps`,
    {
      ...{ type: 'CONDITION', name: 'C', position: { x: 0, y: 0 } },
      config: { field, operator: 'exists' },
    },
    'config.field',
  ],
  'a segment': async (name) => [
    '/segments',
    { name: 'S', condition: of(`event.${name}`) },
    'condition.groups.0.filters.0.field',
  ],
  'an audience': async (name) => [
    '/campaigns/audience',
    { audienceType: 'FILTERED', audienceCondition: of(name) },
    'audienceCondition.groups.0.filters.0.field',
  ],
  'a filter of contacts': async (name) => [
    '/contacts/query',
    { filter: of(`event.${name}`) },
    'filter.groups.0.filters.0.field',
  ],
  'the events of an endpoint': async (name) => [
    '/webhooks/endpoints',
    { url: 'https://hooks.test/', events: ['*', name] },
    'events.1',
  ],
}

async function makeWorkflow(): Promise<string> {
  const { body } = await call('post', '/workflows').send({ name: 'W', eventName: 'signup' })
  return body.id
}

async function ask(place: string, name: string) {
  const [given, body, field] = (await PLACES[place]?.(name)) ?? ['', {}, '']
  const [method, path] = given.startsWith('patch ') ? ['patch', given.slice(6)] : ['post', given]
  const answer = await call(method as 'post', path).send(body)
  return { status: answer.status, body: answer.body, field }
}

for (const place of Object.keys(PLACES)) {
  test(`${place} names no event of the service that nobody makes`, async () => {
    const { status, body, field } = await ask(place, 'email.opend')
    assert.equal(status, 422)
    const [error] = body.error.errors
    assert.equal(error.field, field)
    assert.match(error.message, /Did you mean "email\.opened"\?/)
    const known = await ask(place, 'email.opened')
    assert.ok(known.status < 300, JSON.stringify(known.body))
  })
}

test('names of segments, and those of projects below other beginnings, are no misspellings', async () => {
  for (const eventName of ['segment.vip.entry', 'contact.created', 'workflow.completed']) {
    const { status } = await call('post', '/workflows').send({ name: 'W', eventName })
    assert.equal(status, 201, eventName)
  }
})

test('a segment that names such an event from before goes on as it is', async () => {
  const made = await call('post', '/segments').send({ name: 'S', condition: of('event.signup') })
  await service.core.store.write((tx) =>
    tx.update(segments).set({ condition: of('event.email.opend') as never }),
  )
  const { status, body } = await call('get', `/segments/${made.body.id}/contacts`)
  assert.deepEqual([status, body.total], [200, 0])
})

test('a condition on a field that cannot exist is refused as in a segment, with the one that is meant', async () => {
  const id = await makeWorkflow()
  const step = { type: 'CONDITION', name: 'C', position: { x: 0, y: 0 } }
  for (const [field, meant] of [
    ['plan', 'Data is "data.plan"'],
    ['contact.plan', 'Data is "data.plan"'],
    ['contact.emial', 'Did you mean "contact.email"?'],
    ['email', 'Expected contact.email'],
    ['Data.plan', 'Did you mean "data.plan"?'],
  ]) {
    const config = { field, operator: 'equals', value: 'pro' }
    const { status, body } = await call('post', `/workflows/${id}/steps`).send({ ...step, config })
    const [error] = body.error.errors
    assert.deepEqual([status, error.field], [422, 'config.field'])
    assert.ok(error.message.includes(meant), error.message)
  }
})
