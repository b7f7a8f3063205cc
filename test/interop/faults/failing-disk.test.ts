/**
 * The whole program on a disk that fails: it acknowledges nothing that is not durable, sends nothing
 * whose outcome it cannot record, and goes on when the disk works. Needs a C compiler.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  buildFailingDisk,
  EIO,
  EROFS,
  type FailingDisk,
  isCompilerMissing,
} from './failing-disk.ts'
import { until } from './ledger.ts'
import { offerMail, openStage, untilHealthy, untilNoneArrive } from './stage.ts'

const skip = isCompilerMissing && 'a C compiler is not installed'

async function openFailing(t: TestContext) {
  const disk = buildFailingDisk(t)
  const stage = await openStage(t, { env: disk.env })
  return { disk, ...stage, server: await stage.serve() }
}

const faults = [
  ['syncs fail', `sync ${EIO}`],
  ['writes fail', `write ${EIO}`],
  ['the file system is read-only', `write ${EROFS}`],
] as const

for (const [what, mode] of faults) {
  test(`F3: while ${what} nothing is acknowledged or sent twice, and then all goes on`, {
    skip,
  }, async (t) => {
    const { disk, ledger, secret, server } = await openFailing(t)
    const load = ledger.startLoad(server.url, secret)
    await until(() => ledger.arrivals.length >= 20)
    disk.set(mode)
    await until(() => ledger.answers(503) >= 4)
    const acknowledged = ledger.answers(200)
    assert.equal((await fetch(new URL('/health', server.url))).status, 503)
    assert.equal((await offerMail(server)).code, 452)
    const sent = await untilNoneArrive(ledger)
    assert.equal(ledger.answers(200), acknowledged, 'nothing is acknowledged')
    disk.set('ok')
    await until(() => ledger.answers(200) >= acknowledged + 20)
    await load.stop()
    await ledger.untilAllArrived()
    assert.ok(ledger.arrivals.length > sent)
    assert.deepEqual(ledger.repeated(), [])
    await untilHealthy(server)
    assert.equal((await offerMail(server)).code, 250)
    assert.equal(findLost(disk), 0)
    assert.equal(await server.kill('SIGTERM'), 0)
  })
}

test('F3: a server killed while syncs fail has all that it acknowledged', { skip }, async (t) => {
  const { disk, ledger, secret, server, serve } = await openFailing(t)
  const load = ledger.startLoad(server.url, secret)
  await until(() => ledger.arrivals.length >= 20)
  const failingAt = performance.now()
  disk.set(`sync ${EIO}`)
  await until(() => ledger.answers(503) >= 4)
  await server.kill('SIGKILL')
  await load.stop()
  disk.set('ok')
  const again = await serve()
  await ledger.untilAllArrived()
  for (const { id, at } of ledger.repeated()) {
    assert.ok(at > failingAt - IN_FLIGHT_MS, `${id} arrived twice, and its outcome was recorded`)
  }
  assert.equal(findLost(disk), 0)
  assert.equal(await again.kill('SIGTERM'), 0)
})

test('F3: slow syncs are shared by all who wait', { skip }, async (t) => {
  const { disk, ledger, secret, server } = await openFailing(t)
  disk.set('slow 40')
  const before = disk.calls().filter(({ kind }) => kind === 'sync').length
  const load = ledger.startLoad(server.url, secret, 40)
  await until(() => ledger.answers(200) >= 200)
  await load.stop()
  const syncs = disk.calls().filter(({ kind }) => kind === 'sync').length - before
  t.diagnostic(`${ledger.answers(200)} answers after ${syncs} syncs`)
  assert.ok(syncs < ledger.answers(200) / 2)
  disk.set('ok')
  await ledger.untilAllArrived()
  assert.deepEqual(ledger.repeated(), [])
  assert.equal(await server.kill('SIGTERM'), 0)
})

/** So long before a failure an outcome may not have been recorded, on a machine that is busy. */
const IN_FLIGHT_MS = 2_000

/**
 * A sync that failed may have lost what was written before it, also if a later one succeeds: it has to
 * be written again. Returns how many writes of the log were committed without that.
 */
function findLost({ calls }: FailingDisk): number {
  const unsynced = new Map<number, number>()
  const lost = new Set<number>()
  let committed = 0
  for (const call of calls()) {
    if (call.kind === 'write') {
      unsynced.set(call.offset, call.offset + call.length)
      lost.delete(call.offset)
    } else if (call.isDone) {
      const end = Math.max(0, ...unsynced.values())
      committed += [...lost].filter((offset) => offset < end).length
      unsynced.clear()
    } else {
      for (const offset of unsynced.keys()) lost.add(offset)
      unsynced.clear()
    }
  }
  return committed
}
