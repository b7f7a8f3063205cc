import assert from 'node:assert/strict'
import { createServer as createTlsServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createServer } from 'node:tls'
import { createResolver, type Resolver } from '../../../src/outbound/dns/resolver.ts'
import { createPublicFetch, type PublicFetchOptions } from '../../../src/outbound/http/clients.ts'
import { type Certificate, makeCertificate } from '../../fakes/certificate.ts'
import { type FakeDns, startDnsServer } from '../../fakes/dns-server.ts'
import { PATIENCE_MS } from '../../patience.ts'

let dns: FakeDns
let resolver: Resolver
let certificate: Certificate
let server: Server
let port: number
const seen: { host: string | undefined; url: string | undefined }[] = []

before(async () => {
  dns = await startDnsServer({ 'here.test': { A: ['127.0.0.1'] } })
  resolver = openResolver()
  certificate = makeCertificate(['here.test'])
  server = createTlsServer({ ...certificate }, (request, response) => {
    seen.push({ host: request.headers.host, url: request.url })
    if (request.url === '/redirect') {
      response.writeHead(302, { location: 'https://127.0.0.1/secret' }).end()
    } else if (request.url === '/large') response.end(Buffer.alloc(2_000))
    else if (request.url === '/slow') response.write('a beginning')
    else response.end(`you asked ${request.url}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

after(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  resolver.stop()
  await dns.stop()
})

/** No question stays without an answer, so none may come too late. */
function openResolver(): Resolver {
  const times = { timeoutMs: PATIENCE_MS, tries: 1 }
  return createResolver({ servers: [dns.address], now: Date.now, ...times })
}

const ask = (url: string, change: Partial<PublicFetchOptions> = {}) =>
  createPublicFetch({ resolver, ca: certificate.cert, isAllowed: () => true, ...change })(
    new URL(url),
  )

test('a page is requested at the address of its name, with its name as Host', async () => {
  const answer = await ask(`https://here.test:${port}/a?b=c`)
  assert.ok(answer.ok)
  assert.deepEqual([answer.status, answer.body.toString()], [200, 'you asked /a?b=c'])
  assert.deepEqual(seen.at(-1), { host: `here.test:${port}`, url: '/a?b=c' })
})

const internal: [string, { A?: string[]; AAAA?: string[] }][] = [
  ['loopback', { A: ['127.0.0.1'] }],
  ['all of 127/8', { A: ['127.8.8.8'] }],
  ['this network', { A: ['0.0.0.0'] }],
  ['10/8', { A: ['10.1.2.3'] }],
  ['172.16/12', { A: ['172.31.255.255'] }],
  ['192.168/16', { A: ['192.168.1.1'] }],
  ['link-local and cloud metadata', { A: ['169.254.169.254'] }],
  ['carrier-grade NAT', { A: ['100.64.0.1'] }],
  ['multicast', { A: ['224.0.0.1'] }],
  ['IPv6 loopback', { AAAA: ['::1'] }],
  ['IPv6 link-local', { AAAA: ['fe80::1'] }],
  ['IPv6 unique local', { AAAA: ['fd00::1'] }],
  ['mapped IPv4', { AAAA: ['::ffff:127.0.0.1'] }],
  ['NAT64', { AAAA: ['64:ff9b::7f00:1'] }],
  ['local NAT64', { AAAA: ['64:ff9b:1::7f00:1'] }],
  ['6to4', { AAAA: ['2002:7f00:1::1'] }],
  ['Teredo', { AAAA: ['2001:0:7f00:1::1'] }],
  ['one public and one private', { A: ['198.41.0.4', '10.0.0.1'] }],
  ['public IPv4 and private IPv6', { A: ['198.41.0.4'], AAAA: ['::1'] }],
]

for (const [what, records] of internal) {
  test(`S14: a name with an address of ${what} is not requested`, async () => {
    dns.set('inner.test', { ...records, ttl: 0 })
    const fresh = openResolver()
    const answer = await createPublicFetch({ resolver: fresh })(new URL('https://inner.test/'))
    fresh.stop()
    assert.ok(!answer.ok)
    assert.equal(answer.isRefused, true)
    assert.match(answer.error, /^inner\.test has the address /)
  })
}

const literals = [
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fe80::1]/',
]

for (const url of literals) {
  test(`${url} is not asked`, async () => {
    const answer = await createPublicFetch({ resolver })(new URL(url))
    assert.deepEqual([answer.ok, !answer.ok && answer.isRefused], [false, true])
  })
}

for (const url of ['http://here.test/', 'https://user@here.test/', 'https://:word@here.test/']) {
  test(`${url} is not asked`, async () => {
    const asked = dns.queries.length
    const answer = await ask(url)
    assert.deepEqual([answer.ok, !answer.ok && answer.isRefused], [false, true])
    assert.equal(dns.queries.length, asked)
  })
}

test('S14: the name is resolved once, so that a second DNS response cannot redirect the request', async () => {
  let asked = 0
  const rebinding: PublicFetchOptions['resolver'] = {
    a: async () => {
      asked += 1
      const records = asked === 1 ? ['127.0.0.1'] : ['10.0.0.1']
      return { kind: 'found', records, expiresAt: 0 }
    },
    aaaa: async () => ({ kind: 'nodata', expiresAt: 0 }),
  }
  const isAllowed = (address: string) => address === '127.0.0.1'
  const answer = await ask(`https://here.test:${port}/`, { resolver: rebinding, isAllowed })
  assert.equal(answer.ok, true)
  assert.equal(asked, 1)
})

test('a redirect is an ordinary response and is not followed', async () => {
  const before = seen.length
  const answer = await ask(`https://here.test:${port}/redirect`)
  assert.ok(answer.ok)
  assert.equal(answer.status, 302)
  assert.equal(seen.length, before + 1)
})

test('a name without an address and a silent resolver are temporary failures', async () => {
  dns.set('mute.test', 'SERVFAIL')
  for (const name of ['nobody.test', 'mute.test']) {
    const answer = await ask(`https://${name}/`)
    assert.deepEqual([answer.ok, !answer.ok && answer.isRefused], [false, false])
  }
})

test('a certificate of another name is not accepted', async () => {
  dns.set('other.test', { A: ['127.0.0.1'] })
  const answer = await ask(`https://other.test:${port}/`)
  assert.ok(!answer.ok)
  assert.equal(answer.isRefused, false)
  assert.match(answer.error, /other\.test/)
})

test('a certificate without a trusted authority is not accepted', async () => {
  const answer = await createPublicFetch({ resolver, isAllowed: () => true })(
    new URL(`https://here.test:${port}/`),
  )
  assert.ok(!answer.ok)
  assert.match(answer.error, /self-signed/)
})

test('a response that is too large is refused', async () => {
  const answer = await ask(`https://here.test:${port}/large`, { maxBodyBytes: 1_999 })
  assert.ok(!answer.ok)
  assert.match(answer.error, /too large/)
  assert.equal((await ask(`https://here.test:${port}/large`, { maxBodyBytes: 2_000 })).ok, true)
})

test('a server that uses another protocol or closes the connection is a failure', async () => {
  const answers = ['HTTP/1.1 101 \r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n', 'hello', '']
  for (const text of answers) {
    const odd = createServer({ ...certificate }, (socket) => {
      socket.once('data', () => socket.end(text))
    })
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve))
    const { port: oddPort } = odd.address() as AddressInfo
    const answer = await ask(`https://here.test:${oddPort}/`)
    assert.deepEqual([answer.ok, !answer.ok && answer.isRefused], [false, false])
    await new Promise((resolve) => odd.close(resolve))
  }
})

test('an endless response and a silent server end at the time limit', async () => {
  const slow = await ask(`https://here.test:${port}/slow`, { timeoutMs: 200 })
  assert.equal(slow.ok, false)
  const silentServer = createServer({ ...certificate }, (socket) => socket.resume())
  await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve))
  const { port: mutePort } = silentServer.address() as AddressInfo
  const silent = await ask(`https://here.test:${mutePort}/`, { timeoutMs: 200 })
  assert.deepEqual([silent.ok, !silent.ok && silent.isRefused], [false, false])
  await new Promise((resolve) => silentServer.close(resolve))
})
