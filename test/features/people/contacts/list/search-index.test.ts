import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import {
  indexBatch,
  startSearchIndexer,
} from '../../../../../src/features/people/contacts/list/search-index.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { addProject, openTestCore, type TestCore } from '../../../../core.ts'
import { addContacts, countBacklog } from '../add-contacts.ts'

/** The numbers that the index names, none looked at again. */
async function named({ store }: TestCore, trigram: string): Promise<number[]> {
  const rows = await store.read.values<[number]>(
    sql`select rowid from contact_search where contact_search match ${`"${trigram}"`} order by 1`,
  )
  return rows.map(([number]) => number)
}

/** Runs the filler until it has nothing to do. */
async function fill(core: TestCore): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const filler = startSearchIndexer(core, { onIdle: resolve })
  await promise
  await filler.stop()
}

test('the index follows created, changed and deleted contacts', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const people = Array.from({ length: 450 }, (_, at) => ({ email: `user${at}@old.test` }))
  const ids = await addContacts(core, projectId, people)
  assert.equal(await countBacklog(core), 450)
  assert.deepEqual(await named(core, 'old'), [])
  await fill(core)
  assert.equal(await countBacklog(core), 0)
  assert.equal((await named(core, 'old')).length, 450)

  await core.store.write(async (tx) => {
    await tx.update(contacts).set({ address: 'user0@new.test' }).where(sql`id = ${ids[0]}`)
    await tx.delete(contacts).where(sql`id = ${ids[1]}`)
    await tx.update(contacts).set({ subscribed: false }).where(sql`id = ${ids[2]}`)
  })
  assert.equal(await countBacklog(core), 2)
  await fill(core)
  assert.equal(await countBacklog(core), 0)
  assert.deepEqual([(await named(core, 'old')).length, (await named(core, 'new')).length], [448, 1])
})

test('a batch indexes at most 200 contacts of the backlog, all or none', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const people = Array.from({ length: 201 }, (_, at) => ({ email: `user${at}@a.test` }))
  await addContacts(core, projectId, people)
  assert.equal(await indexBatch(core), true)
  assert.deepEqual([await countBacklog(core), (await named(core, 'use')).length], [1, 200])

  // As a crash or a full disk: the transaction does not come to its end.
  const failing = {
    store: {
      ...core.store,
      write: <T>(fn: Parameters<typeof core.store.write<T>>[0]) =>
        core.store.write<T>(async (tx) => {
          await fn(tx)
          throw new Error('cut off')
        }),
    },
  }
  await assert.rejects(indexBatch(failing), /cut off/)
  assert.deepEqual([await countBacklog(core), (await named(core, 'use')).length], [1, 200])
  assert.equal(await indexBatch(core), true)
  assert.equal(await indexBatch(core), false)
  assert.deepEqual([await countBacklog(core), (await named(core, 'use')).length], [0, 201])
})

test('the indexer logs a failure and continues', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await addContacts(core, projectId, [{ email: 'ada@a.test' }])
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  let failures = 1
  const store: TestCore['store'] = {
    ...core.store,
    write: (fn) => {
      failures -= 1
      return failures < 0 ? core.store.write(fn) : Promise.reject(new Error('the disk is full'))
    },
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  let idle = 0
  const onIdle = () => {
    idle += 1
    if (idle === 2) resolve()
  }
  const filler = startSearchIndexer({ store, log }, { idleMs: 1, onIdle })
  await promise
  await filler.stop()
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /the disk is full/)
  assert.equal(await countBacklog(core), 0)
  assert.deepEqual((await named(core, 'ada')).length, 1)
})

test('a stopped indexer leaves the rest in the backlog', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const people = Array.from({ length: 500 }, (_, at) => ({ email: `user${at}@a.test` }))
  await addContacts(core, projectId, people)
  const filler = startSearchIndexer(core)
  await filler.stop()
  assert.equal(await countBacklog(core), 300)
  assert.equal((await named(core, 'use')).length, 200)
})
