import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createProviderFetch } from '../../../src/features/tenancy/accounts/oauth/provider-fetch.ts'
import { createStripe } from '../../../src/features/tenancy/billing/stripe.ts'
import type { DnsAnswer } from '../../../src/outbound/dns/answer.ts'
import { createHttpClient } from '../../../src/outbound/http/client.ts'
import { createPublicFetch, createWebhookClient } from '../../../src/outbound/http/clients.ts'
import { createProbes } from '../../../src/outbound/probe/probes.ts'
import { readSources } from '../../architecture-rules.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const INTERIM = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

type Peer = { begin?: string; again: string }

/** Each goes on as long as it is read. */
const floods: Record<string, Peer> = {
  'interim responses': { again: INTERIM },
  'interim responses 100': { again: 'HTTP/1.1 100 Continue\r\n\r\n' },
  'interim responses 101 without a protocol': { again: 'HTTP/1.1 101 Switching\r\n\r\n' },
  'ten interim responses, then header fields': {
    begin: INTERIM.repeat(10) + OK,
    again: `x: ${'a'.repeat(1_000)}\r\n`,
  },
  'large interim responses': {
    again: `HTTP/1.1 103 Early Hints\r\nx: ${'a'.repeat(15_000)}\r\n\r\n`,
  },
  'header fields': { begin: OK, again: 'x: y\r\n' },
  'one header field': { begin: `${OK}x: `, again: 'a'.repeat(1_000) },
  'a status line': { begin: 'HTTP/1.1 200 ', again: 'a'.repeat(1_000) },
  trailers: { begin: `${CHUNKED}1\r\na\r\n0\r\n`, again: 'x: y\r\n' },
  'chunk extensions': { begin: CHUNKED, again: `1;${'a'.repeat(10_000)}\r\na\r\n` },
  'a chunk extension': { begin: `${CHUNKED}1;`, again: 'a'.repeat(1_000) },
  'leading zeros of a chunk': { begin: CHUNKED, again: '0'.repeat(1_000) },
  'empty lines': { again: '\r\n'.repeat(500) },
}

/** Returns the port, and how many octets each connection took. */
async function listen(t: TestContext, { begin = '', again }: Peer) {
  const sent: number[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const index = sent.push(0) - 1
    const piece = again.repeat(Math.ceil(16_384 / again.length))
    const write = () => {
      while (socket.writable && socket.write(piece)) sent[index]! += piece.length
    }
    socket.once('data', () => {
      socket.write(begin)
      write()
    })
    socket.on('drain', write).on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const closed = async () => {
    for (const socket of sockets) {
      // Not `once` of events, which an ECONNRESET would reject.
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
    }
  }
  return { port: (server.address() as AddressInfo).port, sent, sockets, closed }
}

const none = async () => ({ kind: 'nodata', expiresAt: 0 }) as const
const resolver = { a: none, aaaa: none }
const local = {
  webhooks: { allowPrivateNetworks: true },
  http: { listen: { host: '127.0.0.1', port: 8080, isTls: false }, trustedProxies: [] },
  baseUrl: 'http://127.0.0.1:8080',
  delivery: { mode: 'direct' as const },
}

for (const [name, peer] of Object.entries(floods)) {
  test(`S35: a server that sends ${name} without end is left, as if it were unreachable`, async (t) => {
    const { port, sent, closed } = await listen(t, peer)
    // No time ends this exchange: a limit does.
    const client = createHttpClient({
      ...{ resolver, isAllowed: () => true, allowsHttp: true, timeoutMs: 2 ** 31 - 1 },
    })
    for (const cutsBody of [true, false]) {
      const result = await client.request({ url: new URL(`http://127.0.0.1:${port}/`), cutsBody })
      assert.ok(['flood', 'unreachable'].includes(result.kind), JSON.stringify(result))
    }
    await closed()
    // What the system's buffers hold comes on top of what the client took.
    for (const bytes of sent) assert.ok(bytes < 16_000_000, String(bytes))
  })
}

/** A server with these connections, and a client that may reach it. */
async function startPair(t: TestContext, onConnection: (socket: Socket) => void) {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = createHttpClient({ resolver, isAllowed: () => true, allowsHttp: true })
  t.after(() => {
    client.closeIdle()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, client, url: new URL(`http://127.0.0.1:${port}/`) }
}

const LARGE = `HTTP/1.1 103 Early Hints\r\nx: ${'a'.repeat(15_000)}\r\n\r\n`
const PADDED = `HTTP/1.1 103 Early Hints\r\nx:${' '.repeat(15_000)}a\r\n\r\n`
const ANSWER = `${OK}content-length: 2\r\n\r\nok`
/** An answer of 65,536 octets of heads; each blank is one more. */
const AT_LIMIT = (blanks: number) => {
  const head = `${OK}content-length: 2\r\n\r\n`
  const begin = LARGE.repeat(4)
  const rest = 65_536 - begin.length - head.length + blanks
  return `${begin}HTTP/1.1 100 ${'c'.repeat(rest - 17)}\r\n\r\n${head}ok`
}

const bursts: [name: string, text: string, isFlood: boolean][] = [
  ['eleven interim responses', INTERIM.repeat(11) + ANSWER, true],
  ['five large interim responses', LARGE.repeat(5) + ANSWER, true],
  ['five interim responses full of white space', PADDED.repeat(5) + ANSWER, true],
  ['empty lines', '\r\n'.repeat(32_769) + ANSWER, true],
  ['heads of one octet too much', AT_LIMIT(1), true],
  ['heads of 64 KB', AT_LIMIT(0), false],
  [
    'a large head of an answer with a body of 100 KB',
    `${LARGE}${OK}content-length: 100000\r\n\r\n${'a'.repeat(100_000)}`,
    false,
  ],
]

for (const [name, text, isFlood] of bursts) {
  test(`S35: in front of an answer, ${name} count alike in whatever pieces they come`, async (t) => {
    for (const size of [1_000_000, 16_384, 1_009]) {
      const { client, url } = await startPair(t, async (socket) => {
        socket.setNoDelay(true).on('error', () => undefined)
        await once(socket, 'data')
        for (let at = 0; at < text.length && socket.writable; at += size) {
          const piece = text.slice(at, at + size)
          await new Promise((resolve) => socket.write(piece, resolve))
        }
      })
      const result = await client.request({ url, maxBodyBytes: 200_000 })
      assert.equal(
        result.kind,
        isFlood ? 'flood' : 'response',
        `${size}: ${JSON.stringify(result)}`,
      )
    }
  })
}

test('S35: ten interim responses and a long head are no flood, and the connection stays', async (t) => {
  const head = `${INTERIM.repeat(10)}${OK}x: ${'a'.repeat(10_000)}\r\ncontent-length: 2\r\n\r\nok`
  const { server, client, url } = await startPair(t, (socket) => {
    socket.on('data', () => socket.write(head))
  })
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  // The limits are those of one exchange, not of its connection.
  for (let turn = 0; turn < 20; turn += 1) {
    const result = await client.request({ url })
    assert.ok(result.kind === 'response', JSON.stringify(result))
    assert.equal(result.body.toString(), 'ok')
  }
  assert.equal(connections, 1)
})

test('a body in chunks of one octet arrives whole', async (t) => {
  const size = 20_000
  const { client, url } = await startPair(t, (socket) => {
    socket.once('data', () => socket.write(`${CHUNKED}${'1\r\na\r\n'.repeat(size)}0\r\n\r\n`))
  })
  const result = await client.request({ url })
  assert.ok(result.kind === 'response', JSON.stringify(result))
  assert.equal(result.body.toString(), 'a'.repeat(size))
})

/** Every client of the program, asked for a URL. Each settles, and none takes the flood for an answer. */
const clients: Record<string, (url: string) => Promise<unknown>> = {
  'webhooks and steps': (url) => {
    const client = createWebhookClient({ resolver, config: local })
    return client.request({ url: new URL(url), method: 'POST', body: '{}', cutsBody: true })
  },
  'policies of domains and certificates of notifications': (url) =>
    createPublicFetch({ resolver, isAllowed: () => true, allowsHttp: true })(new URL(url)),
  'providers of accounts': (url) =>
    createProviderFetch({ resolver })
      .fetch(url, { method: 'GET', headers: {}, body: null, redirect: 'manual' } as never)
      .catch((error: Error) => ({ kind: 'flood', error: error.message })),
  'the payment provider': (url) => {
    const billing = {
      ...{ stripeSecretKey: 'sk_test_a', stripeWebhookSecret: 'whsec_a', stripePrice: 'price_a' },
      ...{ stripeMeterEvent: 'a', stripeApiBase: url, freeEmails: 0 },
    }
    return createStripe(billing, { now: Date.now, resolver })
      .call((stripe) => stripe.customers.retrieve('cus_a'))
      .catch((error: Error & { kind: string }) => {
        assert.equal(error.kind, 'unanswered')
        return { kind: 'flood', error: String((error.cause as Error).message) }
      })
  },
  checks: (url) =>
    createProbes({ resolver: resolver as never, now: Date.now }).request({ url: new URL(url) }),
}

for (const [name, ask] of Object.entries(clients)) {
  test(`S35: the client of ${name} leaves a server that floods it`, async (t) => {
    const { port, closed } = await listen(t, { again: INTERIM })
    const result = (await ask(`http://127.0.0.1:${port}/`)) as { error: string }
    assert.match(result.error, /interim responses/)
    await closed()
  })
}

test('S35: no file beside the one client makes requests', () => {
  const makers = [...readSources()].filter(([, text]) => {
    const imported = /^import \{([^}]*)\} from 'node:https?'/gm
    const names = [...text.matchAll(imported)].flatMap(([, list = '']) =>
      list.split(',').map((each) => each.trim()),
    )
    const isOwn = names.some((each) => /^(request|get|Agent|ClientRequest)\b/.test(each))
    const isOther = /from '(node:http2|undici|axios|got|node-fetch)'|createNodeHttpClient\(/.test(
      text,
    )
    const isGlobal = /(?<![.\w'`])(?:await |return |= )fetch\(['"`]?https?:|globalThis\.fetch/.test(
      text,
    )
    return isOwn || isOther || isGlobal
  })
  const files = makers.map(([file]) => file).sort()
  assert.deepEqual(files, ['outbound/http/client.ts', 'outbound/http/exchange.ts'])
})

test('the time of a hop begins before its name is resolved', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  const found = Promise.withResolvers<DnsAnswer<string>>()
  const slow = {
    a: (name: string) => {
      asked.push(name)
      return found.promise
    },
    aaaa: none,
  }
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = createWebhookClient({ resolver: slow, config: local })
  const url = new URL(`http://slow.test:${port}/`)
  const endless = client.request({ url })
  t.mock.timers.tick(10_000)
  assert.deepEqual((await endless).kind, 'timeout')
  const silent = client.request({ url })
  t.mock.timers.tick(6_000)
  const connected = once(server, 'connection')
  found.resolve({ kind: 'found', records: ['127.0.0.1'], expiresAt: 0 })
  const [socket] = (await connected) as [Socket]
  await once(socket, 'data')
  t.mock.timers.tick(4_000)
  assert.equal((await silent).kind, 'timeout')
  const caller = new AbortController()
  const never = { a: () => new Promise<never>(() => undefined), aaaa: none }
  const left = createWebhookClient({ resolver: never, config: local }).request({
    ...{ url, signal: caller.signal },
  })
  await setImmediate()
  caller.abort()
  assert.equal((await left).kind, 'aborted')
  assert.equal(asked.length, 2)
})
