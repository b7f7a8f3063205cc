import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { type ConnectionLimits, watchConnections } from '../../../src/http/server/connections.ts'
import { makeCertificate } from '../../fakes/certificate.ts'

const noLimits: ConnectionLimits = {
  max: 1000,
  maxPerAddress: 1000,
  isProxy: () => false,
  refuse: (socket) => socket.destroy(),
}

/** A server whose responses are made by the test, by path. */
async function listen(t: TestContext, server: Server, limits: Partial<ConnectionLimits> = {}) {
  const connections = watchConnections(server, { ...noLimits, ...limits })
  const responses = new Map<string, ServerResponse>()
  server.on('request', ({ url = '' }, outgoing) => {
    responses.set(url, outgoing)
    if (url === '/begun') outgoing.write('half of')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    connections.cutAll()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const arrived = async (...urls: string[]) => {
    while (!urls.every((url) => responses.has(url))) await new Promise(setImmediate)
  }
  return { connections, responses, port, arrived }
}

const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`

function closing(socket: Socket): Promise<unknown> {
  socket.on('error', () => undefined).resume()
  return new Promise((resolve) => socket.once('close', resolve))
}

test('connections that wait for their client are closed; those with running requests stay open', async (t) => {
  const { connections, responses, port, arrived } = await listen(t, createServer())
  const dial = (text: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(text)
    return socket
  }
  const waited = [
    dial('GET /head HTTP/1.1\r\nHos'),
    dial(ask('/body', 'Content-Length: 10\r\n')),
    dial(ask('/begun')),
  ]
  const working = dial(ask('/work'))
  await arrived('/body', '/begun', '/work')
  const closed = waited.map(closing)
  connections.cutWaiting()
  await Promise.all(closed)
  const answer = once(working, 'data')
  responses.get('/work')?.end('done')
  assert.match(String((await answer)[0]), /done/)
  const end = closing(working)
  connections.cutAll()
  await end
})

test('connections with TLS, also before the handshake, are closed by the same rule', async (t) => {
  const { key, cert } = makeCertificate(['localhost'])
  const server = createTlsServer({ key, cert })
  const { connections, responses, port, arrived } = await listen(t, server)
  const silent = connect(port, '127.0.0.1')
  await once(silent, 'connect')
  const dial = (path: string) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' })
    socket.write(ask(path))
    return socket
  }
  const begun = dial('/begun')
  const working = dial('/work')
  await arrived('/begun', '/work')
  const closed = [silent, begun].map(closing)
  connections.cutWaiting()
  await Promise.all(closed)
  const answer = once(working, 'data')
  responses.get('/work')?.end('done')
  assert.match(String((await answer)[0]), /done/)
})

/** A connection that has asked for `path`, or nothing yet, from an address of its own. */
async function join(port: number, { path, from = '127.0.0.1' }: { path?: string; from?: string }) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  const isClosed = closing(socket)
  await once(socket, 'connect')
  if (path !== undefined) socket.write(ask(path))
  return { socket, isClosed }
}

test('above the limit of an address its least recently used idle connection is closed', async (t) => {
  const { port, arrived, responses } = await listen(t, createServer(), { maxPerAddress: 3 })
  const used = await join(port, { path: '/used' })
  await arrived('/used')
  const silent = await join(port, {})
  const busy = await join(port, { path: '/busy' })
  await arrived('/busy')
  responses.get('/used')?.end()
  const fromOther = await join(port, { path: '/stranger', from: '127.0.0.2' })
  const next = await join(port, { path: '/next' })
  await silent.isClosed
  await arrived('/next', '/stranger')
  const last = await join(port, { path: '/last' })
  await used.isClosed
  await arrived('/last')
  for (const { socket } of [busy, fromOther, next, last]) assert.equal(socket.destroyed, false)
})

test('when all connections of an address are busy a new one is refused', async (t) => {
  const refused: boolean[] = []
  const { port, arrived } = await listen(t, createServer(), {
    maxPerAddress: 2,
    refuse: (socket, isOfAddress) => {
      refused.push(isOfAddress)
      socket.destroy()
    },
  })
  for (const path of ['/a', '/b']) await join(port, { path })
  await arrived('/a', '/b')
  const third = await join(port, {})
  await third.isClosed
  await join(port, { path: '/elsewhere', from: '127.0.0.2' })
  await arrived('/elsewhere')
  assert.deepEqual(refused, [true])
})

test('the total of all connections is limited too', async (t) => {
  const refused: boolean[] = []
  const { port, arrived } = await listen(t, createServer(), {
    max: 2,
    refuse: (socket, isOfAddress) => {
      refused.push(isOfAddress)
      socket.destroy()
    },
  })
  for (const from of ['127.0.0.1', '127.0.0.2']) await join(port, { path: `/${from}`, from })
  await arrived('/127.0.0.1', '/127.0.0.2')
  const third = await join(port, { from: '127.0.0.3' })
  await third.isClosed
  assert.deepEqual(refused, [false])
})

test('connections of a trusted proxy count towards the total only', async (t) => {
  const refused: boolean[] = []
  const { port, arrived } = await listen(t, createServer(), {
    max: 3,
    maxPerAddress: 1,
    isProxy: (address) => address === '127.0.0.9',
    refuse: (socket, isOfAddress) => {
      refused.push(isOfAddress)
      socket.destroy()
    },
  })
  for (const path of ['/a', '/b', '/c']) await join(port, { path, from: '127.0.0.9' })
  await arrived('/a', '/b', '/c')
  const fourth = await join(port, { from: '127.0.0.9' })
  await fourth.isClosed
  assert.deepEqual(refused, [false])
})

test('a connection that has ended no longer counts', async (t) => {
  const refuse = () => assert.fail('nobody is one too many')
  const { port, arrived, responses } = await listen(t, createServer(), { maxPerAddress: 1, refuse })
  for (const path of ['/a', '/b', '/c']) {
    const { socket, isClosed } = await join(port, { path })
    await arrived(path)
    responses.get(path)?.end()
    socket.end()
    await isClosed
  }
})
