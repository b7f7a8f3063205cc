import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { ruleOf } from '../../../src/features/tenancy/accounts/callers/caller.ts'
import { ROUTES } from '../../../src/http/route-table.ts'
import { useService } from '../service.ts'

const { service, mine } = useService({
  ...{
    baseUrl: 'https://App.example.test:8443',
    http: { allowedHosts: ['pillarbox', 'xn--bcher-kva.test'] },
  },
  delivery: { hostname: 'mail.example.test' },
})

/** Routes for anyone where no cookie counts, so that they answer for any host. */
const ANSWERED = [
  // Links in mail that was sent before the server moved to another name.
  ...['/unsubscribe', '/subscribe', '/manage', '/t/o', '/t/c', '/uploads/'],
  // Calls of other systems, which prove themselves.
  ...['/webhooks/sns', '/webhooks/incoming/stripe', '/.well-known/acme-challenge/'],
  // Pages that are the same for everyone. `/contacts/:id` and its kin take a signed token.
  ...['/health', '/openapi.json', '/docs', '/config', '/contacts/'],
]

const rows = ROUTES.map(([method, path, callers]) => ({ method, path, callers }))
type Row = Pick<(typeof rows)[number], 'method' | 'path'>

const isAnswered = (path: string) =>
  path === '/' || ANSWERED.some((begin) => path === begin || path.startsWith(begin))

type Sent = { headers?: Record<string, string | string[]>; path?: string }

async function ask({ method, path }: Row, { headers = {}, path: target }: Sent = {}) {
  const { hostname, port } = new URL(service.url)
  const place = path.replaceAll(/:\w+(?:\{\.\+\})?/g, 'unknown')
  const sent = request({ host: hostname, port, method, path: target ?? place, headers }).end()
  const [response] = await once(sent, 'response')
  const body = await text(response)
  return { status: response.statusCode as number, headers: response.headers, body }
}

const get = (path: string, host: string, more: Record<string, string> = {}) =>
  ask({ method: 'GET', path }, { headers: { host, ...more } })

describe('S38: a request for the host of others', () => {
  it('is refused by every route for sessions, monitors and cookies, and no other', async () => {
    const headers = { host: 'evil.test', cookie: 'pillarbox_session=a; pillarbox_device=b' }
    for (const row of rows) {
      const name = `${row.method} ${row.path}`
      const { status, headers: answered, body } = await ask(row, { headers })
      const { callers } = row
      const isFree = callers === 'anyone' ? isAnswered(row.path) : ruleOf(callers).session === null
      assert.equal(status === 421, !isFree, `${name}: ${status}`)
      assert.equal(answered['set-cookie'], undefined, name)
      if (status === 421) assert.match(body, /http\.allowed_hosts/, name)
    }
  })

  it('is admitted with a key, but not to metrics', async () => {
    const authorization = `Bearer ${mine.secret}`
    assert.equal((await get('/templates', 'evil.test', { authorization })).status, 200)
    assert.equal((await get('/templates', 'evil.test')).status, 421)
    assert.equal((await get('/metrics', 'evil.test', { authorization })).status, 421)
    assert.equal((await get('/auth/logout', 'evil.test', { authorization })).status, 421)
  })

  it('sees no details of the health', async () => {
    const details = async (host: string) =>
      'uptime' in JSON.parse((await get('/health', host)).body)
    assert.equal(await details('evil.test'), false)
    assert.equal(await details('localhost'), true)
    assert.equal((await get('/health', 'evil.test')).status, 200)
  })

  it('names the host, shortened', async () => {
    const { body } = await get('/metrics', `evil"${'a'.repeat(1_000)}.test`)
    const { error } = JSON.parse(body)
    assert.equal(error.code, 'MISDIRECTED_REQUEST')
    assert.ok(error.message.length < 200)
  })
})

describe('the hosts of the server', () => {
  const own = [
    ...['app.example.test', 'app.example.test:8443', 'APP.Example.TEST', 'app.example.test.'],
    ...['app.example.test:1', 'app.example.test.:80', 'mail.example.test', 'pillarbox:8080'],
    ...['xn--bcher-kva.test', 'localhost', 'LOCALHOST:8080', 'a.localhost', 'localhost.'],
    ...['127.0.0.1', '127.0.0.1:8080', '203.0.113.7', '[::1]', '[::1]:8080', '[2001:DB8::1]:80'],
  ]
  for (const host of own) {
    it(`include ${host}`, async () => {
      assert.equal((await get('/metrics', host)).status, 200)
      assert.equal((await get('/app/login', host)).status, 200)
    })
  }

  const others = [
    ...['example.test', 'a.app.example.test', 'app.example.test.evil.test', 'evil.test:8443'],
    ...['localhost.evil.test', '127.0.0.1.evil.test', '127.1', '0x7f000001', '[::1', '::1', 'a..'],
    ...['app.example.test..', 'app.example.test@evil.test', 'notlocalhost', '[evil.test]'],
  ]
  for (const host of others) {
    it(`do not include ${host}`, async () => {
      const { status } = await get('/metrics', host)
      assert.ok(status === 421 || status === 400, String(status))
    })
  }

  it('are not what X-Forwarded-Host says', async () => {
    const forwarded = { 'x-forwarded-host': 'localhost' }
    assert.equal((await get('/metrics', 'evil.test', forwarded)).status, 421)
    assert.equal(
      (await get('/metrics', 'localhost', { 'x-forwarded-host': 'evil.test' })).status,
      200,
    )
  })

  it('are read from the target in absolute form, too', async () => {
    const row = { method: 'GET', path: '/metrics' } as const
    const at = (host: string, path: string) => ask(row, { headers: { host }, path })
    assert.equal((await at('localhost', 'http://localhost/metrics')).status, 200)
    assert.equal((await at('localhost', 'http://evil.test/metrics')).status, 421)
    assert.equal((await at('evil.test', 'http://localhost/metrics')).status, 421)
    assert.equal((await at('localhost', 'http://EVIL.test:80/metrics')).status, 421)
    assert.equal((await at('localhost', 'http://localhost@evil.test/metrics')).status, 421)
    assert.match((await at('localhost', 'http://evil.test/metrics')).body, /the host \\"evil\.test/)
  })
})

describe('a Host field', () => {
  /** The status line of a request of these lines. */
  async function statusOf(...lines: string[]): Promise<string> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    return (await text(socket)).slice(9, 12)
  }
  const close = 'Connection: close'

  it('that is there twice is a 400', async () => {
    for (const path of ['/metrics', '/health', '/v1/send', '/unsubscribe/a']) {
      for (const second of ['Host: localhost', 'HOST: evil.test', 'host:']) {
        const status = await statusOf(`GET ${path} HTTP/1.1`, 'Host: localhost', second, close)
        assert.equal(status, '400', `${path} ${second}`)
      }
    }
    assert.equal(await statusOf('GET /health HTTP/1.0', 'Host: a', 'Host: a'), '400')
    assert.equal(await statusOf('GET /health HTTP/1.1', close), '400')
    assert.equal(await statusOf('GET /health HTTP/1.1', 'Host: a', close), '200')
  })

  it('is not needed by clients of HTTP/1.0', async () => {
    assert.equal(await statusOf('GET /metrics HTTP/1.0'), '200')
    assert.equal(await statusOf('GET /health HTTP/1.0'), '200')
    assert.equal(await statusOf('GET /metrics HTTP/1.0', 'Host: evil.test'), '421')
  })
})
