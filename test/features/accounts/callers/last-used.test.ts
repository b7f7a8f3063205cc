import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../../src/features/accounts/callers/caller.ts'
import { createLastUsed } from '../../../../src/features/accounts/callers/last-used.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { addProject, openTestCore, START } from '../../../core.ts'
import { countStatements } from '../../../counted-statements.ts'

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

function callerOf(id: string, key: 'secret' | 'public'): Caller {
  return { kind: 'key', key, project: { id } } as Caller
}
