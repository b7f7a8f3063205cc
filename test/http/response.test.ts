import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type BodyEnd, sendPieces, sendWhole } from '../../src/http/response.ts'
import { createLoopTurns } from '../../src/work/loop-turns.ts'
import { pause } from '../pause.ts'

const HEAD = { status: 200, headers: [] }

/** A server whose every response is that; how each ended. */
async function serve(t: TestContext, pieces: () => AsyncIterable<Uint8Array>) {
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<BodyEnd>()
  const server = createServer((incoming, outgoing) => {
    const out = { onEnd, cut: () => void incoming.destroy() }
    void sendPieces(outgoing, { head: HEAD, pieces: pieces(), out })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, ended }
}

test('a body is sent whole, and its size is known at the end', async (t) => {
  async function* pieces() {
    for (let at = 0; at < 50; at += 1) yield Buffer.alloc(10_000, 'x')
  }
  const { url, ended } = await serve(t, pieces)
  assert.equal((await (await fetch(url)).text()).length, 500_000)
  assert.deepEqual(await ended, { sizeBytes: 500_000, error: undefined })
})

test('an endless body stops when its client disconnects', async (t) => {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  async function* pieces() {
    try {
      for (;;) {
        yield Buffer.alloc(64 * 1024, 'x')
        await new Promise(setImmediate)
      }
    } finally {
      leave()
    }
  }
  const { port, ended } = await serve(t, pieces)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  await left
  assert.equal((await ended).error, undefined)
})

test('a body is produced only up to the size of the buffers while its client reads nothing', async (t) => {
  let made = 0
  async function* pieces() {
    for (;;) {
      made += 1
      yield Buffer.alloc(1024 * 1024, 'x')
    }
  }
  const { port } = await serve(t, pieces)
  const socket = connect(port, '127.0.0.1').pause()
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  while (made === 0) await pause()
  for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
  assert.ok(made < 40, `${made} MB were made`)
})

test('responses at once take turns, one in each turn of the event loop', async (t) => {
  const turns = createLoopTurns()
  const made: string[] = []
  let turn = 0
  const counting = { isOver: false }
  const count = () => {
    turn += 1
    if (!counting.isOver) setImmediate(count)
  }
  async function* pieces(name: string) {
    for (let at = 0; at < 3; at += 1) {
      made.push(`${turn} ${name}`)
      yield Buffer.from('x')
    }
  }
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const waiting = new Map<string, () => Promise<void>>()
  const { promise: areThere, resolve: begin } = Promise.withResolvers<void>()
  server.on('request', ({ url = '' }, outgoing) => {
    const name = url.slice(1)
    const owner = { key: name.charAt(0), isJob: false }
    const own = { onEnd: () => undefined, cut: () => undefined, nextTurn: () => turns.next(owner) }
    waiting.set(name, () => sendPieces(outgoing, { head: HEAD, pieces: pieces(name), out: own }))
    if (waiting.size === 3) begin()
  })
  const all = ['a1', 'a2', 'b']
  const read = all.map(async (name) => (await fetch(`http://127.0.0.1:${port}/${name}`)).text())
  await areThere
  setImmediate(count)
  await Promise.all(all.map((name) => waiting.get(name)?.()))
  assert.deepEqual(await Promise.all(read), ['xxx', 'xxx', 'xxx'])
  counting.isOver = true
  const inOrder = made.map((line) => line.split(' '))
  assert.equal(new Set(inOrder.map(([at]) => at)).size, 9, 'no two in one turn')
  const names = inOrder.map(([, name]) => name)
  assert.ok(names.lastIndexOf('b') < 6, `a line of one is not behind a line of two: ${names}`)
  t.diagnostic(names.join())
})

test('a body that fails closes the connection, and only the log says why', async (t) => {
  async function* pieces() {
    yield Buffer.from('half of')
    await new Promise(setImmediate)
    throw new Error('the disk is gone')
  }
  const { port, ended } = await serve(t, pieces)
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => {
    text += piece
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'close')
  assert.doesNotMatch(text, /disk|0\r\n\r\n/)
  assert.match(String((await ended).error), /the disk is gone/)
})

/** What a client gets for `request`, line by line. */
async function ask(
  t: TestContext,
  { status, body, own = {} }: { status: number; body: string; own?: Record<string, string> },
  request: string,
): Promise<string[]> {
  const server = createServer((_incoming, outgoing) => {
    const first: Record<string, string> = { a: '1', b: '1' }
    sendWhole(
      outgoing,
      { status, headers: [first, { b: '2', ...own }], cookies: ['c=d', 'e=f'] },
      body,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const end = `\r\n\r\n${Buffer.from(body).toString('latin1')}`
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => {
    text += piece
  })
  socket.write(request)
  while (!text.endsWith(end)) await once(socket, 'data')
  socket.destroy()
  return text.replace(/Date: [^\r]*/, 'Date: now').split('\r\n')
}

const OWN = ['a: 1', 'b: 2', 'set-cookie: c=d', 'set-cookie: e=f']
const KEPT = ['Connection: keep-alive', 'Keep-Alive: timeout=5']

test('a response has its fields in the order in which they were given, then its length', async (t) => {
  const lines = await ask(t, { status: 200, body: 'héé' }, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const sent = Buffer.from('héé').toString('latin1')
  const fields = [...OWN, 'Content-Length: 5', 'Date: now', ...KEPT]
  assert.deepEqual(lines, ['HTTP/1.1 200 OK', ...fields, '', sent])
})

test('a connection of HTTP/1.0 stays open, because the response says its length', async (t) => {
  const head = 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
  const lines = await ask(t, { status: 200, body: 'abc' }, head)
  const fields = [...OWN, 'Content-Length: 3', 'Date: now', ...KEPT]
  assert.deepEqual(lines, ['HTTP/1.1 200 OK', ...fields, '', 'abc'])
})

test('a response that gives its own length says it once', async (t) => {
  const own = { 'content-length': '3' }
  const lines = await ask(t, { status: 200, body: 'abc', own }, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.deepEqual(lines.slice(1, 6), [...OWN.slice(0, 2), 'content-length: 3', ...OWN.slice(2)])
  assert.equal(lines.filter((line) => /^content-length/i.test(line)).length, 1)
})

test('a response without a body says no length', async (t) => {
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    const request = `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`
    const lines = await ask(t, { status, body: '' }, request)
    assert.deepEqual(lines.slice(1), [...OWN, 'Date: now', ...KEPT, '', ''], `${method} ${status}`)
  }
})

/** A header field that Node refuses to send. */
const BAD = { 'x-first': '1', location: 'ű' }

test('a response with a field that cannot be sent leaves none to the one that says so', async (t) => {
  const ended: BodyEnd[] = []
  const pieces = { isLeft: false }
  async function* endless() {
    for (;;) yield Buffer.from('x')
  }
  const out = { onEnd: (end: BodyEnd) => void ended.push(end), cut: () => undefined }
  const server = createServer(({ url }, outgoing) => {
    // Node would send no body after a 304.
    const status = url === '/none' ? 304 : 302
    const head = { status, headers: [{ 'content-disposition': 'attachment' }, BAD] }
    const body = Object.assign(endless(), {
      return: async () => {
        pieces.isLeft = true
        return { done: true as const, value: undefined }
      },
    })
    assert.throws(() => {
      if (url !== '/pieces') sendWhole(outgoing, head, '')
      else void sendPieces(outgoing, { head, pieces: body, out })
    }, /ERR_INVALID_CHAR|Invalid character/)
    sendWhole(outgoing, { status: 500, headers: [{ 'content-type': 'text/plain' }] }, 'no')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  for (const path of ['whole', 'pieces', 'none']) {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`)
    assert.equal(await response.text(), 'no')
    assert.equal(`${response.status} ${response.statusText}`, '500 Internal Server Error')
    const own = [...response.headers.keys()].filter((name) => /^[clx]/.test(name))
    assert.deepEqual(own, ['connection', 'content-length', 'content-type'], path)
  }
  assert.ok(pieces.isLeft, 'nobody reads the pieces')
  assert.deepEqual(ended, [], 'the response that was sent is recorded alone')
})
