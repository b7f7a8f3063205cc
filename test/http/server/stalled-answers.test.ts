import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { cutStalledAnswers, findUnsentOctets } from '../../../src/http/server/connections.ts'
import { makeCertificate } from '../../fakes/certificate.ts'

/** More than the buffers of a connection take. */
const ANSWER = Buffer.alloc(64 * 1024 * 1024)

/** A server with that answer; `cuts` counts the connections that it cut. */
async function serve(t: TestContext, server: Server) {
  // Only the looks at connections move by hand.
  t.mock.timers.enable({ apis: ['setInterval'] })
  const state = { cuts: 0 }
  const onCut = () => {
    state.cuts += 1
  }
  cutStalledAnswers(server, onCut, (files) => {
    const found = findUnsentOctets(files)
    looking = found.then(() => undefined)
    return found
  })
  server.on('request', (_, outgoing) => outgoing.end(ANSWER))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { state, port: (server.address() as AddressInfo).port }
}

/** Asks for the answer, and takes its beginning. */
async function ask(t: TestContext, socket: Socket): Promise<Socket> {
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  return settle(socket)
}

/** The last look at connections. */
let looking: Promise<void> = Promise.resolve()

/** Until the look is over, and the buffers of the connection are full. */
async function settle(socket: Socket): Promise<Socket> {
  await looking
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate)
  return socket
}

const certificate = makeCertificate(['localhost'])
const servers: [string, () => Server, (port: number) => Socket][] = [
  ['in clear', () => createServer(), (port) => connect(port, '127.0.0.1')],
  [
    'with TLS',
    () => createTlsServer(certificate),
    (port) => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }),
  ],
]

for (const [name, create, open] of servers) {
  test(`S29: an answer of which a client takes nothing for 30 s is cut, ${name}`, async (t) => {
    const { state, port } = await serve(t, create())
    const socket = await ask(t, open(port))
    let looks = 0
    // The buffers of the connection take some of the answer at first.
    while (state.cuts === 0 && looks < 200) {
      t.mock.timers.tick(5_000)
      looks += 1
      await settle(socket)
    }
    assert.equal(state.cuts, 1)
    assert.ok(looks >= 8, 'not before half a minute has passed since the first look')
    socket.resume()
    await once(socket, 'close')
    assert.ok(socket.bytesRead < ANSWER.length)
  })
}

test('a client that takes an answer slowly gets all of it', async (t) => {
  const { state, port } = await serve(t, createServer())
  const socket = await ask(t, connect(port, '127.0.0.1'))
  while (socket.bytesRead < ANSWER.length) {
    t.mock.timers.tick(20_000)
    const before = socket.bytesRead
    socket.resume()
    // More than the kernel holds back before it says that there is room.
    while (socket.bytesRead < Math.min(before + 16 * 1024 * 1024, ANSWER.length)) {
      await once(socket, 'data')
    }
    socket.pause()
    await settle(socket)
  }
  assert.equal(state.cuts, 0)
})

test('a client that takes less than the kernel holds is not cut, in each half minute a little', async (t) => {
  const { state, port } = await serve(t, createServer())
  const socket = await ask(t, connect(port, '127.0.0.1'))
  const from = socket.bytesRead
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (let round = 0; round < 12; round += 1) {
    for (let looks = 0; looks < 5; looks += 1) {
      t.mock.timers.tick(5_000)
      await settle(socket)
    }
    const before = socket.bytesRead
    // As much as makes the kernel of the client say that there is room.
    while (state.cuts === 0 && socket.bytesRead < before + 512 * 1024) {
      socket.resume()
      await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed])
      socket.pause()
    }
    await settle(socket)
  }
  assert.equal(state.cuts, 0)
  assert.ok(socket.bytesRead - from < 12 * 1024 * 1024)
})

test('a connection without an answer under way is left alone', async (t) => {
  const { state, port } = await serve(t, createServer())
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  t.mock.timers.tick(600_000)
  assert.equal(state.cuts, 0)
})
