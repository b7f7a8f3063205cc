import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { createLoopTurns } from '../../../src/features/loop-turns.ts'
import { type StreamEnd, toStream } from '../../../src/http/exchange/response-stream.ts'
import { pause } from '../../pause.ts'

/** A server whose every response is that; how each ended. */
async function serve(t: TestContext, pieces: () => AsyncIterable<Uint8Array>) {
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<StreamEnd>()
  const respond = (_request: Request, { incoming }: HttpBindings) =>
    new Response(toStream(pieces(), { onEnd, cut: () => (incoming as IncomingMessage).destroy() }))
  const server = createServer(getRequestListener(respond as never))
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
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = 3
  const read = async (name: string, key: string) => {
    const owner = { key, isJob: false }
    const stream = toStream(pieces(name), {
      onEnd: () => undefined,
      cut: () => undefined,
      nextTurn: () => turns.next(owner),
    })
    await new Response(stream).text()
    left -= 1
    if (left === 0) resolve()
  }
  setImmediate(count)
  void read('a1', 'a')
  void read('a2', 'a')
  void read('b', 'b')
  await promise
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
