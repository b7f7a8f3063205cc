/** Every event that an execution makes, at whatever step, is one deeper than the execution. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEventDepths } from '../../../../../src/features/ground/events/depth.ts'
import { createTemplate } from '../../../../../src/features/mail/templates/templates.ts'
import type { StepType } from '../../../../../src/store/schema/words.ts'
import { address, trustDomain } from '../../../../core.ts'
import { suppressAll } from '../../../ground/usage/usage.ts'
import type { StepSpec } from '../engine/workflow-rows.ts'
import { openChains, subscribing } from './chain-core.ts'

/** What each type of step may make; a new type needs a row. */
const MADE: Record<StepType, { specs: (templateId: string) => StepSpec[]; events: string[] }> = {
  TRIGGER: { specs: () => [], events: [] },
  SEND_EMAIL: {
    specs: (templateId) => [{ type: 'SEND_EMAIL', templateId }],
    events: ['email.suppressed'],
  },
  DELAY: {
    specs: () => [{ type: 'DELAY', config: { amount: 0.001, unit: 'minutes' } }],
    events: [],
  },
  WAIT_FOR_EVENT: {
    specs: () => [{ type: 'WAIT_FOR_EVENT', config: { eventName: 'never', timeout: 1 } }],
    events: [],
  },
  CONDITION: {
    specs: () => [
      { type: 'CONDITION', config: { field: 'contact.email', operator: 'exists', mode: 'binary' } },
    ],
    events: [],
  },
  EXIT: { specs: () => [{ type: 'EXIT' }], events: [] },
  WEBHOOK: {
    specs: () => [{ type: 'WEBHOOK', config: { url: 'http://127.0.0.1:1/', method: 'POST' } }],
    events: [],
  },
  UPDATE_CONTACT: {
    specs: () => [
      { type: 'UPDATE_CONTACT', config: { updates: { seen: true } } },
      subscribing('unsubscribe'),
      subscribing('subscribe'),
    ],
    events: ['contact.subscribed', 'contact.unsubscribed'],
  },
}

for (const [type, { specs, events }] of Object.entries(MADE)) {
  test(`S34: the events that a step ${type} makes are deeper than its execution`, async (t) => {
    const { core, projectId, runner, track, make, flow, eventsAfter } = await openChains(t)
    await trustDomain(core, projectId, 'shop.test')
    const { id: templateId } = await createTemplate(core, {
      ...{ projectId, name: 'T', subject: 'S', body: '<p>B</p>', type: 'TRANSACTIONAL' },
      from: address('hello@shop.test'),
    })
    const { contact } = await track('hello', { subscribed: type !== 'SEND_EMAIL' })
    if (type === 'SEND_EMAIL') await suppressAll(core, projectId, ['ada@example.net'])
    for (const [index, spec] of specs(templateId).entries()) await flow(`go ${index}`, spec)
    const seen = (await eventsAfter(0)).at(-1)?.seq ?? 0
    for (const index of specs(templateId).keys()) {
      await make(`go ${index}`, contact, 2)
      await runner.run()
      core.clock.now += 2_000
      await runner.run()
    }
    const made = (await eventsAfter(seen)).filter(({ name }) => !name.startsWith('go '))
    const depthOf = await readEventDepths(core.store.read, made)
    assert.deepEqual(
      made.filter((event) => depthOf(event) !== 3).map(({ name }) => name),
      [],
    )
    const names = new Set(made.map(({ name }) => name))
    const own = [...names].filter((name) => !name.startsWith('workflow.')).sort()
    assert.deepEqual(own, events)
    assert.equal(names.has('workflow.started'), specs(templateId).length > 0)
  })
}
