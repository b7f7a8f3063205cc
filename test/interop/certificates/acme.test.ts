/** Certificates from pebble for HTTPS, STARTTLS and submission, in one process with real sockets. */
import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { Agent, request as httpsRequest } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { createRateLimiter } from '../../../src/features/ground/requests/rate-limit.ts'
import { startCertificateOrders } from '../../../src/features/operation/acme/certificate-orders.ts'
import { startChallengeListeners } from '../../../src/http/server/challenge-listener.ts'
import { startHttp } from '../../../src/http/server/server.ts'
import { startInbound } from '../../../src/inbound/listener.ts'
import { startSubmission } from '../../../src/inbound/submission.ts'
import { createHttpClient, type HttpRequest } from '../../../src/outbound/http/client.ts'
import { openTestCore, type TestCore } from '../../core.ts'
import { countedLines } from '../../counted-lines.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { connect as dial } from '../../inbound/dialogue.ts'
import { DOMAINS, EAB, isPebbleInstalled, openPebble, type Pebble } from './pebble.ts'

const skip = isPebbleInstalled() ? false : 'pebble is not installed'
const ADDRESS = '127.0.0.1'

type Given = { settings?: Record<string, string>; isDown?: boolean; env?: Record<string, string> }

/**
 * All listeners of a server whose directory is pebble. HTTP listens on all addresses, because on
 * loopback it would stay without TLS.
 */
async function openServer(t: TestContext, { settings = {}, isDown = false, env = {} }: Given = {}) {
  const requiresBinding = 'PILLARBOX_ACME__EAB_KID' in settings
  const pebble = await openPebble(t, { requiresBinding, env })
  if (!isDown) await pebble.start()
  const core = await openTestCore(t, { settings: { ...settingsFor(pebble), ...settings } })
  // Certificates have real dates, and begin after the server does.
  core.clock.now = Date.now() + 60_000
  const started = await startAll(t, core)
  return { pebble, core, ...started }
}

function settingsFor(pebble: Pebble): Record<string, string> {
  return {
    PILLARBOX_BASE_URL: 'https://app.example.test',
    PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
    PILLARBOX_HTTP__LISTEN: '0.0.0.0:0',
    PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]',
    PILLARBOX_SUBMISSION__LISTEN: '["0.0.0.0:0", "tls://127.0.0.1:0"]',
    PILLARBOX_ACME__EMAIL: 'you@example.test',
    PILLARBOX_ACME__DIRECTORY_URL: pebble.directoryUrl,
    PILLARBOX_ACME__CA_FILE: pebble.caFile,
    PILLARBOX_ACME__LISTEN: `["127.0.0.1:${pebble.challengePort}"]`,
  }
}

async function startAll(t: TestContext, core: TestCore) {
  const http = await startHttp({ core, requestLog: { record: () => undefined } })
  const inbound = await startInbound(core)
  const limiter = createRateLimiter(0, core.now)
  const submission = await startSubmission(core, { limiter })
  const challenges = await startChallengeListeners(core)
  const order = () => startCertificateOrders(core, { random: () => 0.5 })!
  const ordering = order()
  const stop = async () => {
    await ordering.stop()
    for (const listener of [challenges, submission, inbound, http]) await listener.stop(0)
  }
  t.after(stop)
  const [starttls, implicit] = submission.addresses.map(({ port }) => port)
  const ports = {
    http: http.address.port,
    inbound: inbound.addresses[0]!.port,
    submission: [starttls!, implicit!] as const,
  }
  return { ports, order, ordering, stop }
}

/** Connects with TLS and checks the certificate for `name`. */
async function greet(port: number, name: string, ca: string): Promise<TLSSocket> {
  const socket = connectTls({ host: ADDRESS, port, servername: name, ca })
  await once(socket, 'secureConnect')
  return socket
}

async function certificateAt(port: number, ca: string): Promise<X509Certificate> {
  const socket = await greet(port, 'app.example.test', ca)
  const certificate = socket.getPeerX509Certificate()!
  socket.destroy()
  return certificate
}

async function refuses(port: number): Promise<boolean> {
  const socket = connectTcp(port, ADDRESS)
  const isRefused = await once(socket, 'connect').then(
    () => false,
    () => true,
  )
  socket.destroy()
  return isRefused
}

type Asked = { ca: string; agent?: Agent }

async function get(port: number, url: string, { ca, agent = new Agent() }: Asked) {
  const servername = 'app.example.test'
  const sent = httpsRequest({ host: ADDRESS, port, servername, path: url, ca, agent }).end()
  const [response] = await once(sent, 'response')
  const { localPort } = response.socket as TLSSocket
  await text(response)
  return { status: response.statusCode as number, localPort }
}

async function opens(port: number): Promise<void> {
  while (await refuses(port)) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function offersStarttls(port: number): Promise<boolean> {
  const client = await dial(port)
  await client.read()
  const { text: offered } = await client.say('EHLO client.test')
  client.close()
  return /^STARTTLS$/m.test(offered)
}

test('a certificate is issued for both names and serves HTTPS, STARTTLS and submission', {
  skip,
}, async (t) => {
  const { pebble, core, ports, ordering } = await openServer(t, { isDown: true })
  await ordering.turn()
  assert.equal(await offersStarttls(ports.inbound), false)
  for (const port of [ports.http, ...ports.submission]) assert.ok(await refuses(port))
  const [reason] = core.health.reasons()
  assert.equal(reason?.cause, 'certificate')
  assert.match(
    reason?.reason ?? '',
    /^No certificate could be ordered for app\.example\.test, mail\.example\.test: localhost:\d+ is unreachable: .*The next attempt is at /,
  )
  assert.deepEqual(core.certificates.list(), [])

  await pebble.start()
  core.clock.now += 20_000
  await ordering.turn()
  const ca = await pebble.root()
  for (const port of [ports.http, ...ports.submission]) await opens(port)
  for (const name of DOMAINS) (await greet(ports.http, name, ca)).destroy()
  ;(await greet(ports.submission[1], 'mail.example.test', ca)).destroy()
  assert.equal(await offersStarttls(ports.inbound), true)
  assert.equal(await offersStarttls(ports.submission[0]), true)
  assert.equal((await get(ports.http, '/health', { ca })).status, 200)
  assert.deepEqual(core.health.reasons(), [])
  const lines = countedLines(core, 'pillarbox_acme_orders_total')
  assert.deepEqual(Object.fromEntries(lines.map(({ labels, count }) => [labels.outcome, count])), {
    failed: 1,
    issued: 1,
  })
  assert.deepEqual(
    core.certificates
      .list()
      .map(({ listener }) => listener)
      .sort(),
    ['http', 'inbound', 'submission'],
  )
})

test('an external account binding is used where the authority requires one', {
  skip,
}, async (t) => {
  const settings = { PILLARBOX_ACME__EAB_KID: EAB.kid, PILLARBOX_ACME__EAB_HMAC_KEY: EAB.hmacKey }
  const { pebble, core, ports, ordering } = await openServer(t, { settings })
  await ordering.turn()
  await opens(ports.http)
  ;(await greet(ports.http, DOMAINS[0]!, await pebble.root())).destroy()
  assert.deepEqual(core.health.reasons(), [])
})

test('without the right CA file nothing is asked of the directory, and the reason is shown', {
  skip,
}, async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-ca-'))
  t.after(() => rm(folder, { recursive: true }))
  const other = path.join(folder, 'other.pem')
  await writeFile(other, makeCertificate(['localhost']).cert)
  const { core, ordering } = await openServer(t, { settings: { PILLARBOX_ACME__CA_FILE: other } })
  await ordering.turn()
  const [reason] = core.health.reasons()
  assert.match(reason?.reason ?? '', /is unreachable: .*(?:self.signed|certificate)/i)
  assert.deepEqual(
    await readdir(core.config.acme!.folder).then((names) =>
      names.filter((name) => name.endsWith('.pem')),
    ),
    [],
  )
})

test('a failed renewal keeps the old certificate; a later one replaces it under open connections', {
  skip,
}, async (t) => {
  const { pebble, core, ports, ordering } = await openServer(t)
  await ordering.turn()
  await opens(ports.http)
  const firstRoot = await pebble.root()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const first = await get(ports.http, '/health', { ca: firstRoot, agent })
  const shown = await certificateAt(ports.http, firstRoot)
  const session = await dial(ports.inbound, { ehlo: 'client.test' })
  t.after(session.close)

  await pebble.stop()
  const { validFromDate, validToDate } = shown
  core.clock.now += 0.71 * (validToDate.getTime() - validFromDate.getTime())
  await ordering.turn()
  assert.match(
    core.health.reasons()[0]?.reason ?? '',
    /^The certificate could not be renewed by ACME, and the previous one stays in use: /,
  )
  assert.equal((await get(ports.http, '/health', { ca: firstRoot })).status, 200)

  await pebble.start()
  core.clock.now += 60_000
  await ordering.turn()
  const root = await pebble.root()
  assert.notEqual(root, firstRoot, 'pebble has a new root')
  const renewed = await certificateAt(ports.http, root)
  assert.notEqual(renewed.serialNumber, shown.serialNumber)
  assert.equal(renewed.checkPrivateKey(await keyOf(core)), true)
  assert.equal(renewed.publicKey.equals(shown.publicKey), false, 'a new key')
  // A new connection would fail here: it would get a certificate of the new root.
  const kept = await get(ports.http, '/health', { ca: firstRoot, agent })
  assert.deepEqual(kept, first, 'the connection stayed')
  assert.deepEqual(await session.say('NOOP'), { code: 250, text: '2.0.0 OK' })
  const orders = countedLines(core, 'pillarbox_acme_orders_total')
  await ordering.turn()
  assert.deepEqual(countedLines(core, 'pillarbox_acme_orders_total'), orders, 'no order follows')
})

test('behind a proxy, http.listen answers the challenges; other tokens are unknown there', {
  skip,
}, async (t) => {
  const pebble = await openPebble(t)
  await pebble.start()
  const settings = {
    ...settingsFor(pebble),
    PILLARBOX_HTTP__LISTEN: `127.0.0.1:${pebble.challengePort}`,
    PILLARBOX_ACME__LISTEN: '[]',
  }
  const core = await openTestCore(t, { settings })
  core.clock.now = Date.now() + 60_000
  const { ports, ordering } = await startAll(t, core)
  await ordering.turn()
  assert.equal(await offersStarttls(ports.inbound), true)
  const url = `http://127.0.0.1:${ports.http}/.well-known/acme-challenge/${'x'.repeat(43)}`
  assert.equal((await fetch(url)).status, 404)
  assert.deepEqual(
    core.certificates
      .list()
      .map(({ listener }) => listener)
      .sort(),
    ['inbound', 'submission'],
  )
})

test('a stop in the middle of an order leaves nothing that delays the next one', {
  skip,
}, async (t) => {
  const { core, order, ordering } = await openServer(t, {
    env: { PEBBLE_VA_NOSLEEP: '', PEBBLE_VA_SLEEPTIME: '5' },
  })
  const { acmeChallenges, config } = core
  const asked = Promise.withResolvers<void>()
  const { add } = acmeChallenges
  acmeChallenges.add = (...given) => {
    add(...given)
    asked.resolve()
  }
  await asked.promise
  await ordering.stop()
  const names = await readdir(config.acme!.folder)
  assert.deepEqual(
    names.filter((name) => !name.startsWith('account-')),
    [],
  )
  const again = order()
  t.after(again.stop)
  await again.turn()
  assert.equal(core.certificates.list().length, 3)
})

test('a chain that cannot be used is a failed order, and is not ordered again at once', {
  skip,
}, async (t) => {
  const { core, ordering } = await openServer(t)
  await ordering.turn()
  const { caFile, folder } = core.config.acme!
  const file = path.join(folder, 'certificate.pem')
  const kept = await readFile(file, 'utf8')
  const ca = await readFile(caFile!, 'utf8')
  const client = createHttpClient({ resolver: core.resolver, isAllowed: () => true, ca })
  t.after(() => client.closeIdle())
  const asked = t.mock.fn(async (request: HttpRequest) => {
    const result = await client.request(request)
    if (result.kind !== 'response' || !String(result.body).startsWith('-----BEGIN')) return result
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    return { ...result, body: Buffer.concat([result.body, Buffer.from(broken)]) }
  })
  await ordering.stop()
  const { validFromDate, validToDate } = new X509Certificate(kept)
  core.clock.now += 0.71 * (validToDate.getTime() - validFromDate.getTime())
  const broken = startCertificateOrders(core, { random: () => 0.5, http: { request: asked } })!
  t.after(broken.stop)
  await broken.turn()
  assert.match(
    core.health.reasons()[0]?.reason ?? '',
    /^The certificate could not be renewed by ACME, and the previous one stays in use: the issued certificate cannot be used: /,
  )
  assert.equal(await readFile(file, 'utf8'), kept)
  // The time of the renewal is asked for with GET.
  const listPosts = () =>
    asked.mock.calls.filter(({ arguments: [{ method }] }) => method === 'POST')
  const posts = listPosts().length
  await broken.turn()
  assert.equal(listPosts().length, posts, 'no order follows')
})

test('an order that a kill has interrupted is not repeated at once', { skip }, async (t) => {
  const { core, ordering, order } = await openServer(t)
  await ordering.stop()
  const { folder } = core.config.acme!
  const failing = startCertificateOrders(core, {
    random: () => 0.5,
    http: { request: () => new Promise(() => undefined) },
  })!
  void failing.turn()
  const file = path.join(folder, 'state.json')
  while (
    !(await stat(file).then(
      () => true,
      () => false,
    ))
  )
    await new Promise(setImmediate)
  const { failures, nextAttemptAt } = JSON.parse(await readFile(file, 'utf8'))
  assert.deepEqual([failures, nextAttemptAt], [1, core.clock.now + 120_000])
  const again = order()
  t.after(again.stop)
  await again.turn()
  assert.deepEqual(countedLines(core, 'pillarbox_acme_orders_total'), [])
  core.clock.now += 120_000
  await again.turn()
  assert.equal(countedLines(core, 'pillarbox_acme_orders_total')[0]?.labels.outcome, 'issued')
})

async function keyOf({ config }: TestCore) {
  return createPrivateKey(await readFile(path.join(config.acme!.folder, 'certificate.pem')))
}
