import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { runInNewContext } from 'node:vm'
import supertest from 'supertest'
import { sql } from '../../../src/store/drizzle.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { startService, useService } from '../service.ts'

const { service } = useService({ http: { trustedProxies: ['127.0.0.9'] } })

test('the server listens on a free port and reports it', () => {
  assert.match(service.url, /^http:\/\/127\.0\.0\.1:[1-9]\d+$/)
})

test('/health shows all details to the operator', async () => {
  const { status, body } = await supertest(service.url).get('/health')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), [
    'status',
    'time',
    'environment',
    'uptime',
    'memoryUsage',
    'walBytes',
    'reasons',
  ])
  assert.equal(body.status, 'ok')
  assert.equal(body.environment, 'direct')
  const { rss, anonymous } = body.memoryUsage
  if (process.platform === 'linux') assert.ok(anonymous > 0 && anonymous < rss)
})

test('/health shows that the disk is full', async () => {
  const full = await startService({ isNew: true })
  try {
    const { store } = full.core
    await store.write((tx) => tx.get(sql.raw('PRAGMA max_page_count = 1')))
    const large = sql.raw('CREATE TABLE large AS SELECT randomblob(1000000) AS body')
    await assert.rejects(
      store.write((tx) => tx.run(large)),
      { code: 'DATABASE_ERROR' },
    )
    const { status, body } = await supertest(full.url).get('/health')
    assert.equal(status, 503)
    assert.equal(body.status, 'unwritable')
  } finally {
    await full.stop()
  }
})

test('/health is degraded, with reasons, while a part of the server reports trouble', async () => {
  const { health } = service.core
  health.set('dns', 'No DNS server answers.')
  const { status, body } = await supertest(service.url).get('/health')
  assert.equal(status, 200)
  assert.equal(body.status, 'degraded')
  assert.deepEqual(body.reasons, [{ cause: 'dns', reason: 'No DNS server answers.' }])
  health.set('dns', null)
  const after = await supertest(service.url).get('/health')
  assert.equal(after.body.status, 'ok')
  assert.deepEqual(after.body.reasons, [])
})

test('/health responds with 503 while the files of the database are missing', async () => {
  const { health } = service.core
  health.set('database-files', 'The file of the database was removed.')
  const { status, body } = await supertest(service.url).get('/health')
  health.set('database-files', null)
  assert.equal(status, 503)
  assert.equal(body.status, 'unwritable')
})

test('/metrics shows the counters of all parts of the server', async () => {
  service.core.counters.add('pillarbox_log_lines_suppressed_total', {}, 3)
  const { text } = await supertest(service.url).get('/metrics')
  assert.match(text, /^pillarbox_log_lines_suppressed_total 3$/m)
})

test('other callers see only the status in /health, and nothing in /metrics', async () => {
  const forwarded = { 'X-Forwarded-For': '198.51.100.7' }
  const health = await supertest(service.url).get('/health').set(forwarded)
  assert.deepEqual(Object.keys(health.body), ['status', 'time'])
  const metrics = await supertest(service.url).get('/metrics').set(forwarded)
  assert.equal(metrics.status, 401)
  assert.match(metrics.body.error.message, /http\.metrics_allow/)
})

test('/metrics counts requests by route, never by path', async () => {
  await supertest(service.url).get('/templates/abc')
  await supertest(service.url).get('/nothing-1')
  await supertest(service.url).get('/nothing-2')
  const { status, text, headers } = await supertest(service.url).get('/metrics')
  assert.equal(status, 200)
  assert.match(headers['content-type'] ?? '', /^text\/plain/)
  const counted = (route: string) =>
    `pillarbox_http_request_duration_seconds_count{method="GET",route="${route}"}`
  assert.ok(text.includes(`${counted('/templates/:id')} 1`))
  assert.ok(text.includes(`${counted('*')} 2`))
  assert.ok(!text.includes('nothing-1'))
  assert.match(text, /^pillarbox_database_wal_bytes \d+$/m)
  assert.match(text, /^process_resident_memory_bytes \d+$/m)
})

test('requests of monitors and requests for unknown paths leave no line in the request log', async () => {
  service.requests.length = 0
  await supertest(service.url).get('/health')
  await supertest(service.url).get('/metrics')
  await supertest(service.url).get('/nothing')
  await supertest(service.url).get('/templates')
  assert.equal(service.requests.length, 0)
  const { text } = await supertest(service.url).get('/metrics')
  assert.match(text, /^pillarbox_http_strangers_refused_total\{status="401"\} \d+$/m)
})

test('the documentation follows the colour scheme of the browser', async () => {
  const { text } = await supertest(service.url).get('/docs/start.js')
  assert.match(text, /prefers-color-scheme: dark/)
  const page = await supertest(service.url).get('/docs')
  assert.match(page.text, /<meta name="color-scheme" content="light dark">/)
  const css = await supertest(service.url).get('/docs/swagger-ui.css')
  assert.match(css.text, /html\.dark-mode/)
})

test('/ redirects to the documentation, which loads nothing from other hosts', async () => {
  const root = await supertest(service.url).get('/')
  assert.equal(root.status, 302)
  assert.equal(root.headers.location, '/docs')
  const page = await supertest(service.url).get('/docs')
  assert.match(page.headers['content-type'] ?? '', /^text\/html/)
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'/)
  assert.doesNotMatch(page.headers['content-security-policy'] ?? '', /unsafe|http/)
  assert.doesNotMatch(page.text, /https?:\/\//)
  const references = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(
    ([, url]) => url ?? '',
  )
  const loaded = [...page.text.matchAll(/<(?:link|script) [^>]*="\/[^"]+"/g)]
  assert.equal(loaded.length, 3)
  for (const reference of references) {
    const file = await supertest(service.url).get(reference)
    assert.equal(file.status, 200, reference)
    assert.doesNotMatch(file.headers['content-type'] ?? '', /json/)
    assert.equal(file.headers['x-content-type-options'], 'nosniff')
  }
})

test('the documentation sends calls to its own origin, for any base_url', async () => {
  const { text } = await supertest(service.url).get('/docs/start.js')
  const shown: { spec: { paths: object; servers: object[] } }[] = []
  const loaded: (() => Promise<void>)[] = []
  const classes: [string, boolean][] = []
  const page = {
    fetch: (url: string) => fetch(service.url + url),
    location: { origin: service.url },
    matchMedia: () => ({ matches: true, addEventListener: () => undefined }),
    document: {
      documentElement: {
        classList: { toggle: (name: string, isOn: boolean) => classes.push([name, isOn]) },
      },
    },
    addEventListener: (_: string, listener: () => Promise<void>) => loaded.push(listener),
    SwaggerUIBundle: (options: (typeof shown)[number]) => shown.push(options),
  }
  runInNewContext(text, page)
  assert.deepEqual(classes, [['dark-mode', true]])
  for (const listener of loaded) await listener()
  assert.deepEqual(structuredClone(shown[0]?.spec.servers), [{ url: service.url }])
  assert.ok(Object.hasOwn(shown[0]?.spec.paths ?? {}, '/v1/send'))
})

test('the documentation serves its own files and no others', async () => {
  for (const name of ['package.json', '..%2fpackage.json', '%2e%2e/package.json', 'constructor']) {
    const { status, body } = await supertest(service.url).get(`/docs/${name}`)
    assert.equal(status, 404, name)
    assert.equal(body.error.code, 'RESOURCE_NOT_FOUND')
  }
})

/** Returns the bytes that answer `request` until the connection is closed. */
async function exchangeRaw(request: string): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.write(request)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

test('a request without a valid URL is 400, in the envelope', async () => {
  const text = await exchangeRaw('GET / HTTP/1.1\r\nHost: a b<c>\r\nConnection: close\r\n\r\n')
  assert.match(text, /^HTTP\/1\.1 400 /)
  assert.match(text, /"code":"BAD_REQUEST"/)
})

test('HTTP/1.0 needs no Host header: load balancers ask /health without one', async () => {
  const text = await exchangeRaw('GET /health HTTP/1.0\r\n\r\n')
  assert.match(text, /^HTTP\/1\.1 200 /)
  assert.match(text, /"status":"ok"/)
})

test('2,000 unread responses of the documentation take the memory of one', async (t) => {
  const asset = '/docs/swagger-ui-bundle.js'
  const { text } = await supertest(service.url).get(asset).buffer()
  const answered = async (): Promise<number> => {
    const { text: metrics } = await supertest(service.url).get('/metrics')
    return Number(/route="\/docs\/:file",status="200"\} (\d+)/.exec(metrics)?.[1])
  }
  const first = await answered()
  const before = process.memoryUsage().arrayBuffers
  const assertNotGrown = () => {
    const grown = process.memoryUsage().arrayBuffers - before
    assert.ok(grown < 5 * text.length, `${grown} bytes more for ${text.length}`)
  }
  const { hostname, port } = new URL(service.url)
  const sockets = Array.from({ length: 5 }, () => connect(Number(port), hostname).pause())
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) {
    socket.write(`GET ${asset} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(2_000))
  }
  const endsAt = performance.now() + PATIENCE_MS
  while ((await answered()) < first + sockets.length) {
    assertNotGrown()
    assert.ok(performance.now() < endsAt, 'not every connection has a response')
  }
  for (let round = 0; round < 20; round += 1) await answered()
  assertNotGrown()
})

test('above http.max_connections_per_address busy connections a new one gets 429 in the envelope', async () => {
  const few = await startService({ http: { maxConnectionsPerAddress: 2 } })
  const { secret } = await few.makeProject('few')
  const busy = [await beginSend(few.url, secret), await beginSend(few.url, secret)]
  const response = await fetch(`${few.url}/health`)
  const { error } = (await response.json()) as { error: { code: string; requestId: string } }
  assert.deepEqual([response.status, error.code], [429, 'RATE_LIMIT_EXCEEDED'])
  assert.equal(response.headers.get('x-request-id'), error.requestId)
  assert.ok(Number(response.headers.get('retry-after')) > 0)
  for (const socket of busy) socket.destroy()
  await few.stop()
})

test('above http.max_connections a new one gets 503, and a trusted proxy has no limit of its own', async () => {
  const http = { maxConnections: 3, maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.1'] }
  const few = await startService({ http })
  const { secret } = await few.makeProject('few')
  const busy = [1, 2, 3].map(() => beginSend(few.url, secret))
  await Promise.all(busy)
  assert.equal((await fetch(`${few.url}/health`)).status, 503)
  for (const socket of busy) (await socket).destroy()
  await few.stop()
})

test('connections stay open for the next request', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  for (let round = 0; round < 3; round += 1) {
    const request = httpRequest(`${service.url}/health`, { agent }).end()
    const [response] = await once(request, 'response')
    ports.add(response.socket.localPort)
    response.resume()
    await once(response, 'end')
  }
  agent.destroy()
  assert.equal(ports.size, 1)
})

test('HTTPS is served with the certificate of the configuration', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-tls-'))
  const { key, cert } = makeCertificate(['localhost'])
  const tls = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') }
  await writeFile(tls.certFile, cert)
  await writeFile(tls.keyFile, key)
  const secure = await startService({ http: { tls } })
  try {
    assert.match(secure.url, /^https:/)
    const options = { ca: cert, servername: 'localhost', agent: false as const }
    const request = httpsRequest(`${secure.url}/health`, options).end()
    const [response] = await once(request, 'response')
    response.resume()
    assert.equal(response.statusCode, 200)
  } finally {
    await secure.stop()
    await rm(folder, { recursive: true })
  }
})

test('HTTPS uses a renewed certificate without a restart', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const tls = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') }
  const install = async ({ key, cert }: { key: string; cert: string }) => {
    await writeFile(tls.certFile, cert)
    await writeFile(tls.keyFile, key)
  }
  await install(makeCertificate(['localhost', 'first.test']))
  const secure = await startService({ http: { tls } })
  t.after(() => secure.stop())
  const shown = async () => {
    const port = Number(new URL(secure.url).port)
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subjectaltname = '' } = socket.getPeerCertificate()
    socket.destroy()
    return subjectaltname
  }
  assert.match(await shown(), /first\.test/)
  await install(makeCertificate(['localhost', 'second.test']))
  while ((await shown()).includes('first.test'));
  assert.match(await shown(), /second\.test/)
  assert.deepEqual(
    secure.core.certificates.list().map(({ listener }) => listener),
    ['http'],
  )
})

test('an address in use refuses the start', async () => {
  const port = Number(new URL(service.url).port)
  const listen = { host: '127.0.0.1', port, isTls: false }
  await assert.rejects(startService({ http: { listen } }), { code: 'EADDRINUSE' })
})

/** A request whose body is still to come. */
async function beginSend(url: string, secret: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const head = ['POST /v1/send HTTP/1.1', 'Host: a', `Authorization: Bearer ${secret}`]
  socket.write(`${[...head, 'Content-Length: 2', 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`)
  const [interim] = await once(socket, 'data')
  assert.match(String(interim), /^HTTP\/1\.1 100 /)
  return socket
}

test('a stop lets a running request finish and accepts no new ones', async () => {
  const stopping = await startService()
  const { secret } = await stopping.makeProject('stopping')
  const socket = await beginSend(stopping.url, secret)
  const stopped = stopping.stopHttp(10_000)
  await assert.rejects(fetch(`${stopping.url}/health`))
  const answered = once(socket, 'data')
  socket.write('{}')
  const text = String((await answered)[0])
  assert.match(text, /^HTTP\/1\.1 422 /)
  assert.match(text, /^connection: close\r$/im)
  await stopped
  await stopping.stop()
})

test('a stop does not wait forever', async () => {
  const stopping = await startService()
  const { secret } = await stopping.makeProject('stopping')
  const socket = await beginSend(stopping.url, secret)
  const closed = once(socket, 'close')
  await stopping.stopHttp(20)
  await closed
  await stopping.stop()
})

test('an announced stop closes connections after their responses, and accepts new ones', async () => {
  const stopping = await startService()
  const { secret } = await stopping.makeProject('stopping')
  const idle = connect(Number(new URL(stopping.url).port), '127.0.0.1')
  const ask = async (socket: Socket) => {
    socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
    return String((await once(socket, 'data'))[0])
  }
  assert.match(await ask(idle), /^connection: keep-alive\r$/im)
  stopping.announceStop()
  const ended = once(idle, 'end')
  assert.match(await ask(idle), /^connection: close\r$/im)
  await ended
  const other = await beginSend(stopping.url, secret)
  other.write('{}')
  assert.match(String((await once(other, 'data'))[0]), /^HTTP\/1\.1 422 /)
  await stopping.stop()
})

test("a stop waits a second for a client, and longer for the server's own work", async (t) => {
  const stopping = await startService()
  const { secret } = await stopping.makeProject('stopping')
  const { store } = stopping.core
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { write } = store
  Object.assign(store, {
    write: async (fn: Parameters<typeof write>[0]) => {
      begin()
      await isFree
      return write(fn)
    },
  })
  const headers = { authorization: `Bearer ${secret}` }
  const body = JSON.stringify({ email: 'a@dest.test', event: 'signup' })
  const tracked = fetch(`${stopping.url}/v1/track`, { method: 'POST', headers, body })
  await begun
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const slow = await beginSend(stopping.url, secret)
  const isCut = once(slow, 'close')
  const stopped = stopping.stopHttp(60_000)
  // The stop sets its timers in the next turn of the loop.
  await nextTurn()
  await nextTurn()
  t.mock.timers.tick(1_000)
  await isCut
  t.mock.timers.reset()
  free()
  assert.equal((await tracked).status, 200)
  await stopped
  await stopping.stop()
})
