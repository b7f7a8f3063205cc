/** Certificates from pebble for HTTPS, STARTTLS and submission, in one process with real sockets. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { type Agent, request as httpsRequest } from 'node:https'
import { connect as connectTcp } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, type TestContext, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { DAY_MS } from '../../../src/clock.ts'
import { startOrdering } from '../../../src/features/acme/ordering.ts'
import { createRateLimiter } from '../../../src/features/requests/rate-limit.ts'
import { startChallengeListeners } from '../../../src/http/server/challenge-listener.ts'
import { startHttp } from '../../../src/http/server/server.ts'
import { startInbound } from '../../../src/inbound/listener.ts'
import { startSubmission } from '../../../src/inbound/submission.ts'
import { openTestCore, type TestCore } from '../../core.ts'
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
  // Certificates have real dates.
  core.clock.now = Date.now()
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
  const order = () => startOrdering(core, { random: () => 0.5 })!
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

async function refuses(port: number): Promise<boolean> {
  const socket = connectTcp(port, ADDRESS)
  const isRefused = await once(socket, 'connect').then(
    () => false,
    () => true,
  )
  socket.destroy()
  return isRefused
}

async function get(port: number, url: string, options: { ca: string; agent?: Agent }) {
  const servername = 'app.example.test'
  const sent = httpsRequest({ host: ADDRESS, port, servername, path: url, ...options }).end()
  const [response] = await once(sent, 'response')
  const certificate = (response.socket as TLSSocket).getPeerX509Certificate()!
  return { status: response.statusCode as number, body: await text(response), certificate }
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
  const lines = core.counters.lines('pillarbox_acme_orders_total')
  assert.deepEqual(
    lines.map(({ labels, count }) => [labels.outcome, count]),
    [
      ['failed', 1],
      ['issued', 1],
    ],
  )
  assert.deepEqual(
    core.certificates
      .list()
      .map(({ listener }) => listener)
      .sort(),
    ['http', 'inbound', 'submission'],
  )
})
