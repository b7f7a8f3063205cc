import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { createRequestPipelines } from '../../../src/http/server/pipelined-requests.ts'
import { makeCertificate } from '../../fakes/certificate.ts'

type Options = { tls?: { key: string; cert: string } }

/** A server whose requests are counted as they are parsed and as they begin. */
async function listen(t: TestContext, answer: RequestListener, { tls }: Options = {}) {
  const seen = { parsed: 0, begun: [] as string[], atOnce: 0 }
  let inHand = 0
  const pipelines = createRequestPipelines((incoming, outgoing) => {
    seen.begun.push(incoming.url ?? '')
    inHand += 1
    seen.atOnce = Math.max(seen.atOnce, inHand)
    outgoing.prependOnceListener('close', () => {
      inHand -= 1
    })
    answer(incoming, outgoing)
  })
  const server = tls ? createTlsServer(tls, pipelines.listener) : createServer(pipelines.listener)
  server.on('request', () => {
    seen.parsed += 1
  })
  pipelines.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, port: (server.address() as AddressInfo).port }
}

const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

/** Returns the bytes until the connection is closed. */
async function hear(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

/** Until nothing has been parsed for a while of pipelines. */
async function settled(seen: { parsed: number }): Promise<void> {
  for (let quiet = 0, last = -1; quiet < 200 || seen.parsed === 0; quiet += 1) {
    if (seen.parsed !== last) quiet = 0
    last = seen.parsed
    await new Promise(setImmediate)
  }
}

const smallest = 'GET / HTTP/1.1\r\nHost:\r\n\r\n'

for (const [after, first, most] of [
  ['one that is whole', '', 1],
  ['empty lines', '\r\n'.repeat(50_000), 1],
  // And what fits into the piece in which the body ends.
  ['a body', `${ask('/', 'Content-Length: 4\r\n')}\r\n\r\n`, 1 + Math.ceil(512 / smallest.length)],
] as const) {
  test(`no more of thousands of requests behind ${after} are parsed while the first has no response`, async (t) => {
    const { seen, port } = await listen(t, () => undefined)
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(first + smallest.repeat(20_000))
    await settled(seen)
    assert.ok(seen.parsed <= most, `${seen.parsed} were parsed`)
    assert.equal(seen.begun.length, 1)
  })
}

for (const tls of [undefined, makeCertificate(['localhost'])]) {
  const where = tls === undefined ? 'in clear' : 'over TLS'
  test(`2,000 requests sent at once ${where} get responses in order, one at a time`, async (t) => {
    const { seen, port } = await listen(
      t,
      ({ url }, outgoing) => void setImmediate(() => outgoing.end(`<${url}>`)),
      tls === undefined ? {} : { tls },
    )
    const socket =
      tls === undefined
        ? connect(port, '127.0.0.1')
        : connectTls({ port, host: '127.0.0.1', ca: tls.cert, servername: 'localhost' })
    const paths = Array.from({ length: 2_000 }, (_, n) => `/${n}`)
    socket.write(paths.map((path) => ask(path)).join('') + ask('/end', 'Connection: close\r\n'))
    const text = await hear(socket)
    const answered = [...text.matchAll(/<(\/\w+)>/g)].map(([, path]) => path)
    assert.deepEqual(answered, [...paths, '/end'])
    assert.equal(seen.atOnce, 1)
  })
}

test('a connection with thousands of requests delays others by one request at most', async (t) => {
  const order: string[] = []
  const { port } = await listen(t, ({ url = '' }, outgoing) => {
    order.push(url)
    outgoing.end('<>')
  })
  const greedy = connect(port, '127.0.0.1').resume()
  t.after(() => greedy.destroy())
  greedy.write(ask('/greedy').repeat(3_000))
  await once(greedy, 'ready')
  const modest = connect(port, '127.0.0.1').resume()
  t.after(() => modest.destroy())
  const rounds = 5
  for (let round = 0; round < rounds; round += 1) {
    modest.write(ask('/modest'))
    await once(modest, 'data')
  }
  const last = order.lastIndexOf('/modest')
  assert.equal(order.filter((url) => url === '/modest').length, rounds)
  assert.ok(last < 1_000, `${last} requests came before the fifth of another connection`)
})

test('a connection gets no more than one response in a turn of the event loop', async (t) => {
  let inTurn = 0
  let most = 0
  const { seen, port } = await listen(t, (_incoming, outgoing) => {
    inTurn += 1
    most = Math.max(most, inTurn)
    outgoing.end('<>')
  })
  const socket = connect(port, '127.0.0.1').resume()
  const closed = once(socket, 'close')
  socket.write(ask('/').repeat(3_000) + ask('/', 'Connection: close\r\n'))
  let isOver = false
  closed.then(() => (isOver = true))
  while (!isOver) {
    await new Promise(setImmediate)
    inTurn = 0
  }
  assert.equal(seen.begun.length, 3_001)
  assert.ok(most <= 2, `${most} in one turn`)
})

test('bodies of any content between requests arrive complete', async (t) => {
  const { port } = await listen(t, async (incoming, outgoing) => {
    const pieces = await Array.fromAsync(incoming as AsyncIterable<Buffer>)
    outgoing.end(`<${Buffer.concat(pieces).length}>`)
  })
  const sizes = [0, 3, 100_000, 1, 4095, 4096, 4097, 300_000]
  const post = (size: number) => {
    const body = 'a\r\n\r\nGET / HTTP/1.1\r\n\r\n'.repeat(20_000).slice(0, size)
    return `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${body}`
  }
  const socket = connect(port, '127.0.0.1')
  socket.write(sizes.map(post).join('') + ask('/', 'Connection: close\r\n'))
  const answered = [...(await hear(socket)).matchAll(/<(\d+)>/g)].map(([, size]) => Number(size))
  assert.deepEqual(answered, [...sizes, 0])
})

test('requests that arrive byte by byte get responses', async (t) => {
  const { port } = await listen(t, ({ url }, outgoing) => outgoing.end(`<${url}>`))
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const received = hear(socket)
  for (const byte of ask('/a') + ask('/b', 'Connection: close\r\n')) {
    await new Promise((written) => socket.write(byte, written))
  }
  assert.match(await received, /<\/a>.*<\/b>/s)
})

test('while a client reads nothing only one of its responses is in memory', async (t) => {
  const large = Buffer.alloc(8 * 1024 * 1024)
  const { seen, port } = await listen(t, (_incoming, outgoing) => outgoing.end(large))
  const socket = connect(port, '127.0.0.1').pause()
  t.after(() => socket.destroy())
  socket.write(ask('/').repeat(2_000))
  await settled(seen)
  assert.equal(seen.begun.length, 1)
})

test('waiting requests of a closed connection never begin', async (t) => {
  const { promise: isGone, resolve } = Promise.withResolvers<void>()
  const { seen, port } = await listen(t, ({ socket }) => void socket.once('close', resolve))
  const socket = connect(port, '127.0.0.1')
  socket.write(ask('/').repeat(10))
  await settled(seen)
  socket.resetAndDestroy()
  await isGone
  await settled(seen)
  assert.deepEqual(seen.begun, ['/'])
})

for (const name of ['plain', 'TLS']) {
  test(`requests behind a response that ends its connection never begin: ${name}`, async (t) => {
    const tls = name === 'TLS' ? makeCertificate(['localhost']) : undefined
    const { port, seen } = await listen(
      t,
      (incoming, outgoing) => {
        outgoing.shouldKeepAlive = false
        incoming.resume().on('end', () => outgoing.end('one'))
      },
      tls === undefined ? {} : { tls },
    )
    const socket =
      tls === undefined
        ? connect(port, '127.0.0.1')
        : connectTls({ port, host: '127.0.0.1', ca: tls.cert, servername: 'localhost' })
    const first = 'POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na'
    socket.write(first + ask('/second'))
    assert.match(await hear(socket), /one$/)
    await settled(seen)
    assert.equal(seen.parsed, 2)
    assert.deepEqual(seen.begun, ['/first'])
  })
}
