import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import type { Store } from '../../../../src/store/store.ts'
import { loadProgress } from '../../../../src/work/jobs/progress.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { subscriptionEvents } from '../contacts/add-recipient.ts'
import { claim, countChunks, importFile, listContacts, uploadFile } from './run-import.ts'

const ROWS = 900
const LEASE_MS = 61_000
/** All known, every second one flips, every tenth is wrong. */
const people = Array.from({ length: ROWS }, (_, at) => `p${at}@dest.test`)
const first = `email\n${people.join('\n')}\n`
const lines = people.map((email, at) => `${at % 10 === 9 ? 'nobody' : email},${at % 2},${at}`)
const second = `email,subscribed,number\n${lines.join('\n')}\n`

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await importFile(core, first, { projectId })
  await uploadFile(core, second, { projectId })
  return { core, projectId }
}

async function assertDoneOnce(core: TestCore, projectId: string, result: object): Promise<void> {
  const { errors, ...counts } = result as { errors: { row: number }[] }
  assert.deepEqual(counts, {
    totalRows: ROWS,
    successCount: ROWS * 0.9,
    createdCount: 0,
    updatedCount: ROWS * 0.9,
    keptUnsubscribedCount: 0,
    failureCount: ROWS / 10,
    warnings: [],
    columns: [{ field: 'data.number', type: 'number', reason: null }],
    damage: { guessedRows: 0, replacedCharacters: 0, droppedCells: 0, cutFields: 0 },
    unknownFields: [],
    subscribedCount: 0,
    unsubscribedCount: ROWS / 2,
    subscriptionWords: [
      { column: 'subscribed', word: '0', rows: ROWS / 2, readAs: 'unsubscribed' },
      { column: 'subscribed', word: '1', rows: ROWS / 2, readAs: 'subscribed' },
    ],
  })
  assert.deepEqual(
    errors.map(({ row }) => row),
    Array.from({ length: ROWS / 10 }, (_, at) => 10 * at + 11),
  )
  const rows = await listContacts(core, projectId)
  assert.equal(rows.length, ROWS)
  for (const [at, { subscribed, data }] of rows.entries()) {
    assert.deepEqual(
      [subscribed, data],
      at % 10 === 9 ? [true, null] : [at % 2 === 1, { number: at }],
    )
  }
  // 450 even numbers, none of them ends with a nine.
  assert.equal((await subscriptionEvents(core)).length, ROWS / 2)
  assert.equal(await countChunks(core), 0)
}

type Death = 'before' | 'after'

/** A store whose process dies with the `fatal`th write: before it is durable, or right after. */
function endingAt(store: Store, fatal: number, death: Death): Store {
  let writes = 0
  return {
    ...store,
    write: async (fn) => {
      writes += 1
      const isLast = writes >= fatal
      if (isLast && (death === 'before' || writes > fatal)) throw new Error('dead')
      const value = await store.write(fn)
      if (isLast) throw new Error('dead')
      return value
    },
  }
}

for (const death of ['before', 'after'] as const) {
  test(`no row is imported or counted twice if the process ends right ${death} a commit`, async (t) => {
    const { core, projectId } = await setUp(t)
    const seen = new Set<number>()
    // By this clock each batch is as short as it can be.
    let ms = 0
    const { mock: clock } = t.mock.method(performance, 'now', () => (ms += 10))
    // Each run gets one batch further and dies; the file has more than five of them.
    for (let round = 0; round < 4; round += 1) {
      const job = await claim(core)
      const mortal = { ...core, store: endingAt(core.store, death === 'before' ? 2 : 1, death) }
      await assert.rejects(importContacts(mortal, job), /dead/)
      const state = await loadProgress<{ rows: number }>(core.store.read, job.id)
      seen.add(state?.rows ?? 0)
      core.clock.now += LEASE_MS
    }
    assert.equal(seen.size, 4, `it came further each time: ${[...seen]}`)
    clock.restore()
    const job = await claim(core)
    const result = await importContacts(core, job)
    await assertDoneOnce(core, projectId, result)
  })
}

test('a run that finished without reporting finishes again with the same result', async (t) => {
  const { core, projectId } = await setUp(t)
  const before = await importContacts(core, await claim(core))
  core.clock.now += LEASE_MS
  const after = await importContacts(core, await claim(core))
  assert.deepEqual(after, before)
  await assertDoneOnce(core, projectId, after)
})

test('a run that lost its job to another run does nothing more', async (t) => {
  const { core, projectId } = await setUp(t)
  const slow = await claim(core)
  let result: object = {}
  let writes = 0
  const store: Store = {
    ...core.store,
    write: async (fn) => {
      writes += 1
      if (writes === 2) {
        core.clock.now += LEASE_MS
        result = await importContacts(core, await claim(core))
      }
      return core.store.write(fn)
    },
  }
  await assert.rejects(importContacts({ ...core, store }, slow), /lease/)
  await assertDoneOnce(core, projectId, result)
})

test('an aborted run stops between batches, and the next run finishes the import', async (t) => {
  const { core, projectId } = await setUp(t)
  const job = await claim(core)
  const store: Store = {
    ...core.store,
    write: async (fn) => {
      const value = await core.store.write(fn)
      job.abort.abort(new Error('The program is stopping.'))
      return value
    },
  }
  await assert.rejects(importContacts({ ...core, store }, job), /stopping/)
  const state = await loadProgress<{ rows: number }>(core.store.read, job.id)
  assert.ok(state && state.rows > 0 && state.rows < ROWS)
  core.clock.now += LEASE_MS
  await assertDoneOnce(core, projectId, await importContacts(core, await claim(core)))
})
