import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import {
  indexBatch,
  startSearchIndexer,
} from '../../../../src/features/contacts/list/search-index.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { addProject, openWorld, type World } from '../../world.ts'
import { addPeople, countBacklog } from '../people.ts'

/** The numbers that the index names, none looked at again. */
async function named({ store }: World, trigram: string): Promise<number[]> {
  const rows = await store.read.values<[number]>(
    sql`select rowid from contact_search where contact_search match ${`"${trigram}"`} order by 1`,
  )
  return rows.map(([number]) => number)
}

/** Runs the filler until it has nothing to do. */
async function fill(world: World): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const filler = startSearchIndexer(world, { onIdle: resolve })
  await promise
  await filler.stop()
}

test('what came, moved and went is what the index knows, once it has caught up', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const people = Array.from({ length: 450 }, (_, at) => ({ email: `user${at}@old.test` }))
  const ids = await addPeople(world, projectId, people)
  assert.equal(await countBacklog(world), 450)
  assert.deepEqual(await named(world, 'old'), [])
  await fill(world)
  assert.equal(await countBacklog(world), 0)
  assert.equal((await named(world, 'old')).length, 450)

  await world.store.write(async (tx) => {
    await tx.update(contacts).set({ email: 'user0@new.test' }).where(sql`id = ${ids[0]}`)
    await tx.delete(contacts).where(sql`id = ${ids[1]}`)
    await tx.update(contacts).set({ subscribed: false }).where(sql`id = ${ids[2]}`)
  })
  assert.equal(await countBacklog(world), 2)
  await fill(world)
  assert.equal(await countBacklog(world), 0)
  assert.deepEqual(
    [(await named(world, 'old')).length, (await named(world, 'new')).length],
    [448, 1],
  )
})

test('a batch takes at most 200 off the backlog, and is whole or not there', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const people = Array.from({ length: 201 }, (_, at) => ({ email: `user${at}@a.test` }))
  await addPeople(world, projectId, people)
  assert.equal(await indexBatch(world), true)
  assert.deepEqual([await countBacklog(world), (await named(world, 'use')).length], [1, 200])

  // As a crash or a full disk: the transaction does not come to its end.
  const failing = {
    store: {
      ...world.store,
      write: <T>(fn: Parameters<typeof world.store.write<T>>[0]) =>
        world.store.write<T>(async (tx) => {
          await fn(tx)
          throw new Error('cut off')
        }),
    },
  }
  await assert.rejects(indexBatch(failing), /cut off/)
  assert.deepEqual([await countBacklog(world), (await named(world, 'use')).length], [1, 200])
  assert.equal(await indexBatch(world), true)
  assert.equal(await indexBatch(world), false)
  assert.deepEqual([await countBacklog(world), (await named(world, 'use')).length], [0, 201])
})

test('the filler goes on after a failure, which only the log hears of', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  await addPeople(world, projectId, [{ email: 'ada@a.test' }])
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  let failures = 1
  const store: World['store'] = {
    ...world.store,
    write: (fn) => {
      failures -= 1
      return failures < 0 ? world.store.write(fn) : Promise.reject(new Error('the disk is full'))
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
  assert.equal(await countBacklog(world), 0)
  assert.deepEqual((await named(world, 'ada')).length, 1)
})

test('stopping ends the filler in the middle of its work, and leaves the rest owed', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const people = Array.from({ length: 500 }, (_, at) => ({ email: `user${at}@a.test` }))
  await addPeople(world, projectId, people)
  const filler = startSearchIndexer(world)
  await filler.stop()
  assert.equal(await countBacklog(world), 300)
  assert.equal((await named(world, 'use')).length, 200)
})
