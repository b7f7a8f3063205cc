import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBodyAllowance } from '../../src/http/body-allowance.ts'

const MB = 1024 * 1024
const limits = { totalBytes: 10 * MB, addressBytes: 4 * MB }

/** Whether it has been granted by now. */
async function isGranted(room: Promise<void> | undefined): Promise<boolean> {
  if (room === undefined) return true
  let isSettled = false
  room.then(
    () => (isSettled = true),
    () => undefined,
  )
  await new Promise(setImmediate)
  return isSettled
}

test('S5: bodies of one address share an allowance, and who finds no room waits for it', async () => {
  const bodies = createBodyAllowance(limits)
  const first = bodies.open('192.0.2.1')
  assert.equal(await isGranted(first.growTo(3 * MB)), true)
  const second = bodies.open('192.0.2.1')
  const room = second.growTo(2 * MB)
  assert.equal(await isGranted(room), false)
  assert.equal(await isGranted(bodies.open('192.0.2.2').growTo(4 * MB)), true)
  first.release()
  assert.equal(await isGranted(room), true)
})

test('S5: all bodies share an allowance, in the order of their coming', async () => {
  const bodies = createBodyAllowance(limits)
  const held = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => bodies.open(address))
  const rooms = held.map((share) => share.growTo(3 * MB))
  assert.deepEqual(await Promise.all(rooms.map(isGranted)), [true, true, true])
  const large = bodies.open('192.0.2.4').growTo(4 * MB)
  const small = bodies.open('192.0.2.5').growTo(1 * MB)
  assert.deepEqual([await isGranted(large), await isGranted(small)], [false, false])
  held[0]?.release()
  assert.deepEqual([await isGranted(large), await isGranted(small)], [true, false])
  held[1]?.release()
  assert.equal(await isGranted(small), true)
})

test('who waits for others of its own address holds up nobody else', async () => {
  const bodies = createBodyAllowance(limits)
  bodies.open('192.0.2.1').growTo(4 * MB)
  const own = bodies.open('192.0.2.1').growTo(4 * MB)
  assert.equal(await isGranted(own), false)
  assert.equal(await isGranted(bodies.open('192.0.2.2').growTo(4 * MB)), true)
})

test('short bodies need no share', async () => {
  const bodies = createBodyAllowance({ totalBytes: 1, addressBytes: 1 })
  assert.equal(bodies.open('192.0.2.1').growTo(64 * 1024), undefined)
})

test('a body that grows takes only what it has not', async () => {
  const bodies = createBodyAllowance(limits)
  const share = bodies.open('192.0.2.1')
  for (const size of [1, 2, 3, 4]) assert.equal(share.growTo(size * MB), undefined)
  assert.equal(share.growTo(2 * MB), undefined)
  share.release()
  share.release()
  assert.equal(await isGranted(bodies.open('192.0.2.1').growTo(4 * MB)), true)
})

for (const [whose, held, code, status] of [
  ['its address has', '192.0.2.1', 'RATE_LIMIT_EXCEEDED', 429],
  ['all together have', '192.0.2.2', 'EXTERNAL_SERVICE_ERROR', 503],
] as const) {
  test(`S5: who waits for ten seconds because ${whose} too much is refused with ${status}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const bodies = createBodyAllowance({ totalBytes: 6 * MB, addressBytes: 4 * MB })
    bodies.open(held).growTo(4 * MB)
    const refused = assert.rejects(bodies.open('192.0.2.1').growTo(3 * MB) ?? Promise.resolve(), {
      code,
      status,
      details: { retryAfter: 10 },
    })
    t.mock.timers.tick(10_000)
    await refused
    assert.equal(
      await isGranted(bodies.open('192.0.2.3').growTo(2 * MB)),
      true,
      'nothing is left behind',
    )
  })
}

test('who waited behind a body that found no room in time has its turn', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const bodies = createBodyAllowance({ totalBytes: 6 * MB, addressBytes: 4 * MB })
  bodies.open('192.0.2.1').growTo(4 * MB)
  const refused = assert.rejects(bodies.open('192.0.2.2').growTo(3 * MB) ?? Promise.resolve())
  t.mock.timers.tick(9_000)
  const behind = bodies.open('192.0.2.3').growTo(1 * MB)
  assert.equal(await isGranted(behind), false)
  t.mock.timers.tick(1_000)
  await refused
  assert.equal(await isGranted(behind), true)
})

test('a share that is given back while it waits takes nothing', async () => {
  const bodies = createBodyAllowance(limits)
  const first = bodies.open('192.0.2.1')
  first.growTo(4 * MB)
  const gone = bodies.open('192.0.2.1')
  const room = gone.growTo(4 * MB)
  gone.release()
  first.release()
  await room
  assert.equal(await isGranted(bodies.open('192.0.2.1').growTo(4 * MB)), true)
})

test('S5: all IPv6 addresses of a /64 are one', async () => {
  const bodies = createBodyAllowance(limits)
  bodies.open('2001:db8:1:2::a').growTo(4 * MB)
  assert.equal(await isGranted(bodies.open('2001:db8:1:2:ffff::b').growTo(1 * MB)), false)
  assert.equal(await isGranted(bodies.open('2001:db8:1:3::a').growTo(4 * MB)), true)
})
