import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
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
