import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import type { CheckId, CheckStatus } from '../../../../src/features/operation/doctor/check.ts'
import type { CertificateOptions } from '../../../fakes/certificate.ts'
import { cleanUpAfterFile } from '../../../file-cleanup.ts'
import {
  HOST,
  openServer,
  openWorld,
  REVERSE,
  startOther,
  type World,
  type WorldServer,
} from './world.ts'

const cleanup = cleanUpAfterFile()
let server: WorldServer
before(async () => {
  server = await openServer(cleanup)
})

type Sabotage = {
  name: string
  certificate?: CertificateOptions
  break(world: World, t: Parameters<typeof openWorld>[0]): unknown
  faults: Partial<Record<CheckId, CheckStatus>>
  /** What the evidence and the fix must contain. */
  says: readonly (string | RegExp)[]
}

const includes = Array.from({ length: 10 }, (_, index) => `i${index}.spf.test`)

const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'port 25 is closed',
    break: ({ sink }) => sink.stop(),
    faults: { smtp_egress: 'failed' },
    says: ['mx.target.test', 'ECONNREFUSED', 'outgoing TCP port'],
  },
  {
    name: 'the PTR record is wrong',
    break: ({ dns }) => dns.set(REVERSE, { PTR: ['host-1.provider.test'] }),
    faults: { reverse_dns: 'failed' },
    says: ['host-1.provider.test', `${REVERSE}. IN PTR ${HOST}.`],
  },
  {
    name: 'SPF takes 11 look-ups',
    break({ dns }) {
      const list = includes.map((name) => `include:${name}`).join(' ')
      dns.set('bounce.shop.test', { MX: [[10, HOST]], TXT: [`v=spf1 mx ${list} ~all`] })
      for (const name of includes) dns.set(name, { TXT: ['v=spf1 ip4:192.0.2.1 ~all'] })
    },
    faults: { spf: 'failed' },
    says: ['11 look-ups', 'bounce.shop.test. IN TXT "v=spf1 mx ~all"'],
  },
  {
    name: 'the DKIM key is replaced',
    break({ dns, records }) {
      dns.set(records.dkim!.name, { TXT: ['v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOC'] })
    },
    faults: { dkim: 'failed' },
    says: ['has another key', /pb\w+\._domainkey\.shop\.test\. IN TXT "v=DKIM1; k=rsa; p=/],
  },
  {
    name: 'DMARC is misaligned',
    break: ({ dns }) =>
      dns.set('_dmarc.shop.test', { TXT: ['v=DMARC1; p=reject; adkim=s; aspf=s'] }),
    faults: { dmarc: 'warning' },
    says: ['aspf=s', '_dmarc.shop.test. IN TXT "v=DMARC1; p=reject; adkim=s; aspf=r"'],
  },
  {
    name: 'the MX record of a return path leads elsewhere',
    break: ({ dns }) =>
      dns.set('bounce.shop.test', { MX: [[10, 'mx.old.test']], TXT: ['v=spf1 mx ~all'] }),
    faults: { return_path: 'failed' },
    says: ['mx.old.test', `bounce.shop.test. IN MX 10 ${HOST}.`],
  },
  {
    name: "the MX record of the server's own return path leads elsewhere",
    break: ({ dns }) =>
      dns.set(`bounce.${HOST}`, { MX: [[10, 'mx.old.test']], TXT: ['v=spf1 mx ~all'] }),
    faults: { return_path: 'failed' },
    says: ['mx.old.test', `bounce.${HOST}. IN MX 10 ${HOST}.`],
  },
  {
    name: 'the certificate has expired',
    certificate: { validFrom: Date.now() - 90 * DAY_MS, validTo: Date.now() - DAY_MS },
    break: () => undefined,
    faults: { certificates: 'failed' },
    says: ['port 25', 'HTTPS', 'expired', 'inbound.tls_cert', 'http.tls_cert'],
  },
  {
    name: 'base_url is of another host',
    async break(world, t) {
      const other = await startOther(t, (_request, response) => response.end('hello'))
      world.deps.probes = world.createProbes(other.cert)
      world.configure((config) => ({ ...config, baseUrl: `https://other.test:${other.port}` }))
    },
    faults: { base_url: 'failed' },
    says: ['another server answers', 'status 200', 'A record of other.test'],
  },
  {
    name: 'the disk is full to 99%',
    // The server then stores no more mail, and says so at port 25.
    break({ disk, core }, t) {
      Object.assign(disk, { free: 1e9, total: 100e9 })
      const { isLow } = core.disk
      Object.assign(core.disk, { isLow: () => true })
      t.after(() => void Object.assign(core.disk, { isLow }))
    },
    faults: { disk_space: 'failed' },
    says: ['1%', 'df -h'],
  },
  {
    name: 'the last backup is a month old',
    async break(world) {
      await world.core.store.write((tx) => tx.run('delete from backups'))
      await world.addBackup(30 * DAY_MS)
    },
    faults: { backup: 'failed' },
    says: ['30 days old', 'pillarbox backup FILE'],
  },
]

test('a server in order has no fault, and the checks send no mail', isInOrder)

async function isInOrder(t: TestContext): Promise<void> {
  const world = await openWorld(t, { server })
  const checks = await world.run()
  const bad = checks.filter(({ status }) => status !== 'ok')
  assert.deepEqual(
    bad.map(({ id, status, evidence }) => [id, status, evidence]),
    [['clock', 'skipped', 'doctor.time_url is not set']],
  )
  assert.ok(checks.every(({ fix }) => fix === null))
  assert.deepEqual(world.sink.lines, ['QUIT'])
  assert.equal(world.sink.acceptedCount(), 0)
}

for (const sabotage of SABOTAGES) {
  test(`the checks name this fault and nothing else: ${sabotage.name}`, async (t) => {
    const { certificate } = sabotage
    const world = await openWorld(t, certificate === undefined ? { server } : { certificate })
    await sabotage.break(world, t)
    const faults = await world.faults()
    const statuses = Object.fromEntries(faults.map(({ id, status }) => [id, status]))
    assert.deepEqual(statuses, sabotage.faults)
    const { evidence, fix } = faults[0]!
    for (const text of sabotage.says) assert.match(`${evidence}\n${fix}`, toPattern(text))
  })
}

test('the server of all these faults is in order again', isInOrder)

function toPattern(text: string | RegExp): RegExp {
  if (text instanceof RegExp) return text
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
}
