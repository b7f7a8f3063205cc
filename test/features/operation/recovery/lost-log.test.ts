import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import type { CheckContext } from '../../../../src/features/operation/doctor/check.ts'
import { walCheck } from '../../../../src/features/operation/doctor/machine.ts'
import {
  noticeLostLog,
  refuseOlderDatabase,
  startGenerationWatch,
} from '../../../../src/features/operation/recovery/notice-older.ts'
import { releaseFences } from '../../../../src/features/operation/recovery/release.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'

/** A database whose log was found to be missing before it was opened. */
async function openWithoutLog(t: TestContext): Promise<TestCore> {
  const core = await openTestCore(t)
  await addProject(core)
  await loseLog(core, START - 60_000)
  return core
}

async function loseLog({ config }: TestCore, servedAt: number): Promise<void> {
  const file = `${config.database.file}.log-lost`
  await writeFile(file, `${servedAt}\n1 2 3\n`)
  await utimes(file, START / 1000 - 30, START / 1000 - 30)
}

const causesOf = ({ store }: TestCore) =>
  store.read.all(sql`select number, cause from generations order by number`)

const walOf = async (core: TestCore) => {
  const { status, evidence, fix = '' } = await walCheck.run(core as unknown as CheckContext)
  return { status, text: `${evidence}\n${fix}` }
}

test('a server that starts without its log says so, and holds what the database has until it is released', async (t) => {
  const core = await openWithoutLog(t)
  const errors: unknown[][] = []
  const error = (...entry: unknown[]) => errors.push(entry)
  const watch = await startGenerationWatch({
    ...core,
    log: Object.assign(Object.create(core.log), { error }),
  })
  t.after(watch.stop)
  assert.equal(errors.length, 1, JSON.stringify(errors))
  assert.match(JSON.stringify(errors), /2026-11-21T11:59:30.*log is missing/)
  assert.deepEqual(await causesOf(core), [{ number: 1, cause: 'lost-log' }])
  const [reason] = core.health.reasons()
  assert.match(reason?.reason ?? '', /log was lost.*queue release --restored/)
  const found = await walOf(core)
  assert.equal(found.status, 'failed')
  assert.match(found.text, /log was missing at 2026-11-21.*queue release --restored/s)
  assert.equal(existsSync(`${core.config.database.file}.log-mark`), true)
  await releaseFences(core)
  assert.equal((await walOf(core)).status, 'ok')
  assert.equal(await noticeLostLog(core, 'start'), undefined)
})

test('the first command says it and does nothing, the next one works', async (t) => {
  const core = await openWithoutLog(t)
  await assert.rejects(refuseOlderDatabase(core), { code: 'CONFLICT', message: /log is missing/ })
  await refuseOlderDatabase(core)
  assert.equal((await walOf(core)).status, 'failed')
})

test('one loss sets one fence, also when its file is found again; the next loss sets another', async (t) => {
  const core = await openWithoutLog(t)
  await noticeLostLog(core, 'command')
  await loseLog(core, START - 60_000)
  await noticeLostLog(core, 'start')
  assert.deepEqual(await causesOf(core), [{ number: 1, cause: 'lost-log' }])
  core.clock.now += 60_000
  await loseLog(core, START + 1)
  await noticeLostLog(core, 'start')
  assert.equal((await causesOf(core)).length, 2)
})

test('a clean end leaves no mark', async (t) => {
  const core = await openTestCore(t)
  const watch = await startGenerationWatch(core)
  const mark = `${core.config.database.file}.log-mark`
  assert.equal(existsSync(mark), true)
  await watch.stop()
  assert.equal(existsSync(mark), false)
})
