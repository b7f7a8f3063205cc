import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { isServed } from '../../src/store/is-served.ts'
import { takeServeLock } from '../../src/store/serve-lock.ts'

test('a second server on one database is refused until the first is gone', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'pillarbox.db')
  const first = takeServeLock(file)
  assert.throws(() => takeServeLock(file), { code: 'CONFLICT' })
  first.release()
  takeServeLock(file).release()
})

test('whether a server runs is seen without keeping one from starting', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'pillarbox.db')
  assert.equal(isServed(file), false)
  const lock = takeServeLock(file)
  assert.equal(isServed(file), true)
  assert.equal(isServed(file), true)
  assert.throws(() => takeServeLock(file), { code: 'CONFLICT' }, 'the look let go of nothing')
  lock.release()
  assert.equal(isServed(file), false)
  takeServeLock(file).release()
})
