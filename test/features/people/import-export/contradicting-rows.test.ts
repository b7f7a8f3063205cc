/** Rows of one address that contradict each other: who left in one of them is not subscribed by another. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import type { ImportPayload } from '../../../../src/features/people/import-export/import-file.ts'
import {
  findLastUnsubscriptions,
  type LastUnsubscriptions,
} from '../../../../src/features/people/import-export/last-unsubscriptions.ts'
import { readRows } from '../../../../src/features/people/import-export/read-rows.ts'
import { wishes } from '../../../../src/store/schema/wishes.ts'
import {
  claim,
  countTurns,
  type Given,
  listContacts,
  subscriptionChanges,
  uploadFile,
  useImports,
} from './run-import.ts'

const FORCED = { resubscribe: true, subscribesKnown: true }

async function setUp(t: TestContext) {
  const imports = await useImports(t)
  return {
    ...imports,
    run: async (file: string, given: Partial<Given> = {}) => {
      const result = await imports.runTwice(file, given)
      const { subscribedCount, unsubscribedCount, keptUnsubscribedCount, warnings } = result
      return { counts: [subscribedCount, unsubscribedCount, keptUnsubscribedCount], warnings }
    },
  }
}

const TWICE = [
  'email,status',
  'after@dest.test,blocklisted',
  'after@dest.test,enabled',
  'Before@dest.test,enabled',
  'before@DEST.test,blocklisted',
  'empty@dest.test,blocklisted',
  'empty@dest.test,',
  'on@dest.test,enabled',
].join('\n')
const ADDRESSES = ['after@dest.test', 'before@dest.test', 'empty@dest.test', 'on@dest.test']

test('who left in one row is not subscribed by another, in either order, also as a known contact', async (t) => {
  for (const state of ['new', 'no', 'yes']) {
    const { core, run, subscribed } = await setUp(t)
    const known = ADDRESSES.map((address) => `${address},${state}\n`).join('')
    if (state !== 'new') await run(`email,subscribed\n${known}`)
    const { counts, warnings } = await run(TWICE, FORCED)
    assert.deepEqual(await subscribed(), ['on@dest.test'], state)
    const becameSubscribed = state === 'yes' ? 0 : 1
    assert.deepEqual(counts.slice(0, 2), [becameSubscribed, state === 'no' ? 0 : 3], state)
    assert.equal(warnings.length, 1, 'no way to subscribe is offered')
    assert.equal(await core.store.read.$count(wishes), 3)
    const changes = await subscriptionChanges(core)
    const names = changes.map(([name]) => name)
    const left = Array.from({ length: 3 }, () => 'contact.unsubscribed')
    assert.deepEqual(names, { new: [], no: ['contact.subscribed'], yes: left }[state])
  }
})

test('a contact that is in two rows counts once', async (t) => {
  const { run, subscribed } = await setUp(t)
  const { counts } = await run(TWICE)
  assert.deepEqual(counts, [1, 3, 2])
  assert.deepEqual(await subscribed(), ['on@dest.test'])
})

test('a row that is refused tells that the person left', async (t) => {
  const { run, subscribed } = await setUp(t)
  const file = `email,status,x\na@dest.test,enabled,\na@dest.test,blocklisted,${'x'.repeat(70_000)}\n`
  await run(file, FORCED)
  assert.deepEqual(await subscribed(), [])
})

test('resubscribe alone offers no way to subscribe who left in another row', async (t) => {
  const { run } = await setUp(t)
  await run('email,subscribed\na@dest.test,no\n')
  const file = 'email,unsubscribed_at\na@dest.test,\na@dest.test,2024-01-01\na@dest.test,\n'
  const { warnings } = await run(file, { resubscribe: true })
  assert.deepEqual(warnings, [
    'The column "unsubscribed_at" is filled in 1 row: read as unsubscribed.',
  ])
})

test('nobody is said to stay subscribed whom another row unsubscribes', async (t) => {
  const { run } = await setUp(t)
  await run('email\na@dest.test\n')
  const file = 'email,unsubscribed\na@dest.test,\na@dest.test,yes\n'
  const { warnings, counts } = await run(file, { subscribed: false })
  assert.deepEqual(counts, [0, 1, 0])
  assert.equal(warnings.length, 1)
})

test('of the words of a column subscribed the last one counts, and no default overrides it', async (t) => {
  const { run, subscribed } = await setUp(t)
  const rows = [
    ...['off@dest.test,', 'off@dest.test,yes', 'off@dest.test,no', 'off@dest.test,'],
    ...['back@dest.test,no', 'back@dest.test,yes', 'back@dest.test,'],
  ]
  const { counts } = await run(`email,subscribed\n${rows.join('\n')}\n`, FORCED)
  assert.deepEqual(await subscribed(), ['back@dest.test'])
  // `back` became both.
  assert.deepEqual(counts.slice(0, 2), [1, 2])
})

test('a later yes subscribes who was unsubscribed without a wish, and who left only with resubscribe', async (t) => {
  const rows = [
    ...['decided@dest.test,no,', 'decided@dest.test,yes,'],
    ...['left@dest.test,,2024-01-01', 'left@dest.test,yes,'],
    ...['both@dest.test,,2024-01-01', 'both@dest.test,no,', 'both@dest.test,yes,'],
    ...['before@dest.test,yes,', 'before@dest.test,,2024-01-01'],
  ]
  const file = `email,subscribed,unsubscribed_at\n${rows.join('\n')}\n`
  const who = async (given: Partial<Given>) => {
    const { core, run, subscribed } = await setUp(t)
    await run(file, given)
    return [await subscribed(), await core.store.read.$count(wishes)]
  }
  assert.deepEqual(await who({}), [['decided@dest.test'], 3])
  const back = ['decided@dest.test', 'left@dest.test', 'both@dest.test']
  assert.deepEqual(await who({ resubscribe: true }), [back, 1])
})

/** More than a batch and a chunk between the rows of the people who left. */
const FILLER = Array.from({ length: 5_000 }, (_, at) => `filler${at}@dest.test,enabled`)
const FAR = [
  'email,status',
  'after@dest.test,blocklisted',
  'before@dest.test,enabled',
  ...FILLER,
  'after@dest.test,enabled',
  'before@dest.test,blocklisted',
].join('\n')

test('rows that are far apart count as those beside each other', async (t) => {
  const { run, subscribed } = await setUp(t)
  const { counts } = await run(FAR, FORCED)
  assert.deepEqual(counts.slice(0, 2), [FILLER.length, 2])
  assert.equal((await subscribed()).length, FILLER.length)
})

test('an import that resumes after a crash knows the rows before and after it', async (t) => {
  const { core, projectId, subscribed } = await setUp(t)
  await uploadFile(core, FAR, { projectId, ...FORCED })
  // By this clock each batch is as short as it can be.
  let ms = 0
  const { mock: clock } = t.mock.method(performance, 'now', () => (ms += 10))
  let writes = 0
  const write: typeof core.store.write = (work, options) => {
    writes += 1
    if (writes === 3) throw new Error('dead')
    return core.store.write(work, options)
  }
  const mortal = { ...core, store: { ...core.store, write } }
  await assert.rejects(importContacts(mortal, await claim(core)), /dead/)
  assert.equal((await listContacts(core, projectId)).length, 40, 'two batches of twenty rows')
  clock.restore()
  core.clock.now += 61_000
  const { subscribedCount, unsubscribedCount } = await importContacts(core, await claim(core))
  assert.deepEqual([subscribedCount, unsubscribedCount], [FILLER.length, 2])
  assert.equal((await subscribed()).length, FILLER.length)
})

test('other work runs while the rows of people who left are looked for', async (t) => {
  const { core, projectId } = await setUp(t)
  const ROWS = 20_000
  await uploadFile(core, `email,bounced\n${'a@b.test,1\n'.repeat(ROWS)}`, { projectId })
  const { payload, signal } = await claim(core)
  const options = payload as ImportPayload
  const readTurns = await countTurns(() => Array.fromAsync(readRows(core, options)))
  let last: LastUnsubscriptions = new Map()
  const turns = await countTurns(async () => {
    last = await findLastUnsubscriptions(core, { payload: options, signal })
  })
  assert.deepEqual([...last], [['a@b.test', ROWS + 1]])
  assert.ok(turns - readTurns >= ROWS / 2_000, `${turns} turns, ${readTurns} to read`)
})
