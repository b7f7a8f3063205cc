/**
 * The first hour by the guide, in a network of its own with real DNS (dnsmasq), a real receiver (Postfix)
 * and a real authority for certificates (pebble): a bare program becomes an installation that delivers a
 * campaign. Then ten sabotages, each of which `doctor` must name and nothing else, and a backup that
 * is restored elsewhere. The tests build on each other.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { DAY_MS } from '../../../src/clock.ts'
import type { CheckResult } from '../../../src/features/doctor/outcome.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { isPebbleInstalled, openPebble, type Pebble } from '../certificates/pebble.ts'
import { until } from '../faults/ledger.ts'
import { type Dnsmasq, isDnsmasqInstalled, startDnsmasq, type ZoneRecord } from '../mail/dnsmasq.ts'
import { isPostfixInstalled, type Mx, startPostfix } from '../mail/postfix.ts'
import {
  BACKUPS,
  CONFIG,
  createMachine,
  DATA,
  type Machine,
  mountDataDisk,
  type Service,
  setKeys,
} from './machine.ts'
import { ADDRESS, enterOwnNetwork, type Network, openNetwork, whyNoNetwork } from './network.ts'
import { type Lab, SABOTAGES } from './sabotages.ts'
import { type Call, callApi, seeStarttls, startOtherWeb } from './web.ts'
import { AUTHORITY, HOST, INTERNET, OTHER, readServerRecords, SENDER } from './zone.ts'

function whyNot(): string | false {
  if (!isPostfixInstalled()) return 'Postfix is not installed, or this is not root'
  if (!isDnsmasqInstalled()) return 'dnsmasq is not installed'
  return isPebbleInstalled() ? whyNoNetwork() : 'pebble is not installed'
}

const skip = process.env.IN_OWN_NETWORK === undefined && whyNot()
if (skip === false) enterOwnNetwork(import.meta.filename)

const t = cleanUpAfterFile()
const FOLDER = '/etc/pillarbox'
const OPERATOR = { email: 'ops@shop.test', password: 'secret12 horse' }

type Checks = { status: string; by: string; checks: CheckResult[] }
type WantedRecord = ZoneRecord & { purpose: string; state: string }
type Email = { id: string; to: string; state: string }

describe('the first hour', { skip }, () => {
  let network: Network
  let machine: Machine
  let service: Service
  let dns: Dnsmasq
  let mx: Mx
  let pebble: Pebble
  let root: string
  let records: ZoneRecord[] = [...INTERNET]
  let secret = ''
  let deferred: Email[] = []

  async function api<T>(route: string, call: Call = {}): Promise<T> {
    const headers = { authorization: `Bearer ${secret}`, ...call.headers }
    const { status, body } = await callApi(root, route, { ...call, headers })
    assert.ok(status === 200 || status === 201, `${route}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  async function untilHttps(): Promise<void> {
    await until(() =>
      callApi(root, '/health').then(
        () => true,
        () => false,
      ),
    )
  }

  async function checks(): Promise<CheckResult[]> {
    const { status, out, err } = await machine.attempt(['doctor', '--json'])
    assert.ok(status === 0 || status === 1, err)
    const { by, checks } = JSON.parse(out) as Checks
    assert.equal(by, 'server')
    return checks
  }

  const faultsIn = (found: readonly CheckResult[]) =>
    found.filter(({ status }) => status === 'warning' || status === 'failed')

  async function untilGreen(): Promise<CheckResult[]> {
    let last: CheckResult[] = []
    for (let tries = 0; tries < 10; tries += 1) {
      last = await checks()
      if (faultsIn(last).length === 0) return last
    }
    assert.fail(JSON.stringify(faultsIn(last)))
  }

  const queue = async (): Promise<Email[]> => (await machine.command('queue', 'list')) as Email[]

  /** All messages of the mailboxes that have this subject. */
  async function arrived(subject: string): Promise<string[]> {
    const boxes = await Promise.all(['ada', 'bob', 'carl'].map((user) => mx.messages(user)))
    return boxes
      .flat()
      .map(String)
      .filter((text) => text.includes(`Subject: ${subject}`))
  }

  const send = (to: string, subject: string) =>
    api('/v1/send', {
      body: { to, from: `news@${SENDER}`, subject, body: '<p>Hello</p>' },
    })

  before(async () => {
    network = await openNetwork(t)
    mountDataDisk()
    dns = await startDnsmasq(t, { host: ADDRESS.dns, port: 53, records })
    const boxes = ['ada', 'bob', 'carl'].map((user) => [`${user}@dest.test`, user])
    mx = await startPostfix(t, Object.fromEntries(boxes), { host: ADDRESS.mx, port: 25 })
    pebble = await openPebble(t, {
      place: {
        ...{ host: ADDRESS.authority, name: AUTHORITY },
        ...{ dnsServer: `${ADDRESS.dns}:53`, challengePort: 80 },
      },
    })
    await pebble.start()
    root = await pebble.root()
    const other = makeCertificate([OTHER])
    await startOtherWeb(t, other)
    const expired = makeCertificate([HOST], {
      ...{ validFrom: Date.now() - 90 * DAY_MS, validTo: Date.now() - DAY_MS },
    })
    mkdirSync('/var/tmp/certificates')
    const files = {
      trusted: root + other.cert + expired.cert,
      cert: expired.cert,
      key: expired.key,
    }
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(`/var/tmp/certificates/${name}.pem`, text)
    }
    machine = createMachine(t, { network, trusted: '/var/tmp/certificates/trusted.pem' })
  })

  it('installs the service', async () => {
    const { steps } = (await machine.command('systemd', '--install')) as {
      steps: { path: string; done: string }[]
    }
    assert.deepEqual(
      steps.filter(({ done }) => done === 'missing'),
      [],
    )
    const { uid, mode } = statSync(DATA)
    assert.notEqual(uid, 0)
    assert.equal(mode & 0o777, 0o700)
    assert.match(readFileSync('/etc/passwd', 'utf8'), new RegExp(`^pillarbox:x:${uid}:`, 'm'))
    const unit = readFileSync('/etc/systemd/system/pillarbox.service', 'utf8')
    assert.match(unit, /^ExecStart=.* serve$/m)
    assert.match(unit, /^CapabilityBoundingSet=CAP_NET_BIND_SERVICE$/m)
  })

  it('is configured at a terminal, which prints the records of the server', async () => {
    const seen = await machine.converse(
      ['init'],
      [
        [/Host name of this server/, HOST],
        [/Public address/, 'not a url'],
        [/Expected an address/, ''],
        [/Mode: /, ''],
        [/at port 25/, 'y'],
        [/Folder of the data/, ''],
        [/Folder of the daily backups/, ''],
        [/address for certificates/, OPERATOR.email],
        [/port 443 without a proxy/, 'y'],
        [/first user/, OPERATOR.email],
        [/Password/, OPERATOR.password],
        [/Repeat the password/, OPERATOR.password],
      ],
    )
    assert.doesNotMatch(seen, /secret12/)
    assert.match(seen, /Ports to open: in 443, 80, 25; out 25 \(mail\), 53 \(DNS\)\./)
    const printed = readServerRecords(seen)
    assert.deepEqual(
      printed.map(({ type }) => type),
      ['A', 'PTR', 'TXT', 'MX', 'TXT'],
    )
    records = [...records, ...printed]
    await dns.replace(records)
    copyFileSync(pebble.caFile, path.join(FOLDER, 'authority.pem'))
    setKeys(CONFIG, {
      'acme.directory_url': pebble.directoryUrl,
      'acme.ca_file': path.join(FOLDER, 'authority.pem'),
      'doctor.smtp_target': 'mx.dest.test',
    })
    const checked = await machine.attempt(['config', 'check'])
    assert.equal(checked.status, 0, checked.err)
  })

  it('gets a certificate for HTTPS and STARTTLS', async () => {
    service = await machine.serve()
    assert.deepEqual(service.ready.inbound, ['0.0.0.0:25'])
    await untilHttps()
    const { subjectaltname } = await seeStarttls(root)
    assert.equal(subjectaltname, `DNS:${HOST}`)
  })

  it('adds a domain, and finds the records that it asked for', async () => {
    const login = await callApi(root, '/auth/login', { body: OPERATOR })
    assert.equal(login.status, 200, JSON.stringify(login.body))
    const headers = { cookie: login.cookie }
    const project = await callApi(root, '/users/@me/projects', { headers, body: { name: 'Shop' } })
    assert.equal(project.status, 201, JSON.stringify(project.body))
    secret = (project.body as { secret: string }).secret
    const added = await api<{ id: string; verified: boolean; records: WantedRecord[] }>(
      '/domains',
      { body: { domain: SENDER } },
    )
    assert.equal(added.verified, false)
    const wanted = added.records.filter(({ purpose }) => purpose !== 'replies')
    records = [...records, ...wanted]
    await dns.replace(records)
    const verified = await api<{ verified: boolean; records: WantedRecord[] }>(
      `/domains/${added.id}/verify`,
    )
    assert.equal(verified.verified, true)
    const states = verified.records.map(({ purpose, state }) => `${purpose} ${state}`)
    assert.deepEqual(states, [
      'dkim found',
      'dkim-ed25519 found',
      'return-path found',
      'return-path-spf found',
      'dmarc found',
      'replies missing',
    ])
  })

  it('delivers a campaign with both signatures, and classifies the bad address', async () => {
    for (const user of ['ada', 'bob', 'carl', 'nobody']) {
      await api('/contacts', { body: { email: `${user}@dest.test`, subscribed: true } })
    }
    const made = await api<{ data: { id: string } }>('/campaigns', {
      body: {
        ...{ name: 'Spring', subject: 'Spring is here', audienceType: 'ALL' },
        ...{ from: `news@${SENDER}`, body: '<p>Hello <a href="https://shop.test/">you</a></p>' },
      },
    })
    const { id } = made.data
    await api(`/campaigns/${id}/send`, { body: {} })
    await until(async () => (await arrived('Spring is here')).length >= 3)
    let figures: Record<string, number> = {}
    await until(async () => {
      const { data } = await api<{ data: Record<string, number> }>(`/campaigns/${id}`)
      figures = data
      return data.deliveredCount === 3 && data.bouncedCount === 1
    })
    assert.equal(figures.totalRecipients, 4)
    const messages = await arrived('Spring is here')
    assert.equal(messages.length, 3)
    for (const message of messages) {
      // Postfix writes the ends of lines that mailboxes on Unix have.
      const { results } = await dkimVerify(Buffer.from(message.replaceAll(/\r?\n/g, '\r\n')))
      assert.deepEqual(
        results.map(({ status, signingDomain }) => [status.result, signingDomain]),
        [
          ['pass', SENDER],
          ['pass', SENDER],
        ],
      )
      assert.match(message, /a=rsa-sha256/)
      assert.match(message, /a=ed25519-sha256/)
    }
    const suppressed = await api<{ data: { email: string; reason: string }[] }>('/suppressions')
    assert.deepEqual(
      suppressed.data.map(({ email, reason }) => [email, reason]),
      [['nobody@dest.test', 'HARD_BOUNCE']],
    )
  })

  it('has nothing to complain of', async () => {
    const found = await untilGreen()
    assert.deepEqual(
      found.filter(({ status }) => status === 'skipped').map(({ id, evidence }) => [id, evidence]),
      [
        ['blocklists', 'doctor.blocklists is empty'],
        ['clock', 'doctor.time_url is not set'],
      ],
    )
  })

  const lab: Lab = {
    get network() {
      return network
    },
    get machine() {
      return machine
    },
    records: () => records,
    publish: (changed) => dns.replace(changed),
    async reconfigure(keys) {
      const kept = `${CONFIG}.kept`
      if (keys === undefined) copyFileSync(kept, CONFIG)
      else {
        copyFileSync(CONFIG, kept)
        setKeys(CONFIG, keys)
      }
      assert.equal(await service.stop(), 0)
      service = await machine.serve()
    },
    expired: { cert: '/var/tmp/certificates/cert.pem', key: '/var/tmp/certificates/key.pem' },
  }

  for (const { name, do: apply, undo, fault, says } of SABOTAGES) {
    it(`doctor names this fault and nothing else: ${name}`, async () => {
      try {
        await apply(lab)
        const faults = faultsIn(await checks())
        assert.deepEqual(
          faults.map(({ id, status }) => [id, status]),
          [fault],
          JSON.stringify(faults),
        )
        const said = `${faults[0]?.evidence}\n${faults[0]?.fix}`
        for (const text of says) assert.ok(said.includes(text), `${text} is not in ${said}`)
      } finally {
        await undo(lab)
      }
      await untilGreen()
    })
  }

  it('makes a backup while mail is deferred, and delivers the mail afterwards', async () => {
    const users = ['ada', 'bob', 'carl']
    for (const user of users) mx.policy.set(`${user}@dest.test`, '451 4.3.2 Busy')
    for (const user of users) await send(`${user}@dest.test`, 'Before the backup')
    await until(async () => {
      deferred = (await queue()).filter(({ state }) => state === 'deferred')
      return deferred.length === users.length
    })
    await machine.command('backup', path.join(BACKUPS, 'deferred.tar.zst'))
    // All but one: that one is the rest.
    for (const user of ['ada', 'bob']) mx.policy.delete(`${user}@dest.test`)
    await machine.command('queue', 'retry', ...deferred.map(({ id }) => id))
    await until(async () => (await queue()).length === 1)
    assert.equal((await arrived('Before the backup')).length, 2)
    assert.equal(await service.stop(), 0)
    mx.policy.clear()
  })

  it('restored elsewhere it sends nothing twice, and after the release exactly the rest', async () => {
    const elsewhere = '/var/lib/elsewhere'
    const { uid, gid } = statSync(DATA)
    network.run('install', '-d', '-o', String(uid), '-g', String(gid), '-m', '0700', elsewhere)
    const to = path.join(elsewhere, 'data')
    await machine.command('restore', path.join(BACKUPS, 'deferred.tar.zst'), '--to', to)
    const trusted = '/var/tmp/certificates/trusted.pem'
    machine = createMachine(t, { network, trusted, config: path.join(to, 'pillarbox.toml') })
    service = await machine.serve()
    await untilHttps()
    const held = await queue()
    assert.deepEqual(
      held.map(({ id, state }) => [id, state]).sort(),
      deferred.map(({ id }) => [id, 'paused']).sort(),
    )
    // New mail goes at once, and what is held does not go with it.
    await send('ada@dest.test', 'After the restore')
    await until(async () => (await arrived('After the restore')).length === 1)
    assert.equal((await arrived('Before the backup')).length, 2)
    const done = held.filter(({ to: recipient }) => recipient !== 'carl@dest.test')
    await machine.command('queue', 'cancel', ...done.map(({ id }) => id))
    await machine.command('queue', 'release', '--restored')
    await until(async () => (await queue()).length === 0)
    const all = await arrived('Before the backup')
    const recipients = all.map((message) => /^Delivered-To: (.*)$/m.exec(message)?.[1]).sort()
    assert.deepEqual(recipients, ['ada@dest.test', 'bob@dest.test', 'carl@dest.test'])
    assert.equal((await arrived('After the restore')).length, 1)
    assert.equal((await arrived('Spring is here')).length, 3)
    await untilGreen()
    assert.equal(await service.stop(), 0)
  })
})
