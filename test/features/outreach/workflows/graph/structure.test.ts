import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import type { AppError } from '../../../../../src/base/errors.ts'
import {
  type Edge,
  freeSlot,
  type GraphStep,
  hasLoop,
  reachableFrom,
  requireFittingEdges,
  requireNewEdge,
  requireStructure,
} from '../../../../../src/features/outreach/workflows/graph/structure.ts'
import { withinCpuMs } from '../../../../cpu-time.ts'

const step = (id: string, type: GraphStep['type'] = 'DELAY', config: object = {}): GraphStep => ({
  id,
  type,
  config,
})

const edge = (
  path: string,
  { branch, outcome }: { branch?: string; outcome?: string } = {},
): Edge => {
  const [fromStepId = '', toStepId = ''] = path.split('>')
  const condition = branch === undefined ? null : { branch }
  return { fromStepId, toStepId, condition, waitOutcome: (outcome ?? null) as Edge['waitOutcome'] }
}

const multi = { mode: 'multi', field: 'data.a', branches: [{ id: 'one' }, { id: 'two' }] }
const STEPS = [
  step('t', 'TRIGGER'),
  step('d'),
  step('c', 'CONDITION', { field: 'data.a', operator: 'exists' }),
  step('m', 'CONDITION', multi),
  step('w', 'WAIT_FOR_EVENT', { eventName: 'a' }),
  step('o', 'WAIT_FOR_EVENT', { eventName: 'a', timeout: 5 }),
  step('a', 'SEND_EMAIL'),
  step('b', 'UPDATE_CONTACT'),
  step('x', 'EXIT'),
]
const byId = new Map(STEPS.map((one) => [one.id, one]))

const refuses = (run: () => void, text: RegExp) =>
  assert.throws(run, (error: AppError) => error.code === 'BAD_REQUEST' && text.test(error.message))

const wrong: [title: string, edges: Edge[], text: RegExp][] = [
  ['leads to itself', [edge('d>d')], /itself/],
  ['leaves an EXIT', [edge('x>d')], /EXIT/],
  ['leads to the TRIGGER', [edge('d>t')], /TRIGGER/],
  ['is the second of an ordinary step', [edge('t>a'), edge('t>b')], /already/],
  ['lacks the branch of a CONDITION', [edge('c>a')], /"yes", "no"/],
  ['has an unknown branch', [edge('c>a', { branch: 'maybe' })], /no branch "maybe"/],
  [
    'has the default branch of a binary condition',
    [edge('c>a', { branch: 'default' })],
    /no branch/,
  ],
  ['has the branch yes of a multi condition', [edge('m>a', { branch: 'yes' })], /"one", "two"/],
  ['repeats a branch', [edge('c>a', { branch: 'yes' }), edge('c>b', { branch: 'yes' })], /already/],
  ['has a branch, but leaves no CONDITION', [edge('d>a', { branch: 'yes' })], /Only a CONDITION/],
  ['has an outcome, but leaves no wait', [edge('d>a', { outcome: 'EVENT' })], /Only a WAIT/],
  [
    'has the outcome TIMEOUT without a timeout',
    [edge('w>a', { outcome: 'TIMEOUT' })],
    /no timeout/,
  ],
  [
    'repeats an outcome',
    [edge('o>a', { outcome: 'EVENT' }), edge('o>b', { outcome: 'EVENT' })],
    /already/,
  ],
  [
    'shares a wait with one that serves both',
    [edge('o>a'), edge('o>b', { outcome: 'EVENT' })],
    /serves both/,
  ],
  ['closes a loop', [edge('t>a'), edge('a>b'), edge('b>d'), edge('d>a')], /loop/],
]

describe('a transition is refused that', () => {
  for (const [title, edges, text] of wrong) {
    it(title, () => {
      refuses(() => requireStructure(STEPS, edges), text)
      const last = edges.at(-1) as Edge
      refuses(() => requireNewEdge(byId, edges.slice(0, -1), last), text)
    })
  }
})

test('every place of a step takes one transition', () => {
  const edges = [
    edge('t>c'),
    edge('c>m', { branch: 'yes' }),
    edge('c>x', { branch: 'no' }),
    edge('m>o', { branch: 'one' }),
    edge('m>w', { branch: 'two' }),
    edge('m>x', { branch: 'default' }),
    edge('o>a', { outcome: 'EVENT' }),
    edge('o>b', { outcome: 'TIMEOUT' }),
    edge('w>d'),
    edge('a>d'),
    edge('b>d'),
    edge('d>x'),
  ]
  requireStructure(STEPS, edges)
  for (const [index, each] of edges.entries()) requireNewEdge(byId, edges.toSpliced(index, 1), each)
  for (const each of STEPS) assert.equal(freeSlot(each, edges), undefined, each.id)
})

test('a graph has exactly one TRIGGER', () => {
  refuses(() => requireStructure([], []), /exactly one/)
  refuses(() => requireStructure([...STEPS, step('u', 'TRIGGER')], []), /exactly one/)
})

test('free places are given in order', () => {
  const slot = (id: string, edges: Edge[] = []) => freeSlot(byId.get(id) as GraphStep, edges)
  assert.deepEqual(slot('c')?.condition, { branch: 'yes' })
  assert.deepEqual(slot('c', [edge('c>a', { branch: 'yes' })])?.condition, { branch: 'no' })
  assert.deepEqual(slot('m')?.condition, { branch: 'one' })
  assert.equal(slot('o')?.waitOutcome, 'EVENT')
  assert.equal(slot('o', [edge('o>a', { outcome: 'EVENT' })])?.waitOutcome, 'TIMEOUT')
  assert.equal(slot('o', [edge('o>a')]), undefined)
  assert.equal(slot('x'), undefined)
})

test('a config must fit the transitions that leave its step', () => {
  const taken = [edge('m>a', { branch: 'two' })]
  const without = { ...multi, branches: [{ id: 'one' }] }
  refuses(() => requireFittingEdges(step('m', 'CONDITION', without), taken), /no branch "two"/)
  requireFittingEdges(step('m', 'CONDITION', multi), taken)
  const timeout = [edge('o>a', { outcome: 'TIMEOUT' })]
  refuses(() => requireFittingEdges(step('o', 'WAIT_FOR_EVENT', {}), timeout), /no timeout/)
})

/** Up to 12 steps with any transitions between them. */
const anyGraph = fc.integer({ min: 1, max: 12 }).chain((size) =>
  fc.record({
    steps: fc.constant(Array.from({ length: size }, (_, index) => step(String(index)))),
    edges: fc.array(
      fc.tuple(fc.nat(size - 1), fc.nat(size - 1)).map(([from, to]) => edge(`${from}>${to}`)),
      { maxLength: 30 },
    ),
  }),
)

test('a graph has a loop exactly if a step can be reached from one that follows it', () => {
  fc.assert(
    fc.property(anyGraph, ({ steps, edges }) => {
      const returns = edges.some(({ fromStepId, toStepId }) =>
        reachableFrom([toStepId], edges).has(fromStepId),
      )
      assert.equal(hasLoop(steps, edges), returns)
    }),
  )
})

test('transitions in one direction never form a loop, and one back always does', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(50), fc.nat(50)), { maxLength: 100 }), (pairs) => {
      const steps = Array.from({ length: 51 }, (_, index) => step(String(index)))
      const forward = pairs
        .filter(([from, to]) => from !== to)
        .map(([from, to]) => edge(`${Math.min(from, to)}>${Math.max(from, to)}`))
      assert.equal(hasLoop(steps, forward), false)
      const [first] = forward
      if (first === undefined) return
      const back = edge(`${first.toStepId}>${first.fromStepId}`)
      assert.equal(hasLoop(steps, [...forward, back]), true)
    }),
  )
})

test('the check of 1,000 steps in a row with 3,000 transitions takes milliseconds', () => {
  const steps = Array.from({ length: 1_000 }, (_, index) => step(String(index)))
  const edges = Array.from({ length: 3_000 }, (_, index) => {
    const from = index % 999
    return edge(`${from}>${from + 1 + (index % (999 - from))}`)
  })
  assert.equal(
    withinCpuMs(500, () => hasLoop(steps, edges)),
    false,
  )
})
