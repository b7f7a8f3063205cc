import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { DnsAnswer } from '../../../src/outbound/dns/answer.ts'
import type { HttpClient, HttpRequest, HttpResult } from '../../../src/outbound/http/client.ts'
import { createWebhookClient } from '../../../src/outbound/http/clients.ts'
import { parseRetryAfter } from '../../../src/outbound/http/retry-after.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type Zone = Record<string, string[] | string[][]>

const stops: (() => unknown)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function listen(handle: Handler, host = '127.0.0.1'): Promise<number> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  stops.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

const config = {
  webhooks: { allowPrivateNetworks: false },
  http: { listen: { host: '127.0.0.1', port: 8080, isTls: false }, trustedProxies: [] as string[] },
  baseUrl: 'http://localhost:8080',
  delivery: { mode: 'sandbox' as const },
}
const listenAt = (host: string) => ({ host, port: 80, isTls: false })
const open = { ...config, webhooks: { allowPrivateNetworks: true } }
const direct = { ...config, delivery: { mode: 'direct' as const } }

/** Lists of lists answer the queries for a name one after the other. */
function openClient(settings: typeof config | typeof direct = config, zone: Zone = {}): HttpClient {
  const answer =
    (isWanted: (address: string) => boolean) =>
    async (name: string): Promise<DnsAnswer<string>> => {
      const known = zone[name] ?? []
      const [first] = known
      const addresses = Array.isArray(first) ? first : (known as string[])
      const records = addresses.filter(isWanted)
      if (records.length === 0) return { kind: 'nodata', expiresAt: 0 }
      return { kind: 'found', records, expiresAt: 0 }
    }
  const isV6 = (address: string) => address.includes(':')
  const resolver = { a: answer((address) => !isV6(address)), aaaa: answer(isV6) }
  const client = createWebhookClient({ resolver, config: settings })
  stops.push(client.closeIdle)
  return client
}

function ask(
  client: HttpClient,
  url: string,
  more: Partial<HttpRequest> = {},
): Promise<HttpResult> {
  return client.request({ url: new URL(url), cutsBody: true, ...more })
}

test('S14: an answer of 10 GB is cut off after 64 KB, its connection is closed, and its status counts', async () => {
  let sent = 0
  const closed = Promise.withResolvers<void>()
  const port = await listen((_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024)
    response.writeHead(200, { 'content-length': String(10 * 1024 ** 3) })
    const write = () => {
      while (!response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', write)
    response.on('close', closed.resolve)
    write()
  })
  const result = await ask(openClient(), `http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: '{}',
  })
  assert.ok(result.kind === 'response')
  assert.deepEqual([result.status, result.body.length, result.isCut], [200, 64 * 1024, true])
  await closed.promise
  assert.ok(sent < 64 * 1024 * 1024)
})

test('an answer of exactly 64 KB is whole', async () => {
  const port = await listen((_request, response) => response.end(Buffer.alloc(64 * 1024)))
  const result = await ask(openClient(), `http://127.0.0.1:${port}/`)
  assert.ok(result.kind === 'response')
  assert.deepEqual([result.body.length, result.isCut], [64 * 1024, false])
})

test('S24: a server that hangs, and one that drips, end at the time limit', async () => {
  const port = await listen(({ url }, response) => {
    if (url === '/hang') return
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  })
  for (const path of ['hang', 'drip']) {
    const result = await ask(openClient(), `http://127.0.0.1:${port}/${path}`, { timeoutMs: 150 })
    assert.equal(result.kind, 'timeout', path)
  }
})

test('an aborted request ends at once', async () => {
  const asked = Promise.withResolvers<void>()
  const port = await listen(() => asked.resolve())
  const aborting = new AbortController()
  const request = ask(openClient(), `http://127.0.0.1:${port}/`, { signal: aborting.signal })
  await asked.promise
  aborting.abort()
  assert.equal((await request).kind, 'aborted')
  const later = ask(openClient(), `http://127.0.0.1:${port}/`, { signal: aborting.signal })
  assert.equal((await later).kind, 'aborted')
})

test('a compressed answer is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024))
  const port = await listen((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  )
  const result = await ask(openClient(), `http://127.0.0.1:${port}/`)
  assert.ok(result.kind === 'response')
  assert.deepEqual(result.body, bomb.subarray(0, 64 * 1024))
})

for (const target of [
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fd00::1]/',
  'http://0x7f000001.test/',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
]) {
  test(`S14: a redirect to ${target} is refused, even with private networks`, async () => {
    const port = await listen((_request, response) =>
      response.writeHead(302, { location: target }).end(),
    )
    const settings = target.includes('fd00') ? config : open
    const zone = { '0x7f000001.test': ['::ffff:7f00:1'] }
    const url = `http://127.0.0.1:${port}/`
    const result = await ask(openClient(settings, zone), url, { maxRedirects: 5 })
    assert.equal(result.kind, 'refused')
  })
}

test('S14: a name that is rebound to ::ffff:127.0.0.1 is refused, although a connection to it is kept', async () => {
  let asked = 0
  const port = await listen((_request, response) => {
    asked += 1
    response.end('ok')
  })
  const answers = [['127.0.0.1'], ['::ffff:127.0.0.1']]
  const resolver = {
    a: async (): Promise<DnsAnswer<string>> => {
      const records = answers.shift() ?? []
      return { kind: 'found', records, expiresAt: 0 }
    },
    aaaa: async () => ({ kind: 'nodata', expiresAt: 0 }) as const,
  }
  const client = createWebhookClient({ resolver, config })
  stops.push(client.closeIdle)
  const url = `http://rebound.test:${port}/`
  assert.equal((await ask(client, url)).kind, 'response')
  assert.equal((await ask(client, url)).kind, 'refused')
  assert.equal(asked, 1)
})

test('S14: a redirect to a private address of a name is refused; five redirects are followed and a sixth is not', async () => {
  let count = 0
  const port = await listen(({ url }, response) => {
    if (url !== '/in') count += 1
    const location = url === '/in' ? 'http://inner.test/' : `/${count}`
    response.writeHead(307, { location }).end()
  })
  const client = openClient(config, { 'inner.test': ['10.0.0.1'] })
  const inner = await ask(client, `http://127.0.0.1:${port}/in`, { maxRedirects: 5 })
  assert.equal(inner.kind, 'refused')
  const many = await ask(client, `http://127.0.0.1:${port}/`, { maxRedirects: 5 })
  assert.ok(many.kind === 'response')
  assert.deepEqual([many.status, count], [307, 6])
})

test('another origin gets no credentials and no signature; the same one gets all', async () => {
  const seen: IncomingMessage['headers'][] = []
  const other = await listen(({ headers }, response) => {
    seen.push(headers)
    response.end()
  })
  const port = await listen(({ headers, url }, response) => {
    seen.push(headers)
    const location = url === '/' ? '/next' : `http://127.0.0.1:${other}/`
    response.writeHead(308, { location }).end()
  })
  const secret = {
    ...{ authorization: 'Bearer x', cookie: 'a=b', 'proxy-authorization': 'y' },
    ...{ 'x-api-key': 'z', 'webhook-signature': 'v1,s' },
  }
  const headers = { ...secret, 'content-type': 'application/json', 'webhook-id': 'i' }
  const request = { method: 'POST', headers, body: '{}', maxRedirects: 5 } as const
  await ask(openClient(), `http://127.0.0.1:${port}/`, request)
  const given = seen.map((each) => Object.keys(secret).filter((name) => name in each).length)
  assert.deepEqual(given, [5, 5, 0])
  assert.equal(seen[2]?.['content-type'], 'application/json')
  assert.equal(seen[2]?.['webhook-id'], undefined)
})

test('a GET after a redirect has neither body nor signature', async () => {
  const seen: [string | undefined, string, unknown][] = []
  const port = await listen(async (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    await once(request, 'end')
    seen.push([request.method, body, request.headers['webhook-signature']])
    if (seen.length > 1) response.end()
    else response.writeHead(303, { location: '/next' }).end()
  })
  const headers = { 'webhook-signature': 'v1,s' }
  const request = { method: 'POST', headers, body: '{}', maxRedirects: 5 } as const
  await ask(openClient(), `http://127.0.0.1:${port}/`, request)
  assert.deepEqual(seen, [
    ['POST', '{}', 'v1,s'],
    ['GET', '', undefined],
  ])
})

test('headers that frame a request cannot be given', async () => {
  const seen: IncomingMessage['headers'][] = []
  const port = await listen(({ headers }, response) => {
    seen.push(headers)
    response.end()
  })
  const headers = { 'Transfer-Encoding': 'chunked', Host: 'evil', 'Content-Length': '99' }
  const url = `http://127.0.0.1:${port}/`
  await ask(openClient(), url, { method: 'POST', headers, body: '{}' })
  const [got] = seen
  assert.deepEqual(
    [got?.['transfer-encoding'], got?.host, got?.['content-length']],
    [undefined, `127.0.0.1:${port}`, '2'],
  )
})

test('a stale connection is replaced, for a POST too if the server knows it by its id', async () => {
  let isFirst = true
  const port = await listen((request, response) => {
    response.end('ok')
    if (isFirst) response.on('finish', () => setImmediate(() => request.socket.destroy()))
    isFirst = false
  })
  const client = openClient()
  const request = { method: 'POST', body: '{}', isRepeatable: true } as const
  const url = `http://127.0.0.1:${port}/`
  assert.equal((await ask(client, url, request)).kind, 'response')
  assert.equal((await ask(client, url, request)).kind, 'response')
})

test('localhost is loopback, and its second address is tried if the first has no server', async (t) => {
  const port = await listen((_request, response) => response.end('six'), '::1').catch(() => 0)
  if (port === 0) return t.skip('this machine has no ::1')
  const result = await ask(openClient(), `http://localhost:${port}/`)
  assert.ok(result.kind === 'response')
  assert.equal(result.body.toString(), 'six')
})

test('the time limit counts at the second address, too', async (t) => {
  const port = await listen(() => undefined, '::1').catch(() => 0)
  if (port === 0) return t.skip('this machine has no ::1')
  const limited = { timeoutMs: 300 }
  const result = await ask(openClient(), `http://localhost:${port}/`, limited)
  assert.equal(result.kind, 'timeout')
})

test('a header keeps its place and gets its last value, and none is sent twice', async () => {
  const port = await listen(({ rawHeaders }, response) => response.end(rawHeaders.join('|')))
  const headers = { 'X-A': '1', Accept: 'text/plain', 'x-a': '2' }
  const lines = async (request: Partial<HttpRequest>) => {
    const result = await ask(openClient(), `http://127.0.0.1:${port}/`, { headers, ...request })
    return result.kind === 'response' ? result.body.toString().split('|') : []
  }
  const given = ['Accept', 'text/plain', 'x-a', '2']
  const host = ['host', `127.0.0.1:${port}`, 'Connection', 'keep-alive']
  assert.deepEqual(await lines({}), [...given, ...host])
  const post = { method: 'POST', body: 'ä' } as const
  assert.deepEqual(await lines(post), [...given, 'content-length', '2', ...host])
  const empty = await lines({ method: 'POST' })
  assert.deepEqual(empty, [...given, ...host, 'Content-Length', '0'])
})

const targets: [string, typeof config | typeof direct, boolean][] = [
  ['http://127.0.0.1/', config, true],
  ['http://localhost/', config, true],
  ['http://[::1]/', config, true],
  ['http://10.0.0.1/', config, false],
  ['http://[::ffff:127.0.0.1]/', config, false],
  ['http://127.0.0.1/', direct, false],
  ['http://localhost/', direct, false],
  ['http://10.0.0.1/', open, true],
  ['http://192.168.1.1/', open, true],
  ['http://[fd00::1]/', open, true],
  ['http://169.254.169.254/', open, false],
  ['http://[64:ff9b::a00:1]/', open, false],
  ['http://0.0.0.0/', open, false],
  ['https://8.8.8.8/', direct, true],
  ['https://example.com/', direct, true],
  ['https://user@example.com/', direct, false],
  ['ftp://example.com/', direct, false],
]
for (const [url, settings, isAllowed] of targets) {
  const mode = settings === open ? 'with private networks' : `in ${settings.delivery.mode} mode`
  test(`${url} ${mode} ${isAllowed ? 'may' : 'may not'} be requested`, () => {
    assert.equal(openClient(settings).mayRequest(new URL(url)), isAllowed)
  })
}

const reached: [string, Partial<typeof config>][] = [
  ['listens on other addresses', { http: { ...config.http, listen: listenAt('0.0.0.0') } }],
  ['listens on all IPv6 addresses', { http: { ...config.http, listen: listenAt('::') } }],
  ['has trusted proxies', { http: { ...config.http, trustedProxies: ['loopback'] } }],
  ['has a public base_url', { baseUrl: 'https://mail.example.test' }],
  ['has the base_url of a network', { baseUrl: 'http://192.168.1.2:8080' }],
]
for (const [what, settings] of reached) {
  test(`S14: loopback is not reached by a sandbox that ${what}`, async () => {
    const client = openClient({ ...config, ...settings }, { 'here.test': ['127.0.0.1'] })
    for (const url of ['http://127.0.0.1/', 'http://localhost/', 'http://[::1]/']) {
      assert.equal(client.mayRequest(new URL(url)), false)
      assert.equal((await ask(client, url)).kind, 'refused')
    }
    assert.equal((await ask(client, 'http://here.test/')).kind, 'refused')
  })
}

test('loopback is reached by a sandbox with any loopback base_url', () => {
  for (const baseUrl of ['http://127.0.0.1:8080', 'http://[::1]:8080', 'https://a.localhost']) {
    const client = openClient({ ...config, baseUrl })
    assert.equal(client.mayRequest(new URL('http://127.0.0.1/')), true)
  }
})

const now = Date.parse('2026-11-21T12:00:00Z')
const waits: [string | undefined, number | null][] = [
  ['120', 120_000],
  ['0', 0],
  [' 5 ', 5_000],
  ['99999999', 86_400_000],
  ['Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['Mon, 21 Nov 2050 11:00:00 GMT', 86_400_000],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['2026-11-21', null],
  ['', null],
  [undefined, null],
]
for (const [text, waitMs] of waits) {
  test(`Retry-After: ${text} is a wait of ${waitMs} ms`, () => {
    assert.equal(parseRetryAfter(text, now), waitMs)
  })
}
