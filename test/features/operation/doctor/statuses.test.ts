import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/base/clock.ts'
import type { Config } from '../../../../src/config/config.ts'
import type { CheckId, CheckStatus } from '../../../../src/features/operation/doctor/check.ts'
import type { Probes } from '../../../../src/outbound/probe/probes.ts'
import { attempts } from '../../../../src/store/schema/messages.ts'
import { silence } from '../../../fakes/smtp-sink.ts'
import { cleanUpAfterFile } from '../../../file-cleanup.ts'
import {
  HOST,
  openServer,
  openWorld as openWorldAt,
  REVERSE,
  type World,
  type WorldServer,
} from './world.ts'

const cleanup = cleanUpAfterFile()
let server: WorldServer
before(async () => {
  server = await openServer(cleanup)
})

const openWorld = (t: TestContext, limitMs?: number) =>
  openWorldAt(t, { server, ...(limitMs !== undefined && { limitMs }) })

type Case = {
  name: string
  change(world: World): unknown
  check: CheckId
  status: CheckStatus
  /** The evidence and the fix. */
  says?: RegExp
}

const withConfig =
  (change: (config: Config) => Config) =>
  ({ configure }: World) =>
    configure(change)
const inMode = (mode: Config['delivery']['mode']) =>
  withConfig((config) => ({ ...config, delivery: { ...config.delivery, mode } }))
const withDoctor = (doctor: Partial<Config['doctor']>) =>
  withConfig((config) => ({ ...config, doctor: { ...config.doctor, ...doctor } }))
const withoutServer = ({ deps }: World) => {
  deps.server = null
}

type AttemptRow = { host: string; at?: number; isAnswered: boolean; result?: string }

/** Attempts, the oldest first. */
async function addAttempts({ core }: World, rows: readonly AttemptRow[]): Promise<void> {
  await core.store.write(async (tx) => {
    for (const { host, isAnswered, at = Date.now(), result = 'deferred' } of rows) {
      const reply = { code: 220, enhancedCode: null, text: 'hello' }
      const greeting = { step: 'greeting', at: 1, durationMs: 1, reply }
      const connect = { step: 'connect', at: 0, durationMs: 1, error: 'timed out: connecting' }
      await tx.insert(attempts).values({
        ...{ emailId: 'none', at, durationMs: 1, result, host, address: '192.0.2.9' },
        steps: [isAnswered ? greeting : connect],
      })
    }
  })
}

/** A date of `doctor.time_url` that is so much later than the clock. */
const withDate =
  (laterMs: number) =>
  ({ deps, configure }: World) => {
    configure((config) => ({
      ...config,
      doctor: { ...config.doctor, timeUrl: 'https://time.test' },
    }))
    const { probes } = deps
    const request: Probes['request'] = async (input) => {
      if (input.url.hostname !== 'time.test') return probes.request(input)
      assert.equal(input.method, 'HEAD')
      const headers = { date: new Date(Date.now() + laterMs).toUTCString() }
      return {
        kind: 'response',
        url: input.url,
        status: 200,
        headers,
        body: Buffer.of(),
        isCut: false,
      }
    }
    deps.probes = { ...probes, request }
  }

const addBackups = (ageMs: number | null, error?: string) => async (world: World) => {
  await world.core.store.write((tx) => tx.run('delete from backups'))
  if (ageMs !== null) await world.addBackup(ageMs)
  if (error !== undefined) await world.addBackup(0, error)
}

const LISTING = '1.0.0.127.bl.example.test'

const CASES: readonly Case[] = [
  {
    name: 'without a target and without deliveries',
    change: withDoctor({ smtpTarget: null }),
    ...{ check: 'smtp_egress', status: 'skipped', says: /no delivery in the last hour/ },
  },
  {
    name: 'without a target, a greeted delivery is evidence',
    async change(world) {
      withDoctor({ smtpTarget: null })(world)
      await addAttempts(world, [{ host: 'mx.a.test', isAnswered: true, result: 'delivered' }])
    },
    ...{ check: 'smtp_egress', status: 'ok', says: /mx\.a\.test \[192\.0\.2\.9\] answered/ },
  },
  {
    name: 'without a target, one server that is silent since is a warning',
    async change(world) {
      withDoctor({ smtpTarget: null })(world)
      await addAttempts(world, [
        { host: 'mx.a.test', isAnswered: true },
        { host: 'mx.b.test', isAnswered: false },
      ])
    },
    ...{ check: 'smtp_egress', status: 'warning', says: /no answer from mx\.b\.test/ },
  },
  {
    name: 'without a target, three silent servers fail, and older answers do not count',
    async change(world) {
      withDoctor({ smtpTarget: null })(world)
      await addAttempts(world, [
        { host: 'mx.a.test', isAnswered: true, at: Date.now() - 2 * HOUR_MS },
        ...['b', 'c', 'd'].map((name) => ({ host: `mx.${name}.test`, isAnswered: false })),
      ])
    },
    ...{ check: 'smtp_egress', status: 'failed', says: /mx\.b\.test.*port 25|outgoing TCP port/s },
  },
  {
    name: 'a report that arrived is no evidence of a connection',
    async change(world) {
      withDoctor({ smtpTarget: null })(world)
      await addAttempts(world, [{ host: 'a', isAnswered: true, result: 'reported-bounced' }])
    },
    ...{ check: 'smtp_egress', status: 'skipped' },
  },
  {
    name: 'a silent target beside greeted deliveries is a warning',
    async change(world) {
      await addAttempts(world, [{ host: 'mx.a.test', isAnswered: true }])
      await world.sink.stop()
    },
    ...{ check: 'smtp_egress', status: 'warning', says: /but mx\.a\.test/ },
  },
  {
    name: 'relay mode asks the smarthost',
    change: (world) =>
      world.configure((config) => ({
        ...config,
        delivery: {
          ...{ ...config.delivery, mode: 'relay' as const },
          relay: {
            ...{ host: 'mx.target.test', port: world.sink.port, tls: 'none' as const },
            ...{ username: null, password: null },
          },
        },
      })),
    ...{ check: 'smtp_egress', status: 'ok', says: /mx\.target\.test/ },
  },
  { name: 'the sandbox', change: inMode('sandbox'), check: 'smtp_egress', status: 'skipped' },
  { name: 'the sandbox', change: inMode('sandbox'), check: 'backup', status: 'skipped' },
  { name: 'the sandbox', change: inMode('sandbox'), check: 'disk_space', status: 'ok' },
  { name: 'relay mode', change: inMode('relay'), check: 'reverse_dns', status: 'skipped' },
  { name: 'relay mode', change: inMode('relay'), check: 'spf', status: 'skipped' },
  {
    name: 'no PTR record',
    change: ({ dns }) => dns.set(REVERSE, undefined),
    ...{ check: 'reverse_dns', status: 'failed', says: /no PTR record/ },
  },
  {
    name: 'no answer about the PTR record',
    change: ({ dns }) => dns.set(REVERSE, 'SERVFAIL'),
    ...{ check: 'reverse_dns', status: 'warning', says: /SERVFAIL[\s\S]*does not answer/ },
  },
  {
    name: 'no answer about the name of the server',
    change: ({ dns }) => dns.set(HOST, 'SERVFAIL'),
    ...{ check: 'reverse_dns', status: 'warning', says: /SERVFAIL[\s\S]*does not answer/ },
  },
  {
    name: 'no address of the name of the server',
    change: ({ dns }) => dns.set(HOST, undefined),
    ...{ check: 'reverse_dns', status: 'failed', says: /no A or AAAA record/ },
  },
  {
    name: 'a name that does not lead back',
    change(world) {
      world.dns.set('2.0.0.127.in-addr.arpa', { PTR: [HOST] })
      world.configure((config) => ({
        ...config,
        delivery: { ...config.delivery, publicAddresses: ['127.0.0.2'] },
      }))
    },
    ...{
      check: 'reverse_dns',
      status: 'failed',
      says: /does not lead to 127\.0\.0\.2.*IN A 127\.0\.0\.2/s,
    },
  },
  {
    name: 'an IPv6 address in nibbles',
    change: (world) =>
      world.configure((config) => ({
        ...config,
        delivery: { ...config.delivery, publicAddresses: ['2001:db8::1'] },
      })),
    check: 'reverse_dns',
    status: 'failed',
    says: /1\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.0\.8\.b\.d\.0\.1\.0\.0\.2\.ip6\.arpa\. IN PTR/,
  },
  {
    name: 'no SPF record',
    change: ({ dns }) => dns.set(`bounce.${HOST}`, { MX: [[10, HOST]] }),
    ...{ check: 'spf', status: 'warning', says: /has no SPF record/ },
  },
  {
    name: 'SPF that names another address',
    change: ({ dns }) =>
      dns.set(`bounce.${HOST}`, { MX: [[10, HOST]], TXT: ['v=spf1 ip4:192.0.2.1 -all'] }),
    ...{ check: 'spf', status: 'failed', says: /for 127\.0\.0\.1: fail/ },
  },
  {
    name: 'SPF with three void look-ups',
    change: ({ dns }) =>
      dns.set(`bounce.${HOST}`, {
        MX: [[10, HOST]],
        TXT: ['v=spf1 a:v1.test a:v2.test a:v3.test mx -all'],
      }),
    ...{ check: 'spf', status: 'failed', says: /permerror/ },
  },
  {
    name: 'SPF with look-ups after all, which nobody makes',
    change({ dns }) {
      const ignored = Array.from({ length: 11 }, (_, index) => `a:x${index}.test`).join(' ')
      const text = `v=spf1 redirect=y.test mx -all ${ignored}`
      dns.set(`bounce.${HOST}`, { MX: [[10, HOST]], TXT: [text] })
    },
    ...{ check: 'spf', status: 'ok', says: /at most 1 of 10 look-ups/ },
  },
  {
    name: 'SPF with ten look-ups is within the limit',
    change({ dns }) {
      const terms = Array.from({ length: 9 }, (_, index) => `exists:e${index}.spf.test`).join(' ')
      dns.set(`bounce.${HOST}`, { MX: [[10, HOST]], TXT: [`v=spf1 mx ${terms} -all`] })
    },
    ...{ check: 'spf', status: 'ok', says: /at most 10 of 10 look-ups/ },
  },
  {
    name: 'SPF that includes itself ends',
    change: ({ dns }) =>
      dns.set(`bounce.${HOST}`, {
        MX: [[10, HOST]],
        TXT: [`v=spf1 include:bounce.${HOST} mx -all`],
      }),
    ...{ check: 'spf', status: 'failed', says: /more than 25 look-ups/ },
  },
  {
    name: 'an Ed25519 key that was never published',
    change: ({ dns, records }) => dns.set(records['dkim-ed25519']!.name, undefined),
    ...{ check: 'dkim', status: 'warning', says: /no Ed25519 signature/ },
  },
  {
    name: 'an RSA key that is gone',
    change: ({ dns, records }) => dns.set(records.dkim!.name, undefined),
    ...{ check: 'dkim', status: 'failed', says: /does not exist, and mail is signed/ },
  },
  {
    name: 'no DMARC record',
    change: ({ dns }) => dns.set('_dmarc.shop.test', undefined),
    ...{ check: 'dmarc', status: 'warning', says: /IN TXT "v=DMARC1; p=none"/ },
  },
  {
    name: 'a DMARC record without a policy',
    change: ({ dns }) => dns.set('_dmarc.shop.test', { TXT: ['v=DMARC1; rua=mailto:a@shop.test'] }),
    ...{ check: 'dmarc', status: 'failed', says: /it has no p=/ },
  },
  {
    name: 'reports to a domain that has not agreed',
    change: ({ dns }) =>
      dns.set('_dmarc.shop.test', { TXT: ['v=DMARC1; p=none; rua=mailto:a@reports.test'] }),
    ...{ check: 'dmarc', status: 'warning', says: /shop\.test\._report\._dmarc\.reports\.test/ },
  },
  {
    name: 'reports to a domain that has agreed',
    change({ dns }) {
      dns.set('_dmarc.shop.test', { TXT: ['v=DMARC1; p=none; rua=mailto:a@reports.test!10m'] })
      dns.set('shop.test._report._dmarc.reports.test', { TXT: ['v=DMARC1'] })
    },
    ...{ check: 'dmarc', status: 'ok' },
  },
  {
    name: 'a listed address',
    change: ({ dns }) =>
      dns.set(LISTING, { A: ['127.0.0.2'], TXT: ['see https://bl.example.test'] }),
    ...{ check: 'blocklists', status: 'failed', says: /127\.0\.0\.2\): see https/ },
  },
  {
    name: 'a list that refuses to answer',
    change: ({ dns }) => dns.set(LISTING, { A: ['127.255.255.254'] }),
    ...{ check: 'blocklists', status: 'warning', says: /does not say.*127\.255\.255\.254/ },
  },
  {
    name: 'an answer that is none of a blocklist',
    change: ({ dns }) => dns.set(LISTING, { A: ['203.0.113.7'] }),
    ...{ check: 'blocklists', status: 'warning', says: /does not say/ },
  },
  {
    name: 'no blocklists',
    change: withDoctor({ blocklists: [] }),
    ...{ check: 'blocklists', status: 'skipped' },
  },
  { name: 'the right time', change: withDate(0), check: 'clock', status: 'ok' },
  {
    name: 'half a minute behind',
    change: withDate(30_000),
    ...{ check: 'clock', status: 'warning', says: /behind.*timedatectl/s },
  },
  {
    name: 'two minutes ahead',
    change: withDate(-2 * MINUTE_MS),
    ...{ check: 'clock', status: 'failed', says: /ahead of/ },
  },
  {
    name: '8% free',
    change: ({ disk }) => Object.assign(disk, { free: 8e9 }),
    ...{ check: 'disk_space', status: 'warning', says: /8%/ },
  },
  {
    name: 'less than limits.min_free_bytes',
    change: (world) => {
      const { disk } = world
      Object.assign(disk, { free: 900_000, total: 1_000_000 })
    },
    ...{ check: 'disk_space', status: 'failed', says: /limits\.min_free_bytes/ },
  },
  {
    name: 'few inodes',
    change: ({ disk }) => Object.assign(disk, { freeInodes: 1, totalInodes: 1_000 }),
    ...{ check: 'inodes', status: 'failed' },
  },
  {
    name: 'a file system without a number of inodes',
    change: ({ disk }) => Object.assign(disk, { freeInodes: 0, totalInodes: 0 }),
    ...{ check: 'inodes', status: 'skipped' },
  },
  {
    name: 'a folder that cannot be read',
    change({ deps }) {
      deps.readSpace = async () => Promise.reject(new Error('ENOENT: gone'))
    },
    ...{ check: 'disk_space', status: 'warning', says: /gone/ },
  },
  {
    name: '300 MB of log',
    change({ deps }) {
      deps.store = { ...deps.store, walBytes: () => 1_500 * 1024 * 1024 }
    },
    ...{ check: 'wal', status: 'warning', says: /1500 MB/ },
  },
  {
    name: '5 GB of log',
    change({ deps }) {
      deps.store = { ...deps.store, walBytes: () => 5 * 1024 ** 3 }
    },
    ...{ check: 'wal', status: 'failed' },
  },
  { name: 'no backup', change: addBackups(null), check: 'backup', status: 'warning' },
  {
    name: 'a backup of nine days',
    change: addBackups(9 * DAY_MS),
    check: 'backup',
    status: 'warning',
  },
  {
    name: 'a backup to standard output',
    async change(world) {
      await addBackups(DAY_MS)(world)
      await world.core.store.write((tx) => tx.run("update backups set file = '-'"))
    },
    ...{ check: 'backup', status: 'ok', says: /standard output, not verified by this server/ },
  },
  {
    name: 'a failed attempt since',
    change: addBackups(DAY_MS, 'the disk is full'),
    ...{ check: 'backup', status: 'warning', says: /the disk is full/ },
  },
  { name: 'no server', change: withoutServer, check: 'starttls', status: 'skipped' },
  { name: 'no server', change: withoutServer, check: 'base_url', status: 'skipped' },
  { name: 'no server', change: withoutServer, check: 'one_click', status: 'skipped' },
  { name: 'no server', change: withoutServer, check: 'oldest_due', status: 'skipped' },
  { name: 'no server', change: withoutServer, check: 'dkim', status: 'ok' },
  {
    name: 'a return path that another server refuses',
    async change(world) {
      const { startSink } = await import('../../../fakes/smtp-sink.ts')
      const other = await startSink({
        respond: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 Who is that?' : undefined),
      })
      world.configure((config) => ({
        ...config,
        delivery: { ...config.delivery, port: other.port },
      }))
      return other.stop
    },
    ...{ check: 'return_path', status: 'failed', says: /550 5\.1\.1 Who is that\?/ },
  },
  {
    name: 'base_url without TLS',
    change: (world) => world.configure((config) => ({ ...config, baseUrl: 'http://127.0.0.1:1' })),
    ...{ check: 'base_url', status: 'warning', says: /cannot be reached from here/ },
  },
]

for (const { name, change, check, status, says = /./ } of CASES) {
  test(`${check} is ${status}: ${name}`, async (t) => {
    const world = await openWorld(t)
    const undo = await change(world)
    if (typeof undo === 'function') t.after(() => undo())
    const found = await world.check(check)
    assert.equal(found.status, status, found.evidence)
    assert.match(`${found.evidence}\n${found.fix}`, says)
    assert.equal(found.fix === null, status === 'ok' || status === 'skipped')
  })
}

test('a greeting of a hostile server is cut at 500 characters and escaped', async (t) => {
  const world = await openWorld(t)
  const { startSink } = await import('../../../fakes/smtp-sink.ts')
  const evil = `220 \x1b[2J\x07\u202e${'x'.repeat(2_000)}`
  const hostile = await startSink({
    respond: ({ verb }) => (verb === 'CONNECT' ? evil : undefined),
  })
  t.after(hostile.stop)
  withDoctor({ smtpTarget: { host: 'mx.target.test', port: hostile.port } })(world)
  const { status, evidence } = await world.check('smtp_egress')
  assert.equal(status, 'ok')
  assert.equal(evidence.length, 500)
  assert.match(evidence, /\\x1b\[2J\\x07/)
  assert.doesNotMatch(evidence, /[\x00-\x1f\x7f-\x9f\u202e]/)
})

test('a TXT record of a stranger comes into the fix with its quotes escaped', async (t) => {
  const world = await openWorld(t)
  world.dns.set('_dmarc.shop.test', { TXT: ['v=DMARC1; p=none; aspf=s; x="\x1b[2J'] })
  const { fix } = await world.check('dmarc')
  assert.match(fix ?? '', /aspf=r; x=\\"\\x1b\[2J"$/)
})

test('a target that never greets ends within its limit and holds up no other check', async (t) => {
  const world = await openWorld(t, 100)
  const { startSink } = await import('../../../fakes/smtp-sink.ts')
  const hung = await startSink({ respond: () => silence })
  t.after(hung.stop)
  withDoctor({ smtpTarget: { host: '127.0.0.1', port: hung.port } })(world)
  const found = (await world.run()).find(({ id }) => id === 'smtp_egress')
  assert.equal(found?.status, 'failed')
  assert.match(found.evidence, /timed out/)
})

test('a check that hangs is a warning at the end of the run, and so is one that throws', async (t) => {
  const world = await openWorld(t)
  const checks = [
    { id: 'spf' as const, run: () => new Promise<never>(() => undefined) },
    { id: 'wal' as const, run: async () => Promise.reject(new Error('boom')) },
    { id: 'clock' as const, run: async () => ({ status: 'ok' as const, evidence: 'fine' }) },
  ]
  const found = await world.run({ limitMs: 20, checks })
  assert.deepEqual(
    found.map(({ id, status }) => [id, status]),
    [
      ['spf', 'warning'],
      ['wal', 'warning'],
      ['clock', 'ok'],
    ],
  )
  assert.match(found[1]?.evidence ?? '', /boom/)
})

test('while DNS does not answer, the checks name its server and offer no record to create', async (t) => {
  const world = await openWorld(t)
  world.configure((config) => ({
    ...config,
    dns: { ...config.dns, servers: ['192.0.2.53'] },
    delivery: { ...config.delivery, publicAddresses: ['127.0.0.1'] },
  }))
  const silent = async () => ({ kind: 'failed' as const, error: 'no answer', expiresAt: 0 })
  const { probes } = world.deps
  const dns = { a: silent, aaaa: silent, mx: silent, txt: silent, ptr: silent, listing: silent }
  world.deps.probes = {
    ...probes,
    dns,
    addressesOf: async () => ({ addresses: [], fault: 'no answer', isUnknown: true }),
  }
  for (const id of ['reverse_dns', 'spf', 'dkim', 'dmarc', 'return_path'] as const) {
    const { status, fix } = await world.check(id)
    assert.equal(status, 'warning', id)
    assert.match(
      fix ?? '',
      /^If .* the DNS server 192\.0\.2\.53 does not answer: .*dns\.servers/,
      id,
    )
    assert.doesNotMatch(fix ?? '', / IN /, id)
  }
  const { fix } = await world.check('smtp_egress')
  assert.match(fix ?? '', /the DNS server 192\.0\.2\.53 does not answer/)
  assert.doesNotMatch(fix ?? '', /provider/)
  world.configure((config) => ({ ...config, dns: { ...config.dns, servers: [] } }))
  assert.match((await world.check('dkim')).fix ?? '', /of \/etc\/resolv\.conf does not answer/)
})

test('domains of projects get DNS questions only', async (t) => {
  const world = await openWorld(t)
  const { probes } = world.deps
  const asked: string[] = []
  world.deps.probes = {
    ...probes,
    addressesOf: (host) => {
      asked.push(host)
      return probes.addressesOf(host)
    },
  }
  world.dns.set('bounce.shop.test', { MX: [[10, 'shop.test']], TXT: ['v=spf1 a:shop.test ~all'] })
  world.dns.set('shop.test', { A: ['127.0.0.1'] })
  await world.run()
  assert.deepEqual([...new Set(asked)].sort(), [HOST, 'mx.target.test'])
})
