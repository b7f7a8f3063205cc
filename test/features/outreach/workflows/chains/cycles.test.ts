/** `validate` names the workflows that start each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCycles } from '../../../../../src/features/outreach/workflows/chains/cycles.ts'
import { validateWorkflow } from '../../../../../src/features/outreach/workflows/definition/validate.ts'
import { createSegment } from '../../../../../src/features/people/segments/edit-segment.ts'
import { planIs } from '../../../people/segments/segment-contacts.ts'
import type { StepSpec } from '../engine/workflow-rows.ts'
import { EXIT, openChains, subscribing } from './chain-core.ts'

const setting = (updates: object): StepSpec => ({ type: 'UPDATE_CONTACT', config: { updates } })

async function open(t: Parameters<typeof openChains>[0]) {
  const chains = await openChains(t)
  const { core, projectId } = chains
  const cyclesOf = async ({ id }: { id: string }) => {
    const { findings } = await validateWorkflow(core, { projectId, id })
    return findings.filter(({ code }) => code.startsWith('feeds_'))
  }
  const codesOf = async (workflow: { id: string }) =>
    (await cyclesOf(workflow)).map(({ code, severity }) => `${severity} ${code}`)
  return { ...chains, cyclesOf, codesOf }
}

test('S34: validate names the workflows of a cycle in their order', async (t) => {
  const { flow, cyclesOf } = await open(t)
  const stop = await flow('contact.subscribed', subscribing('unsubscribe'), { name: 'Stop' })
  const go = await flow('contact.unsubscribed', subscribing('subscribe'), { name: 'Go' })
  const aside = await flow('contact.subscribed', EXIT, { name: 'Aside' })
  const [finding, ...others] = await cyclesOf(stop)
  assert.deepEqual(others, [])
  assert.deepEqual([finding?.code, finding?.severity], ['feeds_each_other', 'warning'])
  assert.equal(
    finding?.message,
    'Workflows may start each other: "Stop" leads to contact.unsubscribed, which starts "Go"; "Go" leads to contact.subscribed, which starts "Stop".',
  )
  assert.match((await cyclesOf(go))[0]?.message ?? '', /: "Go" leads .* starts "Stop"; "Stop" /)
  assert.deepEqual(await cyclesOf(aside), [])
})

test('S34: validate finds cycles by way of segments, also those of a single workflow', async (t) => {
  const { core, projectId, flow, codesOf, cyclesOf } = await open(t)
  await createSegment(core, {
    ...{ projectId, name: 'Pro', condition: planIs('pro'), hasMembershipEvents: true },
  })
  const alone = await flow('segment.pro.entry', setting({ plan: 'free' }), { name: 'Alone' })
  const apart = await flow('segment.pro.exit', setting({ seen: true }), { name: 'Apart' })
  assert.deepEqual(await codesOf(alone), ['warning feeds_itself'])
  assert.deepEqual(await codesOf(apart), [])
  await flow('workflow.completed', setting({ plan: 'pro' }), { name: 'All' })
  const messages = (await cyclesOf(apart)).map(({ message }) => message)
  assert.match(messages.join(), /"Apart" leads to workflow.completed, which starts "All"/)
})

test('S34: the shortest cycle is named, for each workflow that is started next', () => {
  const maker = (id: string, triggerEvent: string | null, ...makes: string[]) => ({
    ...{ id, name: id, triggerEvent, makes: new Set(makes) },
  })
  const makers = [
    maker('a', 'A', 'B', 'C'),
    maker('b', 'B', 'D'),
    maker('c', 'C', 'A'),
    maker('d', 'D', 'B', 'C'),
    maker('manual', null, 'A'),
    maker('sink', 'B'),
  ]
  const named = (id: string) =>
    findCycles(makers, id).map((cycle) => cycle.map(({ name }) => name).join(' '))
  assert.deepEqual(named('a'), ['a b d c', 'a c'])
  assert.deepEqual(named('d'), ['d b', 'd c a b'])
  assert.deepEqual(named('manual'), [])
  assert.deepEqual(named('sink'), [])
  assert.deepEqual(named('unknown'), [])
  const many = Array.from({ length: 50 }, (_, index) => maker(`m${index}`, 'X', 'X'))
  assert.equal(findCycles(many, 'm0').length, 10)
})
