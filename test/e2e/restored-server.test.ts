/** A busy server, its backup, and the server that is restored from it while the first one has done everything. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { simpleParser } from 'mailparser'
import { type App, startApp } from '../../src/app.ts'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openCore } from '../../src/core/open-core.ts'
import { findKnown } from '../../src/features/ground/fence/generation-file.ts'
import { sql } from '../../src/store/drizzle.ts'
import { runAt } from '../fakes/terminal.ts'
import { connect } from '../inbound/dialogue.ts'
import { eventually } from './program.ts'
import { AT_ONCE, CONTACTS, CREDITS, CUSTOMER, makeDue, makeWorld } from './restored-world.ts'

type World = Awaited<ReturnType<typeof makeWorld>>
const TIMEOUT_MS = 600_000

/** How often each recipient got mail since the message with this number. */
function arrivals({ sink, busy }: World, from: { sink: number; busy: number }) {
  const counts = new Map<string, number>()
  for (const { to } of [...sink.messages.slice(from.sink), ...busy.messages.slice(from.busy)])
    for (const each of to) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}

const until = (isSo: () => boolean | Promise<boolean>) =>
  eventually(async () => ((await isSo()) ? true : undefined))

/** The first server goes on after the backup, and does everything that was on its way. */
async function finishOriginal(world: World): Promise<void> {
  const { program, mail, receiver, stripe, busy } = world
  mail.isBusy = false
  receiver.isBroken = false
  stripe.fault = () => undefined
  await program.stop()
  await makeDue(program.core.store)
  await program.start(AT_ONCE)
  for (const id of [world.first, world.second]) await program.untilState(id, 'delivered')
  await until(() => receiver.requests.some((each) => each.path === '/workflow'))
  await until(() => stripe.charged(CUSTOMER) === CREDITS)
  await until(() => busy.messages.some(({ to }) => to.includes('subscribed@busy.test')))
  const toContacts = () => busy.messages.filter(({ to }) => /^c\d+@/.test(to[0] ?? '')).length
  for (let seen = -1; toContacts() < CONTACTS; seen = toContacts()) {
    await until(() => toContacts() > seen)
  }
  await program.stop()
}

async function restore(t: TestContext, file: string, { program, settings }: World) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-restored-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const dataDir = path.join(folder, 'data')
  const restored = await runAt({ cwd: folder, env: {} }, 'restore', file, '--to', dataDir, '--json')
  assert.equal(restored.status, 0, restored.err)
  const { delivery, dns } = program.core.config
  const env = {
    ...{ ...settings, ...AT_ONCE },
    PILLARBOX_DATA_DIR: dataDir,
    PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
    PILLARBOX_DELIVERY__MODE: 'direct',
    PILLARBOX_DELIVERY__HOSTNAME: delivery.hostname,
    PILLARBOX_DELIVERY__PORT: String(delivery.port),
    PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
    PILLARBOX_DNS__SERVERS: JSON.stringify(dns.servers),
  }
  const config = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
  const core = await openCore(config, { log: silentLog() })
  t.after(() => core.close())
  let app: App | undefined
  const stop = async () => {
    await app?.stop()
    app = undefined
  }
  t.after(stop)
  return {
    ...{ core, stop, report: JSON.parse(restored.out) },
    start: async () => {
      app = await startApp(config, { log: silentLog() })
    },
    url: () => app?.ready.http ?? '',
    inboundPort: () => Number(app?.ready.inbound?.[0]?.split(':').at(-1)),
    command: async (...argv: string[]) => {
      const { status, out, err } = await runAt({ cwd: folder, env }, ...argv, '--json')
      assert.equal(status, 0, err)
      return JSON.parse(out)
    },
  }
}

test('F7: a restored server acts on nothing of the old one until it is released, project by project', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const world = await makeWorld(t)
  const { program, stripe, receiver, sink, busy, one, two, callOf } = world
  // As things are at the backup.
  await until(() => receiver.requests.some((each) => each.path === '/endpoint'))
  await until(() => busy.lines.filter((line) => /^RCPT TO:<c\d/.test(line)).length > 0)
  const campaigns = () =>
    program.core.store.read.all<{ id: string; status: string }>(
      sql`select id, status from campaigns`,
    )
  assert.deepEqual(
    new Map((await campaigns()).map(({ id, status }) => [id, status])),
    new Map([
      [world.sending, 'SENDING'],
      [world.scheduled, 'SCHEDULED'],
    ]),
  )
  const file = path.join(program.core.config.dataDir, 'world.tar.zst')
  await program.command('backup', file)
  const { seq } = await findKnown(program.core.store.read)
  await finishOriginal(world)

  const restored = await restore(t, file, world)
  const { held } = restored.report
  assert.ok(held.emails >= 2, JSON.stringify(held))
  const { campaigns: two_, executions, webhooks, meteringBatches } = held
  assert.deepEqual([two_, executions, webhooks, meteringBatches], [2, 1, 1, 1])
  await makeDue(restored.core.store)
  const from = { sink: sink.messages.length, busy: busy.messages.length }
  const connections = busy.connectionCount()
  const requests = receiver.requests.length
  const asked = stripe.requests.length
  await restored.start()

  // New work goes on.
  const call = callOf(one.secret, restored.url)
  const fresh = { to: 'new@dest.test', from: 'shop@example.test', subject: 'N', body: '<p>N</p>' }
  assert.equal((await call('/v1/send', fresh)).status, 200)
  assert.equal((await call('/v1/track', { event: 'fresh', email: 'ada@dest.test' })).status, 200)
  const newHooks = () => receiver.requests.slice(requests)
  await sink.waitForMessages(from.sink + 1)
  await until(() => newHooks().length > 0)
  // Once more, with everything due: a restart looks at all of it again.
  await restored.stop()
  await makeDue(restored.core.store)
  await restored.start()
  assert.equal((await call('/v1/send', { ...fresh, to: 'new2@dest.test' })).status, 200)
  await sink.waitForMessages(from.sink + 2)

  assert.deepEqual([...arrivals(world, from)].sort(), [
    ['new2@dest.test', 1],
    ['new@dest.test', 1],
  ])
  assert.equal(busy.connectionCount(), connections, 'no session for what is held')
  assert.equal(stripe.requests.length, asked, 'no request to Stripe')
  const old = new Set(receiver.requests.slice(0, requests).map(({ id }) => id))
  assert.deepEqual(
    newHooks().map(({ path: name, body }) => [name, body.type]),
    [['/endpoint', 'fresh']],
  )
  assert.ok(newHooks().every(({ id }) => !old.has(id)))

  // What is held is listed, with the reason.
  const holds = (await restored.command('queue', 'holds')) as { project: string | null }[]
  assert.deepEqual(new Set(holds.map(({ project }) => project)), new Set([null, one.id, two.id]))
  for (const id of [world.first, world.second]) {
    const shown = await restored.command('queue', 'show', id)
    assert.equal(shown.state, 'paused')
    assert.match(JSON.stringify(shown), /brought back from a copy/)
  }
  const { body: campaign } = await call(`/campaigns/${world.sending}`)
  assert.match(JSON.stringify(campaign), /restored/)
  const health = (await (await fetch(new URL('/health', restored.url()))).json()) as object
  assert.match(JSON.stringify(health), /queue release --restored/)

  await assertOldCredentials(world, restored)
  assert.ok((await findKnown(restored.core.store.read)).seq > seq + 1_000_000)

  // One project, and nothing of the other.
  await restored.command('queue', 'release', '--restored', '--project', one.id)
  const reached = (to: string) => arrivals(world, from).get(to) ?? 0
  await until(() => reached('one@busy.test') === 1)
  for (let n = 0; n < CONTACTS; n += 1) await until(() => reached(`c${n}@busy.test`) === 1)
  await until(() => newHooks().some((each) => each.path === '/workflow'))
  await until(() => newHooks().some((each) => old.has(each.id)))
  assert.deepEqual([reached('two@busy.test'), reached('subscribed@busy.test')], [0, 0])
  assert.equal(stripe.requests.length, asked)
  assert.equal((await restored.command('queue', 'show', world.second)).state, 'paused')

  // The rest, once.
  await restored.command('queue', 'release', '--restored')
  await until(() => reached('two@busy.test') === 1)
  await until(() => reached('subscribed@busy.test') === 1)
  await restored.stop()
  await makeDue(restored.core.store)
  await restored.start()
  const batches = () =>
    restored.core.store.read.all(sql`select state from metering_batches
    where customer = ${CUSTOMER} and credits = ${CREDITS}`)
  await until(async () => JSON.stringify(await batches()) === '[{"state":"charged"}]')
  assert.equal(stripe.charged(CUSTOMER), CREDITS, 'the first server has charged it already')
  assert.deepEqual(await restored.command('queue', 'holds'), [])
  const twice = [...arrivals(world, from)].filter(([, count]) => count > 1)
  assert.deepEqual(twice, [])
  const again = newHooks().filter((each) => each.path === '/workflow')
  assert.equal(again.length, 1)
  await restored.command('queue', 'release', '--restored')
})

/** Links, return paths and keys work; sessions and links for one use do not. */
async function assertOldCredentials(
  { sink, cookie, one, callOf }: World,
  restored: Awaited<ReturnType<typeof restore>>,
): Promise<void> {
  const message = sink.messages.find(({ to }) => to.includes('ada@dest.test'))
  const { html } = await simpleParser(message?.bytes ?? '')
  const links = [...String(html).matchAll(/href="([^"]*)"/g)].map(([, href = '']) => new URL(href))
  assert.equal(links.length, 2)
  for (const { pathname, search } of links) {
    const url = new URL(pathname + search, restored.url())
    const { status } = await fetch(url, { redirect: 'manual' })
    assert.ok(status === 200 || status === 302, `${status} of ${url}`)
  }
  const peer = await connect(restored.inboundPort(), { ehlo: 'client.test' })
  assert.equal((await peer.open('', message?.from ?? '')).code, 354)
  peer.close()
  assert.equal((await callOf(one.secret, restored.url)('/contacts')).status, 200)
  const self = await fetch(new URL('/users/@me', restored.url()), { headers: { cookie } })
  assert.equal(self.status, 401)
  const [tokens] = await restored.core.store.read.all<{ n: number }>(
    sql`select count(*) as n from account_tokens where used_at is null`,
  )
  assert.equal(tokens?.n, 0)
}
