import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { childProgram } from '../../child-program.ts'
import { copyDatabase } from '../../database-template.ts'
import { eventually } from '../program.ts'

/** It writes one for each acceptance, or commit. */
const FEWEST_LINES = 12
/** Longer than the followers linger: it dies at any moment between two counts. */
const LONGEST_MS = 600

type Child = {
  /** A file of this folder. */
  program: string
  argument: string
  database: string
  /** The name of the follower that counts in it. */
  follower: string
}

const KILLS = 2

/** Runs a program that takes the path of a new database, until it was killed `KILLS` times. Resolves to the path. */
export async function killInNewDatabase(
  t: Pick<TestContext, 'after'>,
  own: Pick<Child, 'program' | 'follower'>,
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const database = path.join(folder, 'a.db')
  await copyDatabase(database)
  for (let round = 0; round < KILLS; round += 1)
    await runUntilKilled({ ...own, argument: database, database })
  return database
}

/** Runs a program until its follower has counted some of its events, and for a random time; then it is killed. */
export async function runUntilKilled({ program, argument, ...counted }: Child): Promise<void> {
  const before = lastCounted(counted)
  const args = [childProgram(`test/e2e/crash/${program}`), argument]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let lines = 0
  createInterface({ input: child.stdout }).on('line', () => (lines += 1))
  const hasCounted = () => lines >= FEWEST_LINES && lastCounted(counted) > before
  const isCounted = () => child.exitCode !== null || hasCounted()
  await eventually(() => isCounted() || undefined)
  assert.equal(child.exitCode, null)
  await sleep(Math.random() * LONGEST_MS)
  child.kill('SIGKILL')
  await exited
}

function lastCounted({ database: file, follower }: Pick<Child, 'database' | 'follower'>): number {
  const database = new Database(file, { readonly: true, timeout: 10_000 })
  const row = database.prepare('SELECT seq FROM event_followers WHERE name = ?').get(follower)
  database.close()
  return Number(Object(row).seq ?? 0)
}
