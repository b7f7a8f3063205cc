import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import { openStore } from '../../../src/store/store.ts'
import { childProgram } from '../../child-program.ts'
import { type DatabaseFolder, makeDatabaseFolder, notes } from '../test-store.ts'

const rounds = 5
const child = childProgram('test/store/write/writing-child.ts')

/** Lets a process write, kills it at a random moment; the ids whose writes had resolved. */
async function writeUntilKilled(location: DatabaseFolder): Promise<string[]> {
  const argv = [child, location.path, location.migrationsDir]
  const writing = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(writing, 'close')
  const chunks: Buffer[] = []
  writing.stdout.on('data', (chunk) => chunks.push(chunk))
  await Promise.race([once(writing.stdout, 'data'), closed])
  await delay(Math.random() * 200)
  writing.kill('SIGKILL')
  assert.deepEqual(await closed, [null, 'SIGKILL'])
  const lines = Buffer.concat(chunks).toString().split('\n')
  // The last one is cut short, or empty.
  return lines.slice(0, -1)
}

test('F1: kill -9 loses no resolved write and leaves no partial one', async (t) => {
  const location = await makeDatabaseFolder(t)
  const resolved: string[] = []
  for (let round = 0; round < rounds; round += 1)
    resolved.push(...(await writeUntilKilled(location)))
  const store = await openStore({ ...location, log: silentLog() })
  t.after(() => store.close())
  const rows = await store.read.select({ id: notes.id }).from(notes)
  const found = new Set(rows.map(({ id }) => id))
  assert.ok(resolved.length >= rounds)
  for (const id of resolved) {
    for (const part of ['a', 'b', 'c']) assert.ok(found.has(`${id}-${part}`), `${id} is missing`)
  }
  assert.equal(found.size % 3, 0)
  t.diagnostic(`${rounds} kills, ${resolved.length} writes resolved, ${found.size / 3} found`)
})
