import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../../src/store/drizzle.ts'
import { childProgram } from '../../child-program.ts'
import { followSeen, openFollowed } from './follower-child.ts'

const KILLS = 3
const program = childProgram('test/e2e/crash/follower-child.ts')

type Seen = { seq: number; name: string }

test('a follower that is killed repeatedly misses no event and receives none twice', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  const running = new Set<ChildProcess>()
  t.after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const file = path.join(folder, 'a.db')
  const received: string[] = []
  for (let round = 0; round < KILLS; round += 1) await runUntilKilled(file, { running, received })

  const store = await openFollowed(file)
  const unseenBefore = await store.read.get<{ n: number }>(
    sql`select (select count(*) from events) - (select count(*) from seen) as n`,
  )
  const follower = followSeen(store)
  await follower.caughtUp()
  await follower.stop()
  const appended = await store.read.all<Seen>(sql`select seq, name from events order by seq`)
  const seen = await store.read.all<Seen>(sql`select seq, name from seen order by place`)
  await store.close()

  t.diagnostic(`${appended.length} events, ${unseenBefore?.n} unseen at the last kill`)
  assert.deepEqual(seen, appended)
  const names = new Set(appended.map(({ name }) => name))
  assert.deepEqual(
    received.filter((name) => !names.has(name)),
    [],
  )
})

/** Kills it at random, some time after it has heard of commits. */
async function runUntilKilled(
  file: string,
  { running, received }: { running: Set<ChildProcess>; received: string[] },
): Promise<void> {
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  const begun = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    received.push(line)
    begun.resolve()
  })
  const exited = once(child, 'exit')
  await Promise.race([begun.promise, exited])
  assert.equal(child.exitCode, null)
  await sleep(Math.random() * 200)
  child.kill('SIGKILL')
  await exited
  running.delete(child)
}
