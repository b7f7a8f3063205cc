import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import type { DnsAnswer } from '../../../src/outbound/dns/answer.ts'
import {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
} from '../../../src/outbound/http/client.ts'
import { type Certificate, makeCertificate } from '../../fakes/certificate.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

let certificate: Certificate
let server: Server
let port: number
let handle: Handler
const sockets = new Set<Socket>()
const clients: HttpClient[] = []

before(async () => {
  certificate = makeCertificate(['here.test', 'there.test', 'rebound.test'])
  server = createServer({ ...certificate }, (request, response) => {
    sockets.add(request.socket)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => handle(request, response, Buffer.concat(chunks).toString()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

after(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

afterEach(() => {
  sockets.clear()
  for (const client of clients.splice(0)) client.closeIdle()
})

/** Names and their addresses; a list per query shows a name that is rebound. */
const zone: Record<string, string[][]> = {
  'here.test': [['127.0.0.1']],
  'there.test': [['127.0.0.1']],
  'private.test': [['10.0.0.1']],
}

function open(options: Partial<HttpClientOptions> = {}) {
  const queries: string[] = []
  const a = async (name: string): Promise<DnsAnswer<string>> => {
    const answers = zone[name]
    const count = queries.push(name)
    const records = answers?.[Math.min(count, answers.length) - 1]
    if (records === undefined) return { kind: 'nxdomain', expiresAt: 0 }
    return { kind: 'found', records, expiresAt: 0 }
  }
  const resolver = { a, aaaa: async () => ({ kind: 'nodata', expiresAt: 0 }) as const }
  const isAllowed = (address: string) => address === '127.0.0.1'
  const client = createHttpClient({ resolver, isAllowed, ca: certificate.cert, ...options })
  clients.push(client)
  return { client, queries }
}

const at = (path: string, host = 'here.test') => new URL(`https://${host}:${port}${path}`)

test('method, headers and body reach the server, and its response comes back', async () => {
  handle = ({ method, headers, url }, response, body) => {
    response.writeHead(201, { 'x-answer': 'yes' })
    response.end(JSON.stringify({ method, url, body, key: headers['x-key'], host: headers.host }))
  }
  const { client } = open()
  const headers = { 'x-key': 'secret', host: 'evil.test' }
  const result = await client.request({ url: at('/a?b'), method: 'POST', headers, body: 'grüß' })
  assert.ok(result.kind === 'response')
  assert.deepEqual([result.status, result.headers['x-answer']], [201, 'yes'])
  assert.deepEqual(JSON.parse(result.body.toString()), {
    method: 'POST',
    url: '/a?b',
    body: 'grüß',
    key: 'secret',
    host: `here.test:${port}`,
  })
})

test('a connection stays open for the next request to the same name, and not for another name', async () => {
  handle = (_request, response) => response.end('ok')
  const { client } = open()
  await client.request({ url: at('/1') })
  await client.request({ url: at('/2') })
  assert.equal(sockets.size, 1)
  await client.request({ url: at('/3', 'there.test') })
  assert.equal(sockets.size, 2)
})

test('S14: a name that is rebound to a private address is refused, although a connection is open', async () => {
  handle = (_request, response) => response.end('ok')
  zone['rebound.test'] = [['127.0.0.1'], ['10.0.0.1']]
  const { client } = open()
  const first = await client.request({ url: at('/', 'rebound.test') })
  assert.equal(first.kind, 'response')
  const second = await client.request({ url: at('/', 'rebound.test') })
  assert.equal(second.kind, 'refused')
})

test('a name is resolved once for each hop', async () => {
  handle = ({ url }, response) =>
    url === '/from' ? response.writeHead(302, { location: '/to' }).end() : response.end('there')
  const { client, queries } = open()
  const result = await client.request({ url: at('/from'), maxRedirects: 1 })
  assert.ok(result.kind === 'response')
  assert.deepEqual([result.body.toString(), result.url.pathname], ['there', '/to'])
  assert.deepEqual(queries, ['here.test', 'here.test'])
})

const badTargets = [
  'https://private.test/',
  'https://127.0.0.2/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'http://here.test/',
  'https://user@here.test/',
]
for (const location of badTargets) {
  test(`S14: a redirect to ${location} is refused`, async () => {
    handle = (_request, response) => response.writeHead(307, { location }).end()
    const { client } = open()
    const result = await client.request({ url: at('/'), maxRedirects: 3 })
    assert.equal(result.kind, 'refused')
  })
}

test('S14: redirects end at their limit, with the redirect as the response', async () => {
  let count = 0
  handle = (_request, response) => response.writeHead(302, { location: `/${++count}` }).end()
  const { client } = open()
  const result = await client.request({ url: at('/'), maxRedirects: 2 })
  assert.ok(result.kind === 'response')
  assert.deepEqual([result.status, count], [302, 3])
})

test('a 303 becomes a GET without body; a 307 keeps both; another origin gets no secrets', async () => {
  const seen: unknown[] = []
  let status = 303
  handle = ({ method, headers, url }, response, body) => {
    seen.push([method, body, headers.authorization, headers['content-type']])
    if (url !== '/') return response.end()
    const location = `https://there.test:${port}/end`
    return response.writeHead(status, { location }).end()
  }
  const { client } = open()
  const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' }
  const post = { url: at('/'), method: 'POST', headers, body: 'b', maxRedirects: 1 } as const
  await client.request(post)
  status = 307
  await client.request(post)
  assert.deepEqual(seen, [
    ['POST', 'b', 'Bearer x', 'text/plain'],
    ['GET', '', undefined, undefined],
    ['POST', 'b', 'Bearer x', 'text/plain'],
    ['POST', 'b', undefined, 'text/plain'],
  ])
})

test('a body that does not end in time is a timeout; one that is too large is another result', async () => {
  handle = ({ url }, response) => {
    if (url === '/slow') response.write('a beginning')
    else response.end(Buffer.alloc(1_001))
  }
  const { client } = open()
  const slow = await client.request({ url: at('/slow'), timeoutMs: 100 })
  assert.equal(slow.kind, 'timeout')
  const large = await client.request({ url: at('/large'), maxBodyBytes: 1_000 })
  assert.equal(large.kind, 'too large')
  const fits = await client.request({ url: at('/large'), maxBodyBytes: 1_001 })
  assert.equal(fits.kind, 'response')
})

test('S14: each hop has its own time limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  handle = ({ url }, response) => {
    const number = Number(url?.slice(1))
    t.mock.timers.tick(8_000)
    if (number < 3) response.writeHead(302, { location: `/${number + 1}` }).end()
    else response.end('done')
  }
  const { client } = open()
  const result = await client.request({ url: at('/1'), timeoutMs: 10_000, maxRedirects: 3 })
  assert.equal(result.kind, 'response')
})

test('a connection that the server has closed meanwhile is replaced', async () => {
  handle = (_request, response) => response.end('ok')
  const { client } = open()
  await client.request({ url: at('/') })
  for (const socket of sockets) socket.destroy()
  const again = await client.request({ url: at('/') })
  assert.equal(again.kind, 'response')
})

test('closing idle connections leaves an open request alone', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  handle = ({ url }, response) => (url === '/idle' ? response.end('ok') : asked.resolve(response))
  const { client } = open()
  const [first, second] = [
    client.request({ url: at('/open') }),
    client.request({ url: at('/idle') }),
  ]
  assert.equal((await second).kind, 'response')
  const response = await asked.promise
  client.closeIdle()
  response.end('late')
  const result = await first
  assert.ok(result.kind === 'response')
  assert.equal(result.body.toString(), 'late')
  await client.request({ url: at('/idle') })
  assert.equal(sockets.size, 2)
  client.closeIdle()
  await client.request({ url: at('/idle') })
  assert.equal(sockets.size, 3)
})

test('a name without an address is unreachable, and so is a port without a server', async () => {
  const { client } = open()
  const unresolved = await client.request({ url: new URL('https://nobody.test/') })
  assert.equal(unresolved.kind, 'unreachable')
  const closed = await client.request({ url: new URL('https://here.test:1/') })
  assert.equal(closed.kind, 'unreachable')
})
