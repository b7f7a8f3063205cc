/**
 * That a resolved write survives power loss, shown from outside: by the order of system calls, and
 * on a file system that is really full. Needs strace, and root for the small file system.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../src/base/errors.ts'
import { silentLog } from '../../../src/base/log.ts'
import { openStore } from '../../../src/store/store.ts'
import { makeDatabaseFolder, notes } from '../../store/test-store.ts'

const child = path.join(import.meta.dirname, '../../store/write', 'writing-child.ts')
const idLine = /^[0-9a-f]{8}-[0-9a-f]{4}-7/
const isStraceMissing = spawnSync('strace', ['-V']).error !== undefined
const isRoot = process.getuid?.() === 0

type Call = 'write' | 'sync' | 'acknowledge'

/**
 * Calls on the log and acknowledgements, in the order in which they began, but syncs in the order
 * in which they ended: strace splits a call in two lines when another thread's comes between.
 */
function readTrace(text: string): Call[] {
  const syncing = new Set<string>()
  const calls: Call[] = []
  for (const line of text.split('\n')) {
    const thread = line.split(' ', 1)[0] ?? ''
    const isSync = /\bf(data)?sync\(\d+<[^>]*-wal>/.test(line)
    const isResumed = /f(data)?sync resumed>/.test(line) && syncing.delete(thread)
    if (isSync && line.endsWith('<unfinished ...>')) syncing.add(thread)
    else if ((isSync || isResumed) && /\)\s+= 0$/.test(line)) calls.push('sync')
    else if (/\bpwrite64\(\d+<[^>]*-wal>/.test(line)) calls.push('write')
    else if (idLine.test(/\bwrite\(1<[^>]*>, "([^"]*)/.exec(line)?.[1] ?? '')) {
      calls.push('acknowledge')
    }
  }
  return calls
}

test('the log is synced after its last write and before any acknowledgement', {
  skip: isStraceMissing && 'strace is not installed',
}, async (t) => {
  const location = await makeDatabaseFolder(t)
  const trace = path.join(location.folder, 'trace')
  const traced = 'trace=pwrite64,fdatasync,fsync,write'
  const argv = ['-f', '-y', '-s', '64', '-e', traced, '-o', trace, process.execPath, child]
  execFileSync('strace', [...argv, location.path, location.migrationsDir, '5', '20'])
  const calls = readTrace(await readFile(trace, 'utf8'))
  let unsynced = 0
  for (const [index, call] of calls.entries()) {
    if (call === 'write') unsynced += 1
    if (call === 'sync') unsynced = 0
    const what = `call ${index}: ${unsynced} writes were not synced`
    if (call === 'acknowledge') assert.equal(unsynced, 0, what)
  }
  const count = (kind: Call) => calls.filter((call) => call === kind).length
  assert.ok(calls.indexOf('write') < calls.indexOf('acknowledge'))
  assert.equal(count('acknowledge'), 100)
  assert.ok(count('sync') > 1)
  t.diagnostic(
    `100 acknowledgements, ${count('write')} writes and ${count('sync')} syncs of the log`,
  )
})

test('a full file system fails the whole group of writes, and writes succeed again with free space', {
  skip: !isRoot && 'mounting a small file system needs root',
}, async (t) => {
  const location = await makeDatabaseFolder(t)
  const folder = path.join(location.folder, 'small')
  mkdirSync(folder)
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder])
  if (mount.status !== 0) return t.skip('a small file system cannot be mounted here')
  try {
    await fillUp(t, path.join(folder, 'test.db'), location.migrationsDir)
  } finally {
    execFileSync('umount', [folder])
  }
})

async function fillUp(t: TestContext, file: string, migrationsDir: string): Promise<void> {
  const store = await openStore({ path: file, migrationsDir, log: silentLog() })
  await store.write((tx) => tx.insert(notes).values({ id: 'before', seq: 0 }))
  const add = (id: string, bytes: number) =>
    store.write((tx) => tx.insert(notes).values({ id, seq: 1, body: 'x'.repeat(bytes) }))
  // With its clock stopped, the group takes all three.
  const clock = t.mock.method(performance, 'now', () => 0)
  const results = await Promise.allSettled([add('a', 10), add('large', 3_000_000), add('b', 10)])
  clock.mock.restore()
  for (const result of results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof AppError)
    assert.equal(result.reason.code, 'DATABASE_ERROR')
  }
  assert.deepEqual(await store.read.select({ id: notes.id }).from(notes), [{ id: 'before' }])
  await add('after', 10)
  assert.equal(await store.read.$count(notes), 2)
  await store.close()
}
