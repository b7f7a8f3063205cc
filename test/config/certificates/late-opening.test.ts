/** Listeners that open with the first certificate, at an address that something else has taken meanwhile. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { openLate, reserveAddress } from '../../../src/config/certificates/late-opening.ts'
import { createRateLimiter } from '../../../src/features/ground/requests/rate-limit.ts'
import { prepareFolder, writeCertificate } from '../../../src/features/operation/acme/folder.ts'
import { startHttp } from '../../../src/http/server/server.ts'
import { startSubmission } from '../../../src/inbound/submission.ts'
import { openTestCore } from '../../core.ts'
import { eventually } from '../../e2e/program.ts'
import { makeCertificate } from '../../fakes/certificate.ts'

/** No other test takes a port of this address while it is free. */
const LOCAL = { host: '127.0.77.2', port: 0, isTls: true }
const againMs = 5

/** Every line, as the limiter of the log would not let it through. */
function keepLog() {
  const texts: string[] = []
  const keep = (_fields: unknown, text: string) => void texts.push(text)
  return { log: Object.assign(Object.create(silentLog()), { info: keep, error: keep }), texts }
}

/** Something else that listens there. */
async function occupy(t: TestContext, port: number): Promise<Server> {
  const server = createServer().listen(port, LOCAL.host)
  t.after(() => void server.close())
  await once(server, 'listening')
  return server
}

async function release(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

/** An `open` that binds the address, and counts how often it was tried. */
function opener(t: TestContext, port: number) {
  const server = createServer()
  t.after(() => void server.close())
  const tries = { count: 0, reached: Promise.withResolvers<void>(), wanted: 0 }
  return {
    server,
    untilTries: (count: number) => {
      tries.wanted = count
      return tries.reached.promise
    },
    tries: () => tries.count,
    open: async () => {
      tries.count += 1
      if (tries.count === tries.wanted) tries.reached.resolve()
      server.listen(port, LOCAL.host)
      await once(server, 'listening')
    },
  }
}

test('a port that is in use is tried until it is free, and the log says so once', async (t) => {
  const { log, texts } = keepLog()
  const address = await reserveAddress(LOCAL)
  const other = await occupy(t, address.port)
  const { open, server, untilTries } = opener(t, address.port)
  const late = openLate({ log, againMs }, address, open)
  await untilTries(4)
  assert.deepEqual(texts, ['a listener cannot open; it is tried again'])
  assert.equal(server.listening, false)
  await release(other)
  await late.opened
  assert.equal((server.address() as AddressInfo).port, address.port)
  assert.deepEqual(texts.slice(1), ['a listener has opened with its first certificate'])
  late.stop()
})

test('a reserved address is free again, and one in use cannot be reserved', async (t) => {
  const { port } = await reserveAddress(LOCAL)
  assert.notEqual(port, 0)
  await occupy(t, port)
  await assert.rejects(reserveAddress({ ...LOCAL, port }), { code: 'EADDRINUSE' })
})

test('after a stop a port that is in use is not tried again', async (t) => {
  const { log, texts } = keepLog()
  const address = await reserveAddress(LOCAL)
  const other = await occupy(t, address.port)
  const { open, server, tries, untilTries } = opener(t, address.port)
  const late = openLate({ log, againMs }, address, open)
  await untilTries(2)
  late.stop()
  await late.opened
  const count = tries()
  await release(other)
  // A timer that was left would have fired before this one.
  await new Promise((resolve) => setTimeout(resolve, 4 * againMs))
  assert.equal(tries(), count)
  assert.equal(server.listening, false)
  assert.equal(texts.length, 1)
})

test('a try that ends after a stop is not logged, however it ends', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const { log, texts } = keepLog()
    const opening = Promise.withResolvers<void>()
    let tries = 0
    const late = openLate({ log, againMs: 0 }, { ...LOCAL, port: 1 }, () => {
      tries += 1
      return opening.promise
    })
    late.stop()
    opening[end]()
    await late.opened
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    assert.deepEqual([tries, texts], [1, []])
  }
})

/** A listener that waits for the first certificate of ACME, and a way to give it one. */
async function openWaiting(t: TestContext, kind: 'http' | 'submission') {
  const settings = {
    PILLARBOX_ACME__EMAIL: 'ops@example.test',
    PILLARBOX_BASE_URL: 'https://mail.example.test',
    ...(kind === 'http'
      ? { PILLARBOX_HTTP__LISTEN: '0.0.0.0:0' }
      : { PILLARBOX_SUBMISSION__LISTEN: `["tls://${LOCAL.host}:0"]` }),
  }
  const core = await openTestCore(t, { settings, certificatePollMs: 1e9 })
  const limiter = createRateLimiter(0, core.now)
  const issue = async () => {
    const { acme } = core.config
    assert.ok(acme !== null)
    const { cert, key } = makeCertificate(['mail.example.test'])
    await prepareFolder(acme.folder)
    await writeCertificate(acme.folder, acme, { key, chain: cert })
    await core.certificates.look()
  }
  if (kind === 'http') {
    const { address, stop } = await startHttp({ core, requestLog: { record: () => undefined } })
    return { issue, stop, port: address.port }
  }
  const { addresses, stop } = await startSubmission(core, { limiter, wait: async () => undefined })
  return { issue, stop, port: addresses[0]?.port ?? 0 }
}

for (const kind of ['http', 'submission'] as const) {
  test(`${kind} opens with the first certificate, and not before`, async (t) => {
    const { stop, issue, port } = await openWaiting(t, kind)
    await assertClosed(port)
    await issue()
    const socket = await untilConnected(port)
    socket.destroy()
    await stop(0)
    await assertClosed(port)
  })

  test(`${kind} whose port was taken before the first certificate stops cleanly`, async (t) => {
    const { stop, issue, port } = await openWaiting(t, kind)
    const other = await occupy(t, port)
    await issue()
    await stop(0)
    await release(other)
    await assertClosed(port)
  })

  test(`a certificate that comes after the stop of ${kind} opens nothing`, async (t) => {
    const { stop, issue, port } = await openWaiting(t, kind)
    await stop(0)
    await issue()
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    await assertClosed(port)
  })
}

function untilConnected(port: number): Promise<Socket> {
  return eventually(async () => {
    const socket = connect(port, LOCAL.host)
    return once(socket, 'connect').then(
      () => socket,
      () => undefined,
    )
  })
}

async function assertClosed(port: number): Promise<void> {
  await assert.rejects(once(connect(port, LOCAL.host), 'connect'), { code: 'ECONNREFUSED' })
}
