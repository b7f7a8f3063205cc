import assert from 'node:assert/strict'
import { beforeEach, type TestContext, test } from 'node:test'
import { createBodyAllowance } from '../../../src/http/body/body-allowance.ts'

const MB = 1024 * 1024
const limits = { totalBytes: 10 * MB, addressBytes: 4 * MB, keyBytes: 10 * MB }

/** The wait for space ends only when a test moves the clock. */
beforeEach((t) => {
  ;(t as TestContext).mock.timers.enable({ apis: ['setTimeout'] })
})

const from = (address: string, key = 'any') => ({ address, key })

/** Whether the body has its share by now. */
async function isAllowed(room: Promise<void> | undefined): Promise<boolean> {
  if (room === undefined) return true
  let isSettled = false
  room.then(
    () => (isSettled = true),
    () => undefined,
  )
  await new Promise(setImmediate)
  return isSettled
}

test('bodies from one address share a limit and wait for free memory', async () => {
  const bodies = createBodyAllowance(limits)
  const first = bodies.open(from('192.0.2.1'))
  assert.equal(await isAllowed(first.growTo(3 * MB)), true)
  const second = bodies.open(from('192.0.2.1'))
  const room = second.growTo(2 * MB)
  assert.equal(await isAllowed(room), false)
  assert.equal(await isAllowed(bodies.open(from('192.0.2.2')).growTo(4 * MB)), true)
  first.release()
  assert.equal(await isAllowed(room), true)
})

test('all bodies share a limit, in the order of their arrival', async () => {
  const bodies = createBodyAllowance(limits)
  const held = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => bodies.open(from(address)))
  const rooms = held.map((share) => share.growTo(3 * MB))
  assert.deepEqual(await Promise.all(rooms.map(isAllowed)), [true, true, true])
  const large = bodies.open(from('192.0.2.4')).growTo(4 * MB)
  const small = bodies.open(from('192.0.2.5')).growTo(1 * MB)
  assert.deepEqual([await isAllowed(large), await isAllowed(small)], [false, false])
  held[0]?.release()
  assert.deepEqual([await isAllowed(large), await isAllowed(small)], [true, false])
  held[1]?.release()
  assert.equal(await isAllowed(small), true)
})

test('a body that waits for its own address delays no other', async () => {
  const bodies = createBodyAllowance(limits)
  bodies.open(from('192.0.2.1')).growTo(4 * MB)
  const own = bodies.open(from('192.0.2.1')).growTo(4 * MB)
  assert.equal(await isAllowed(own), false)
  assert.equal(await isAllowed(bodies.open(from('192.0.2.2')).growTo(4 * MB)), true)
})

test('short bodies need no share', async () => {
  const bodies = createBodyAllowance({ totalBytes: 1, addressBytes: 1, keyBytes: 1 })
  assert.equal(bodies.open(from('192.0.2.1')).growTo(64 * 1024), undefined)
})

test('a growing body reserves only the difference', async () => {
  const bodies = createBodyAllowance(limits)
  const share = bodies.open(from('192.0.2.1'))
  for (const size of [1, 2, 3, 4]) assert.equal(share.growTo(size * MB), undefined)
  assert.equal(share.growTo(2 * MB), undefined)
  share.release()
  share.release()
  assert.equal(await isAllowed(bodies.open(from('192.0.2.1')).growTo(4 * MB)), true)
})

for (const [whose, held, code, status] of [
  ['its address has', '192.0.2.1', 'RATE_LIMIT_EXCEEDED', 429],
  ['all together have', '192.0.2.2', 'EXTERNAL_SERVICE_ERROR', 503],
] as const) {
  test(`a body that waits for ten seconds because ${whose} too much is refused with ${status}`, async (t) => {
    const bodies = createBodyAllowance({ ...limits, totalBytes: 6 * MB })
    bodies.open(from(held)).growTo(4 * MB)
    const refused = assert.rejects(
      bodies.open(from('192.0.2.1')).growTo(3 * MB) ?? Promise.resolve(),
      {
        code,
        status,
        details: { retryAfter: 10 },
      },
    )
    t.mock.timers.tick(10_000)
    await refused
    assert.equal(
      await isAllowed(bodies.open(from('192.0.2.3')).growTo(2 * MB)),
      true,
      'nothing is left behind',
    )
  })
}

test('a body behind one that timed out gets its share', async (t) => {
  const bodies = createBodyAllowance({ ...limits, totalBytes: 6 * MB })
  bodies.open(from('192.0.2.1')).growTo(4 * MB)
  const refused = assert.rejects(bodies.open(from('192.0.2.2')).growTo(3 * MB) ?? Promise.resolve())
  t.mock.timers.tick(9_000)
  const behind = bodies.open(from('192.0.2.3')).growTo(1 * MB)
  assert.equal(await isAllowed(behind), false)
  t.mock.timers.tick(1_000)
  await refused
  assert.equal(await isAllowed(behind), true)
})

test('a share that is released while it waits reserves nothing', async () => {
  const bodies = createBodyAllowance(limits)
  const first = bodies.open(from('192.0.2.1'))
  first.growTo(4 * MB)
  const gone = bodies.open(from('192.0.2.1'))
  const room = gone.growTo(4 * MB)
  const refused = assert.rejects(room ?? Promise.resolve())
  gone.release()
  await refused
  first.release()
  assert.equal(await isAllowed(bodies.open(from('192.0.2.1')).growTo(4 * MB)), true)
})

test('all IPv6 addresses of a /64 are one', async () => {
  const bodies = createBodyAllowance(limits)
  bodies.open(from('2001:db8:1:2::a')).growTo(4 * MB)
  assert.equal(await isAllowed(bodies.open(from('2001:db8:1:2:ffff::b')).growTo(1 * MB)), false)
  assert.equal(await isAllowed(bodies.open(from('2001:db8:1:3::a')).growTo(4 * MB)), true)
})

test('bodies with one key share a limit across all addresses', async () => {
  const bodies = createBodyAllowance({ ...limits, keyBytes: 6 * MB })
  const first = bodies.open(from('192.0.2.1', 'a'))
  first.growTo(4 * MB)
  const room = bodies.open(from('192.0.2.2', 'a')).growTo(4 * MB)
  assert.equal(await isAllowed(room), false)
  assert.equal(await isAllowed(bodies.open(from('192.0.2.3', 'b')).growTo(4 * MB)), true)
  first.release()
  assert.equal(await isAllowed(room), true)
})

test('all bodies without a key share one limit', async () => {
  const bodies = createBodyAllowance({ ...limits, keyBytes: 4 * MB })
  bodies.open({ address: '192.0.2.1', key: null }).growTo(4 * MB)
  const other = bodies.open({ address: '192.0.2.2', key: null })
  assert.equal(await isAllowed(other.growTo(1 * MB)), false)
})

test('small bodies from an address do not starve a large one', async () => {
  const bodies = createBodyAllowance(limits)
  const [first, second] = [bodies.open(from('192.0.2.1')), bodies.open(from('192.0.2.1'))]
  first.growTo(2 * MB)
  second.growTo(1 * MB)
  const large = bodies.open(from('192.0.2.1')).growTo(4 * MB)
  const small = bodies.open(from('192.0.2.1')).growTo(1 * MB)
  assert.deepEqual([await isAllowed(large), await isAllowed(small)], [false, false])
  first.release()
  second.release()
  assert.deepEqual([await isAllowed(large), await isAllowed(small)], [true, false])
})

test('when all growing bodies wait for each other the last is refused at once', async () => {
  const bodies = createBodyAllowance(limits)
  const growing = [1, 2, 3, 4].map(() => bodies.open(from('192.0.2.1')))
  for (const share of growing) share.growTo(1 * MB)
  const large = bodies.open(from('192.0.2.1')).growTo(3 * MB)
  const rooms = growing.slice(0, 3).map((share) => share.growTo(2 * MB))
  assert.deepEqual(await Promise.all(rooms.map(isAllowed)), [false, false, false])
  await assert.rejects(growing[3]?.growTo(2 * MB) ?? Promise.resolve(), { status: 429 })
  growing[3]?.release()
  assert.deepEqual(await Promise.all(rooms.map(isAllowed)), [true, false, false])
  growing[0]?.release()
  assert.deepEqual(await Promise.all(rooms.map(isAllowed)), [true, true, true])
  assert.equal(await isAllowed(large), false, 'who has something goes first')
  growing[1]?.release()
  assert.equal(await isAllowed(large), false)
  growing[2]?.release()
  assert.equal(await isAllowed(large), true)
})

test('when freed memory is enough for no waiting body, one of them is refused', async () => {
  const bodies = createBodyAllowance(limits)
  const [small, ...others] = [0.5, 1.75, 1.75].map((size) => {
    const share = bodies.open(from('192.0.2.1'))
    share.growTo(size * MB)
    return share
  })
  const [first, last] = others.map((share) => share.growTo(4 * MB) ?? Promise.resolve())
  const refused = assert.rejects(last ?? Promise.resolve(), { status: 429 })
  small?.release()
  await refused
  others[1]?.release()
  assert.equal(await isAllowed(first), true)
})
