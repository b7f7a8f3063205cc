import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { watchConnections } from '../../src/http/connections.ts'
import { makeCertificate } from '../fakes/certificate.ts'

/** A server whose responses are made by the test, by path. */
async function listen(t: TestContext, server: Server) {
  const connections = watchConnections(server)
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

test('who is waited for is cut off, whose request is being worked on is not', async (t) => {
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

test('above TLS too, and also who has not shaken hands yet', async (t) => {
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
