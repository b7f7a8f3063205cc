import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { DAY_MS } from '../../../src/base/clock.ts'
import { createHealth } from '../../../src/base/health.ts'
import { createLog } from '../../../src/base/log.ts'
import { findCertificateFaults } from '../../../src/config/certificates/faults.ts'
import type { CertificatePair } from '../../../src/config/certificates/pair.ts'
import type { TlsListener } from '../../../src/config/certificates/tls-listener.ts'
import { createCertificates } from '../../../src/config/certificates/watch.ts'
import type { Config, TlsFiles } from '../../../src/config/config.ts'
import { type Certificate, makeCertificate } from '../../fakes/certificate.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const long = { validFrom: NOW - DAY_MS, validTo: NOW + 60 * DAY_MS }

type Change = { baseUrl?: string; trustedProxies?: string[] }

function configOf(change: Change = {}, tls: TlsFiles | null = null) {
  const { baseUrl = 'https://app.example.test', trustedProxies = [] } = change
  const listen = [{ host: '127.0.0.1', port: 0, isTls: false }]
  return {
    baseUrl,
    http: { trustedProxies, tls, listen: listen[0] },
    inbound: { tls, listen },
    submission: { tls, listen },
    delivery: { hostname: 'mail.example.test' },
  } as unknown as Config
}

type Given = Change & { validFrom?: number; validTo?: number }

describe('the faults of a certificate', () => {
  const faultsOf = (
    listener: TlsListener,
    names: string[],
    { validFrom = long.validFrom, validTo = long.validTo, ...config }: Given = {},
  ) => {
    const { cert } = makeCertificate(names, { validFrom, validTo })
    const shown = { listener, file: 'cert.pem', cert: Buffer.from(cert) }
    return findCertificateFaults(configOf(config), shown, NOW)
  }

  it('are absent if it is for the host and valid for a week', () => {
    assert.deepEqual(faultsOf('http', ['app.example.test']), [])
    assert.deepEqual(faultsOf('http', ['*.example.test']), [])
    assert.deepEqual(faultsOf('inbound', ['mail.example.test']), [])
    assert.deepEqual(faultsOf('inbound', ['mail.example.test'], { validTo: NOW + 7 * DAY_MS }), [])
  })

  it('are its dates: expired, not yet valid, expiring within a week', () => {
    const names = ['mail.example.test']
    const start = 'The certificate cert.pem of inbound'
    const cases: [number, number, string][] = [
      [NOW - 9 * DAY_MS, NOW - DAY_MS, `${start} expired at 2026-11-20T12:00:00.000Z.`],
      [NOW - 9 * DAY_MS, NOW, `${start} expired at 2026-11-21T12:00:00.000Z.`],
      [NOW - DAY_MS, NOW + 6 * DAY_MS, `${start} expires at 2026-11-27T12:00:00.000Z.`],
      [NOW + DAY_MS, NOW + 90 * DAY_MS, `${start} is not valid before 2026-11-22T12:00:00.000Z.`],
    ]
    for (const [validFrom, validTo, fault] of cases) {
      assert.deepEqual(faultsOf('inbound', names, { validFrom, validTo }), [fault])
    }
  })

  it('are a wrong name: of base_url for http, of delivery.hostname for mail', () => {
    assert.deepEqual(faultsOf('http', ['mail.example.test']), [
      'The certificate cert.pem of http is not for app.example.test but for DNS:mail.example.test.',
    ])
    assert.deepEqual(faultsOf('inbound', ['app.example.test', 'b.test']), [
      'The certificate cert.pem of inbound is not for mail.example.test but for DNS:app.example.test, DNS:b.test.',
    ])
    for (const name of ['mail.example.test', 'app.example.test']) {
      assert.deepEqual(faultsOf('submission', [name]), [])
    }
    assert.equal(faultsOf('submission', ['c.test']).length, 1)
  })

  it('ignore the name behind a proxy', () => {
    const config = { trustedProxies: ['10.0.0.1'] }
    assert.deepEqual(faultsOf('http', ['inside.local'], config), [])
  })

  it('are a wrong address in base_url', () => {
    const config = { baseUrl: 'https://[2001:db8::1]:8443' }
    const [fault] = faultsOf('http', ['app.example.test'], config)
    assert.match(fault ?? '', /is not for 2001:db8::1 but/)
  })
})

/** Watched files that http and mail share; a test decides when they are polled. */
async function openWatch(t: TestContext, first: Certificate) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-certificates-'))
  t.after(() => rm(folder, { recursive: true }))
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
  const write = async ({ cert, key }: Certificate) => {
    await writeFile(certFile, cert)
    await writeFile(keyFile, key)
  }
  await write(first)
  const lines: { level: string; msg: string }[] = []
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) })
  const clock = { now: NOW }
  const { health, isPolled } = watchPolls()
  const config = configOf({}, { certFile, keyFile })
  t.mock.timers.enable({ apis: ['setInterval'] })
  const certificates = createCertificates({ config, health, log, now: () => clock.now })
  t.after(certificates.stop)
  const given: [TlsListener, CertificatePair][] = []
  for (const listener of ['http', 'inbound'] as const) {
    const pair = certificates.follow(listener, (renewed) => given.push([listener, renewed]))
    assert.equal(pair?.cert.toString(), first.cert)
  }
  const errors = () => lines.filter(({ level }) => level === 'error').map(({ msg }) => msg)
  /** Lets the time to the next poll pass, and waits for its end. */
  const poll = async () => {
    const polled = isPolled()
    t.mock.timers.tick(3_000)
    await polled
  }
  /** Lets ten seconds pass, with all polls in them. */
  const lookForTenSeconds = async () => {
    for (let tick = 0; tick < 3; tick += 1) await poll()
  }
  return {
    certificates,
    folder,
    certFile,
    keyFile,
    write,
    errors,
    clock,
    health,
    given,
    poll,
    look: lookForTenSeconds,
  }
}

/** Each poll ends with its outcome in health. `isPolled` resolves at the end of the next one. */
function watchPolls() {
  const health = createHealth()
  let ended = Promise.withResolvers<void>()
  const set: typeof health.set = (...given) => {
    health.set(...given)
    ended.resolve()
  }
  const isPolled = async () => {
    ended = Promise.withResolvers()
    await ended.promise
    // Until it has ended, no other poll begins.
    await new Promise(setImmediate)
  }
  return { health: { ...health, set }, isPolled }
}

const names = ['app.example.test', 'mail.example.test']

describe('watched certificates', () => {
  it('are renewed for every listener within ten seconds, and only when they have changed', async (t) => {
    const { write, given, look, errors, certificates } = await openWatch(
      t,
      makeCertificate(names, long),
    )
    await look()
    assert.equal(given.length, 0)
    const second = makeCertificate(names, { validFrom: NOW - DAY_MS, validTo: NOW + 90 * DAY_MS })
    await write(second)
    await look()
    assert.deepEqual(
      given.map(([listener, { cert, key }]) => [listener, String(cert), String(key)]),
      ['http', 'inbound'].map((listener) => [listener, second.cert, second.key]),
    )
    assert.deepEqual(errors(), [])
    assert.deepEqual(certificates.list(), [
      { listener: 'http', daysLeft: 90 },
      { listener: 'inbound', daysLeft: 90 },
    ])
  })

  it('are renewed when a symbolic link changes', async (t) => {
    const { folder, certFile, keyFile, given, look } = await openWatch(
      t,
      makeCertificate(names, long),
    )
    const second = makeCertificate(names, long)
    for (const [file, text] of [
      [certFile, second.cert],
      [keyFile, second.key],
    ] as const) {
      const target = path.join(folder, `live-${path.basename(file)}`)
      await writeFile(target, text)
      await symlink(target, `${file}.new`)
      await rename(`${file}.new`, file)
    }
    await look()
    assert.equal(String(given[0]?.[1].cert), second.cert)
  })

  it('keep the previous pair when a new one is broken, which is logged once and shown in health', async (t) => {
    const { write, keyFile, given, look, errors, health } = await openWatch(
      t,
      makeCertificate(names, long),
    )
    await writeFile(keyFile, makeCertificate(names, long).key)
    await look()
    await look()
    assert.deepEqual(given, [])
    assert.equal(errors().length, 1)
    assert.match(
      errors()[0] ?? '',
      /^The renewed certificate \S+cert\.pem cannot be used; .*: the key does not belong to the certificate\.$/,
    )
    assert.deepEqual(health.reasons(), [{ cause: 'certificate', reason: errors()[0] }])
    await rm(keyFile)
    await look()
    assert.match(errors()[1] ?? '', /ENOENT/)
    await write(makeCertificate(names, long))
    await look()
    assert.equal(given.length, 2)
    assert.deepEqual(health.reasons(), [])
  })

  it('are used once they can be read, though the times of their files stay as they were', async (t) => {
    const { certFile, keyFile, given, look, errors, health } = await openWatch(
      t,
      makeCertificate(names, long),
    )
    const second = makeCertificate(names, long)
    const times = new Date(NOW)
    await writeFile(certFile, second.cert)
    await writeFile(keyFile, second.key.replace(/[A-Za-z]/g, '*'))
    await utimes(keyFile, times, times)
    await look()
    await look()
    assert.equal(errors().length, 1)
    assert.equal(health.reasons().length, 1)
    await writeFile(keyFile, second.key)
    await utimes(keyFile, times, times)
    await look()
    assert.equal(given.length, 2)
    assert.deepEqual(health.reasons(), [])
    await look()
    assert.equal(given.length, 2)
  })

  it('are not reported as broken between two writes', async (t) => {
    const { certFile, keyFile, given, errors, poll } = await openWatch(
      t,
      makeCertificate(names, long),
    )
    const { cert, key } = makeCertificate(names, long)
    await writeFile(certFile, cert)
    await poll()
    await writeFile(keyFile, key)
    await poll()
    assert.equal(given.length, 2)
    assert.deepEqual(errors(), [])
  })

  it('are reported once when they expire in use', async (t) => {
    const { clock, look, errors, health } = await openWatch(t, makeCertificate(names, long))
    clock.now += 54 * DAY_MS
    await look()
    await look()
    assert.equal(errors().length, 2, 'one a listener')
    assert.match(errors()[0] ?? '', /of http expires at 2027-01-20/)
    clock.now += 7 * DAY_MS
    await look()
    await look()
    assert.equal(errors().length, 4)
    assert.match(health.reasons()[0]?.reason ?? '', /of http expired at .* of inbound expired at/)
  })
})
