/** Commands of a test in one place, and what becomes of them. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { silentLog } from '../../src/base/log.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { copyDatabase } from '../database-template.ts'
import { type Outcome, runAt } from '../fakes/terminal.ts'

type Place = { cwd: string; env: NodeJS.ProcessEnv }

/** `first`: the words with which each command begins. */
export function commandsAt(place: Place, ...first: string[]) {
  const run = (...argv: string[]): Promise<Outcome> => runAt(place, ...first, ...argv)
  /** The output of a command that must succeed with an empty stderr. */
  const text = async (...argv: string[]): Promise<string> => {
    const { status, out, err } = await run(...argv)
    assert.deepEqual([status, err], [0, ''], argv.join(' '))
    return out
  }
  const json = async (...argv: string[]) => {
    const out = await text(...argv, '--json')
    assert.match(out, /^[[{].*\n$/)
    return JSON.parse(out)
  }
  /** The error of a command that must fail. */
  const failure = async (...argv: string[]) => {
    const { status, out, err } = await run(...argv, '--json')
    assert.equal(out, '')
    assert.notEqual(status, 0)
    return { status, ...JSON.parse(err).error }
  }
  /** Opens the database that the commands work on. */
  const withStore = async <T>(act: (store: Store) => Promise<T>): Promise<T> => {
    const file = path.join(place.cwd, 'data', 'pillarbox.db')
    const store = await openStore({ path: file, log: silentLog(), watch: false })
    try {
      return await act(store)
    } finally {
      await store.close()
    }
  }
  return { run, text, json, failure, withStore }
}

/** Puts a database without rows where the commands of `cwd` look for it: to migrate a new one takes longer. */
export async function placeDatabase(cwd: string): Promise<void> {
  const folder = path.join(cwd, 'data')
  mkdirSync(folder, { mode: 0o700 })
  await copyDatabase(path.join(folder, 'pillarbox.db'))
}
