import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createHealth } from '../../../src/base/health.ts'
import { createLog } from '../../../src/base/log.ts'
import { type DiskSpace, watchDisk } from '../../../src/store/files/disk.ts'
import { createNotifier } from '../../../src/work/loop.ts'

const MB = 1024 * 1024

/** A disk of 10,000 MB, of which at first `freeMb` are free; `set` has it looked at again. */
async function openDisk(t: TestContext, freeMb: number, minFreeMb = 200) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const lines: { level: string; msg: string }[] = []
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) })
  const health = createHealth()
  const state = { free: freeMb, isBroken: false, checks: 0 }
  const committed = createNotifier()
  const disk = await watchDisk({
    onCommit: committed.listen,
    folder: '/data',
    minFreeBytes: minFreeMb * MB,
    health,
    log,
    read: async (): Promise<DiskSpace> => {
      state.checks += 1
      if (state.isBroken) throw Object.assign(new Error('statfs'), { code: 'EIO' })
      const inodes = { freeInodes: 7, totalInodes: 9 }
      return { free: state.free * MB, total: 10_000 * MB, ...inodes }
    },
  })
  t.after(disk.stop)
  const set = async (free: number) => {
    state.free = free
    t.mock.timers.tick(2_000)
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  }
  return {
    disk,
    health,
    lines,
    state,
    set,
    commit: committed.notify,
    reason: () => health.reasons()[0]?.reason,
  }
}

test('below limits.min_free_bytes the disk is low from the start', async (t) => {
  const { disk, lines, reason } = await openDisk(t, 199)
  assert.equal(disk.isLow(), true)
  assert.equal(disk.space()?.free, 199 * MB)
  assert.equal(
    reason(),
    'Only 199 MB of the disk of /data are free, and limits.min_free_bytes is 200 MB: no new data is accepted; mail is still sent.',
  )
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [['error', 'the disk is nearly full: no new data is accepted']],
  )
})

test('a disk at the limit does not flap: it has enough free space again 20% above the limit', async (t) => {
  const { disk, lines, set } = await openDisk(t, 5_000)
  for (const free of [200, 199, 201, 199, 239]) await set(free)
  assert.equal(disk.isLow(), true)
  assert.equal(lines.length, 1)
  await set(240)
  assert.equal(disk.isLow(), false)
  await set(201)
  assert.equal(disk.isLow(), false)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['the disk is nearly full: no new data is accepted', 'the disk has enough free space again'],
  )
})

test('below 5% of free space health is degraded, and nothing is refused', async (t) => {
  const { disk, set, reason } = await openDisk(t, 500)
  assert.equal(reason(), undefined)
  await set(499)
  assert.equal(reason(), 'Only 499 MB of the disk of /data are free, 4% of it.')
  assert.equal(disk.isLow(), false)
  await set(599)
  assert.ok(reason())
  await set(600)
  assert.equal(reason(), undefined)
})

test('a limit of 0 means no limit', async (t) => {
  const { disk } = await openDisk(t, 0, 0)
  assert.equal(disk.isLow(), false)
})

test('the last state of the disk holds while its space cannot be read', async (t) => {
  const { disk, state, set, lines } = await openDisk(t, 100)
  state.isBroken = true
  const checks = state.checks
  await set(5_000)
  assert.equal(state.checks, checks + 1)
  assert.equal(disk.isLow(), true)
  assert.equal(lines.at(-1)?.msg, 'the free space of the disk cannot be read')
  state.isBroken = false
  await set(5_000)
  assert.equal(disk.isLow(), false)
})

test('a check at intervals adds none to the one after a commit, and a stop ends both', async (t) => {
  const { disk, state, commit } = await openDisk(t, 5_000)
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await new Promise(setImmediate)
  }
  await pass(1_900)
  commit()
  await pass(100)
  assert.equal(state.checks, 2)
  commit()
  await pass(150)
  assert.equal(state.checks, 3)
  await pass(100)
  assert.equal(state.checks, 3)
  await pass(1_700)
  commit()
  await pass(50)
  assert.equal(state.checks, 4)
  commit()
  disk.stop()
  await pass(10_000)
  assert.equal(state.checks, 4)
})

test('the disk is checked soon after a commit, because large attachments fill it quickly', async (t) => {
  const { state, commit } = await openDisk(t, 5_000)
  for (let check = 2; check <= 5; check += 1) {
    commit()
    commit()
    t.mock.timers.tick(250)
    await new Promise(setImmediate)
    assert.equal(state.checks, check)
  }
  t.mock.timers.tick(750)
  assert.equal(state.checks, 5, 'without commits, others fill it more slowly')
})
