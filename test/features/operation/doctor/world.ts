/**
 * A server in order, with everything around it that the checks look at: its listeners are the real
 * ones, with certificates; the DNS, the target of SMTP and the disk are fakes. A test breaks one thing
 * and looks at what the checks say.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import type { Config } from '../../../../src/config/config.ts'
import { wantedRecords } from '../../../../src/features/mail/domains/records.ts'
import { findLastBackup, recordBackup } from '../../../../src/features/operation/backup/record.ts'
import type { CheckId, CheckResult } from '../../../../src/features/operation/doctor/check.ts'
import type { DoctorDeps } from '../../../../src/features/operation/doctor/deps.ts'
import { CHECKS, runChecks } from '../../../../src/features/operation/doctor/run-checks.ts'
import { startHttp } from '../../../../src/http/server/server.ts'
import { startInbound } from '../../../../src/inbound/listener.ts'
import { createResolver } from '../../../../src/outbound/dns/resolver.ts'
import { createProbes } from '../../../../src/outbound/probe/probes.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import type { DiskSpace } from '../../../../src/store/files/disk.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { type CertificateOptions, makeCertificate } from '../../../fakes/certificate.ts'
import type { DnsZone, FakeDns } from '../../../fakes/dns-server.ts'
import { type Sink, startSink } from '../../../fakes/smtp-sink.ts'

export const HOST = 'mail.example.test'
export const ADDRESS = '127.0.0.1'
export const REVERSE = '1.0.0.127.in-addr.arpa'

/** A loaded machine must not make a check give up. */
const PATIENT_MS = 20_000

export type World = {
  core: TestCore
  dns: FakeDns
  /** The target of `doctor.smtp_target`, mx.target.test. */
  sink: Sink
  /** The records of the sender domain shop.test, by purpose. */
  records: Record<string, { name: string; value: string }>
  /** What the checks get; a test may change it. */
  deps: DoctorDeps & { config: Config }
  disk: DiskSpace
  /** The network with trust in another authority (PEM). */
  createProbes(ca: string): DoctorDeps['probes']
  /** Changes a part of the configuration. */
  configure(change: (config: Config) => Config): void
  run(options?: Parameters<typeof runChecks>[1]): Promise<CheckResult[]>
  /** The checks that are neither ok nor skipped. */
  faults(): Promise<CheckResult[]>
  /** Runs this check alone: it follows from no other. */
  check(id: CheckId): Promise<CheckResult>
  addBackup(ageMs: number, error?: string): Promise<void>
}

type WorldOptions = { certificate?: CertificateOptions; limitMs?: number; server?: WorldServer }

/** A server with its certificate and the sender domain shop.test, which worlds may share. */
export type WorldServer = {
  core: TestCore
  pair: { cert: string; key: string }
  httpPort: number
  inbound: Awaited<ReturnType<typeof startInbound>>
  records: World['records']
}

export async function openServer(
  t: Pick<TestContext, 'after'>,
  certificate: CertificateOptions = {},
): Promise<WorldServer> {
  const stops: (() => unknown)[] = []
  t.after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const pair = makeCertificate([HOST], { validTo: Date.now() + 60 * DAY_MS, ...certificate })
  const tls = await writePair(pair, stops)
  const core = await openTestCore(
    { after: (stop) => void stops.push(stop as () => unknown) },
    { settings: settingsOf(tls), now: Date.now },
  )
  const http = await startHttp({ core, requestLog: { record: () => undefined } })
  stops.push(() => http.stop(0))
  const inbound = await startInbound(core)
  stops.push(() => inbound.stop(0))
  const project = await addProject(core)
  const id = await trustDomain(core, project.id, 'shop.test')
  const domain = await core.store.read.select().from(domains).where(eq(domains.id, id)).get()
  const wanted = wantedRecords(domain!, HOST)
  const records = Object.fromEntries(wanted.map(({ purpose, ...record }) => [purpose, record]))
  return { core, pair, httpPort: Number(new URL(http.url).port), inbound, records }
}

/** On a server of its own, unless one is given. */
export async function openWorld(
  t: Pick<TestContext, 'after'>,
  { certificate = {}, limitMs = PATIENT_MS, server }: WorldOptions = {},
): Promise<World> {
  const { core, pair, httpPort, inbound, records } = server ?? (await openServer(t, certificate))
  const port = httpPort
  await core.store.write(async (tx) => {
    await tx.run('delete from backups')
    await tx.run('delete from attempts')
  })
  const dns = forOneTest(t, core.dns)
  const sink = await startSink()
  t.after(sink.stop)
  for (const [name, entry] of Object.entries(zoneOf(records))) dns.set(name, entry)
  const { address } = dns
  const resolver = createResolver({ servers: [address], now: core.now, timeoutMs: PATIENT_MS })
  t.after(() => resolver.stop())
  const disk = { free: 50e9, total: 100e9, freeInodes: 5e6, totalInodes: 6e6 }
  const [listener] = inbound.addresses
  const config: Config = {
    ...core.config,
    baseUrl: `https://${HOST}:${port}`,
    delivery: { ...core.config.delivery, port: listener!.port },
    doctor: {
      ...{ smtpTarget: { host: 'mx.target.test', port: sink.port }, timeUrl: null },
      blocklists: ['bl.example.test'],
    },
  }
  const listeners = () => ({
    http: { host: ADDRESS, port, isTls: true },
    inbound: inbound.addresses,
    submission: [],
  })
  const deps = {
    ...core,
    config,
    probes: createProbes({ resolver, now: core.now, ca: pair.cert, limitMs }),
    readSpace: async () => disk,
    findLastBackup: () => findLastBackup(core),
    server: { outbound: core.outbound, arrivals: core.doctor.arrivals, listeners },
  }
  const run: World['run'] = async (options) => (await runChecks(deps, options)).checks
  const world: World = {
    ...{ core, dns, sink, records, deps, disk, run },
    createProbes: (ca) => createProbes({ resolver, now: core.now, ca, limitMs }),
    configure(change) {
      deps.config = change(deps.config)
    },
    async faults() {
      return (await run()).filter(({ status }) => status === 'warning' || status === 'failed')
    },
    async check(name) {
      const [found] = await run({ checks: CHECKS.filter(({ id }) => id === name) })
      return found!
    },
    async addBackup(ageMs, error) {
      const at = Date.now() - ageMs
      await recordBackup(core, {
        ...{ origin: 'schedule', file: '/backups/one.tar.zst', startedAt: at, endedAt: at },
        ...{ error: error ?? null, bytes: 1, databaseBytes: 1 },
      })
    },
  }
  await world.addBackup(DAY_MS)
  return world
}

/** Names that are set are unknown again after the test. */
function forOneTest(t: Pick<TestContext, 'after'>, dns: FakeDns): FakeDns {
  const names = new Set<string>()
  t.after(() => {
    for (const name of names) dns.set(name, undefined)
  })
  const set: FakeDns['set'] = (name, records) => {
    names.add(name)
    dns.set(name, records)
  }
  return { ...dns, set }
}

/** An HTTPS server of somebody else at this machine, with a certificate that `ca` makes trusted. */
export async function startOther(
  t: Pick<TestContext, 'after'>,
  answer: Parameters<typeof createHttpsServer>[1],
): Promise<{ port: number; cert: string; server: Server }> {
  const pair = makeCertificate(['other.test'])
  const server = createHttpsServer(pair, answer)
  await new Promise<void>((resolve) => server.listen(0, ADDRESS, resolve))
  t.after(() => server.close().closeAllConnections())
  return { port: (server.address() as AddressInfo).port, cert: pair.cert, server }
}

async function writePair(pair: { cert: string; key: string }, stops: (() => unknown)[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-doctor-'))
  stops.push(() => rm(folder, { recursive: true }))
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
  await Promise.all([writeFile(certFile, pair.cert), writeFile(keyFile, pair.key)])
  return { certFile, keyFile }
}

function settingsOf({ certFile, keyFile }: { certFile: string; keyFile: string }) {
  return {
    PILLARBOX_BASE_URL: `https://${HOST}`,
    PILLARBOX_DELIVERY__MODE: 'direct',
    PILLARBOX_DELIVERY__HOSTNAME: HOST,
    PILLARBOX_HTTP__LISTEN: `${ADDRESS}:0`,
    PILLARBOX_HTTP__TLS_CERT: certFile,
    PILLARBOX_HTTP__TLS_KEY: keyFile,
    PILLARBOX_INBOUND__LISTEN: `["${ADDRESS}:0"]`,
    PILLARBOX_INBOUND__TLS_CERT: certFile,
    PILLARBOX_INBOUND__TLS_KEY: keyFile,
    PILLARBOX_LIMITS__MIN_FREE_BYTES: '1000000',
  }
}

function zoneOf(records: World['records']): DnsZone {
  const texts = Object.values(records).filter(({ value }) => !/^\d+ /.test(value))
  return {
    [HOST]: { A: [ADDRESS] },
    [REVERSE]: { PTR: [HOST] },
    [`bounce.${HOST}`]: { MX: [[10, HOST]], TXT: ['v=spf1 mx ~all'] },
    'mx.target.test': { A: [ADDRESS] },
    'other.test': { A: [ADDRESS] },
    ...Object.fromEntries(texts.map(({ name, value }) => [name, { TXT: [value] }])),
    'bounce.shop.test': { MX: [[10, HOST]], TXT: ['v=spf1 mx ~all'] },
  }
}
