import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../../../src/features/tenancy/accounts/callers/caller.ts'
import { createLastUsed } from '../../../../../src/features/tenancy/accounts/callers/last-used.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import type { Store } from '../../../../../src/store/store.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { addProject, openTestCore, START } from '../../../../core.ts'
import { countStatements } from '../../../../counted-statements.ts'

test('the uses of many keys are written by one statement for each kind', async (t) => {
  const core = await openTestCore(t)
  const counted = countStatements(core.store)
  const lastUsed = createLastUsed({ ...core, store: { ...core.store, ...counted } })
  const owned = [await addProject(core), await addProject(core), await addProject(core)]
  for (const [index, { id }] of owned.entries()) {
    core.clock.now = START + index
    for (const key of ['secret', 'public'] as const) {
      if (index > 0 || key === 'secret') lastUsed.note(callerOf(id, key))
    }
  }
  await lastUsed.stop()
  assert.equal(counted.take().length, 2)
  const rows = await core.store.read.select().from(projects)
  const usesOf = (id: string) => {
    const row = rows.find((each) => each.id === id)
    return [row?.secretLastUsedAt, row?.publicLastUsedAt]
  }
  assert.deepEqual(
    owned.map(({ id }) => usesOf(id)),
    [
      [START, null],
      [START + 1, START + 1],
      [START + 2, START + 2],
    ],
  )
})

test('a write has at most 250 notes, and all are written', async (t) => {
  const core = await openTestCore(t)
  const counts: number[] = []
  const write: Store['write'] = (fn) =>
    core.store.write((tx) => {
      const execute: Tx['execute'] = (statement, values) => {
        counts.push(JSON.parse(String(values?.uses)).length)
        return tx.execute(statement, values)
      }
      return fn(Object.create(tx, { execute: { value: execute } }))
    })
  const lastUsed = createLastUsed({ ...core, store: { ...core.store, write } })
  const { id } = await addProject(core)
  for (let index = 0; index < 600; index += 1) lastUsed.note(callerOf(`none ${index}`, 'secret'))
  lastUsed.note(callerOf(id, 'secret'))
  await lastUsed.stop()
  assert.deepEqual(counts, [250, 250, 101])
  const [row] = await core.store.read.select().from(projects)
  assert.equal(row?.secretLastUsedAt, START)
})

function callerOf(id: string, key: 'secret' | 'public'): Caller {
  return { kind: 'key', key, project: { id } } as Caller
}
