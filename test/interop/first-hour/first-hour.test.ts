/**
 * The first hour by the guide, in a network of its own with real DNS (dnsmasq), a real receiver (Postfix)
 * and a real authority for certificates (pebble): a bare program becomes an installation that delivers a
 * campaign. Then ten sabotages, each of which `doctor` must name and nothing else, and a backup that
 * is restored elsewhere. The tests build on each other.
 */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { until } from '../faults/ledger.ts'
import type { ZoneRecord } from '../mail/dnsmasq.ts'
import { faultsIn, makeChecks, untilGreen } from './doctor.ts'
import { type Lab, openLab, USERS, whyNoLab } from './lab.ts'
import { BACKUPS, CONFIG, DATA, findInstalled, type Service, setKeys } from './machine.ts'
import { enterOwnNetwork, isOwnNetwork } from './network.ts'
import { SABOTAGES, type Scene } from './sabotages.ts'
import { type Call, callApi, seeStarttls } from './web.ts'
import { HOST, readServerRecords, SENDER } from './zone.ts'

const skip = !isOwnNetwork() && whyNoLab()
if (skip === false) enterOwnNetwork(import.meta.filename)

const t = cleanUpAfterFile()
const OPERATOR = { email: 'ops@shop.test', password: 'secret12 horse' }
const DEFERRED = path.join(BACKUPS, 'deferred.tar.zst')

type Domain = {
  id: string
  verified: boolean
  records: (ZoneRecord & { purpose: string; state: string })[]
}
type Email = { id: string; to: string; state: string }

describe('the first hour', { skip }, () => {
  let lab: Lab
  let service: Service
  let secret = ''
  let deferred: Email[] = []

  before(async () => {
    lab = await openLab(t)
  })

  async function api<T>(route: string, call: Call = {}): Promise<T> {
    const key: Call['headers'] = secret === '' ? {} : { authorization: `Bearer ${secret}` }
    const headers = { ...key, ...call.headers }
    const { status, body } = await callApi(lab.root, route, { ...call, headers })
    assert.ok(status === 200 || status === 201, `${route}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  const isServed = () =>
    callApi(lab.root, '/health').then(
      () => true,
      () => false,
    )

  const queueOf = async (machine: Lab['machine']) =>
    (await machine.command('queue', 'list')) as Email[]

  const send = (user: string, subject: string) =>
    api('/v1/send', {
      body: { to: `${user}@dest.test`, from: `news@${SENDER}`, subject, body: '<p>Hello</p>' },
    })

  /** All messages of the mailboxes that have this subject. */
  async function arrived(subject: string): Promise<string[]> {
    const boxes = await Promise.all(USERS.map((user) => lab.mx.messages(user)))
    const texts = boxes.flat().map(String)
    return texts.filter((text) => text.includes(`Subject: ${subject}`))
  }

  it('installs the service', async () => {
    await lab.machine.command('systemd', '--install')
    const { uid, mode } = statSync(DATA)
    assert.notEqual(uid, 0)
    assert.equal(mode & 0o777, 0o700)
    assert.match(readFileSync('/etc/passwd', 'utf8'), new RegExp(`^pillarbox:x:${uid}:`, 'm'))
    const unit = readFileSync('/etc/systemd/system/pillarbox.service', 'utf8')
    assert.ok(unit.includes(`\nExecStart=${findInstalled().join(' ')} serve\n`), unit)
    assert.match(unit, /^CapabilityBoundingSet=CAP_NET_BIND_SERVICE$/m)
  })

  it('is configured at a terminal, which prints the records of the server', async () => {
    const seen = await lab.machine.converse(
      ['--config', CONFIG, 'init'],
      [
        [/Mode: /, ''],
        [/Host name of this server/, 'mail'],
        [/Expected a name with a dot/, HOST],
        [/Public address/, 'not a url'],
        [/Expected an address/, ''],
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
    assert.ok(!seen.includes(OPERATOR.password))
    assert.match(
      seen,
      /Ports to open: in 443, 80, 25; out 25 \(mail\), 53 \(DNS\), \d+ \(certificates\)\./,
    )
    const printed = readServerRecords(seen)
    const types = printed.map(({ type }) => type)
    assert.deepEqual(types, ['A', 'PTR', 'TXT', 'MX', 'TXT'])
    await lab.addRecords(printed)
    const authority = path.join(path.dirname(CONFIG), 'authority.pem')
    copyFileSync(lab.pebble.caFile, authority)
    setKeys(CONFIG, {
      'acme.directory_url': lab.pebble.directoryUrl,
      'acme.ca_file': authority,
      'doctor.smtp_target': 'mx.dest.test',
    })
    const checked = await lab.machine.attempt(['config', 'check'])
    assert.equal(checked.status, 0, checked.err)
  })

  it('gets a certificate for HTTPS and STARTTLS', async () => {
    service = await lab.machine.serve()
    assert.deepEqual(service.ready.inbound, ['0.0.0.0:25'])
    await until(isServed)
    const { subjectaltname } = await seeStarttls(lab.root)
    assert.equal(subjectaltname, `DNS:${HOST}`)
  })

  it('adds a domain, and finds the records that it asked for', async () => {
    const login = await callApi(lab.root, '/auth/login', { body: OPERATOR })
    const project = { headers: { cookie: login.cookie }, body: { name: 'Shop' } }
    secret = (await api<{ secret: string }>('/users/@me/projects', project)).secret
    const added = await api<Domain>('/domains', { body: { domain: SENDER } })
    assert.equal(added.verified, false)
    await lab.addRecords(added.records.filter(({ purpose }) => purpose !== 'replies'))
    const { verified, records } = await api<Domain>(`/domains/${added.id}/verify`)
    assert.equal(verified, true)
    assert.deepEqual(
      records.map(({ purpose, state }) => `${purpose} ${state}`),
      [
        ...['dkim found', 'dkim-ed25519 found', 'return-path found', 'return-path-spf found'],
        ...['dmarc found', 'replies missing'],
      ],
    )
  })

  it('delivers a campaign with both signatures, and classifies the bad address', async () => {
    for (const user of [...USERS, 'nobody']) {
      await api('/contacts', { body: { email: `${user}@dest.test`, subscribed: true } })
    }
    const campaign = {
      ...{ name: 'Spring', subject: 'Spring is here', audienceType: 'ALL' },
      ...{ from: `news@${SENDER}`, body: '<p>Hello <a href="https://shop.test/">you</a></p>' },
    }
    const { id } = (await api<{ data: { id: string } }>('/campaigns', { body: campaign })).data
    await api(`/campaigns/${id}/send`, { body: {} })
    await until(async () => (await arrived('Spring is here')).length >= USERS.length)
    let figures: Record<string, number> = {}
    await until(async () => {
      figures = (await api<{ data: Record<string, number> }>(`/campaigns/${id}`)).data
      return figures.deliveredCount === USERS.length && figures.bouncedCount === 1
    })
    assert.equal(figures.totalRecipients, USERS.length + 1)
    const messages = await arrived('Spring is here')
    assert.equal(messages.length, USERS.length)
    for (const message of messages) {
      // Postfix stores the ends of lines of Unix.
      const { results } = await dkimVerify(Buffer.from(message.replaceAll(/\r?\n/g, '\r\n')))
      const verdicts = results.map(({ status, signingDomain }) => [status.result, signingDomain])
      assert.deepEqual(verdicts, Array(2).fill(['pass', SENDER]))
      assert.match(message, /a=rsa-sha256/)
      assert.match(message, /a=ed25519-sha256/)
    }
    const { data } = await api<{ data: { email: string; reason: string }[] }>('/suppressions')
    const suppressed = data.map(({ email, reason }) => [email, reason])
    assert.deepEqual(suppressed, [['nobody@dest.test', 'HARD_BOUNCE']])
  })

  it('has nothing to complain of', async () => {
    const checks = await untilGreen(lab.machine)
    const skipped = checks.filter(({ status }) => status === 'skipped')
    assert.deepEqual(
      skipped.map(({ id, evidence }) => [id, evidence]),
      [
        ['blocklists', 'doctor.blocklists is empty'],
        ['clock', 'doctor.time_url is not set'],
      ],
    )
  })

  const reconfigure: Scene['reconfigure'] = async (keys) => {
    const kept = `${CONFIG}.kept`
    if (keys === undefined) copyFileSync(kept, CONFIG)
    else {
      copyFileSync(CONFIG, kept)
      setKeys(CONFIG, keys)
    }
    assert.equal(await service.stop(), 0)
    service = await lab.machine.serve()
  }

  for (const { name, do: apply, undo, fault, says } of SABOTAGES) {
    it(`doctor names this fault and nothing else: ${name}`, async () => {
      const scene = { ...lab, reconfigure }
      try {
        await apply(scene)
        const faults = faultsIn(await makeChecks(lab.machine))
        const named = faults.map(({ id, status }) => [id, status])
        assert.deepEqual(named, [fault], JSON.stringify(faults))
        const said = `${faults[0]?.evidence}\n${faults[0]?.fix}`
        for (const text of says) assert.ok(said.includes(text), `${text} is not in ${said}`)
      } finally {
        await undo(scene)
      }
      await untilGreen(lab.machine)
    })
  }

  it('makes a backup while mail is deferred, and delivers all but one afterwards', async () => {
    const { machine, mx } = lab
    for (const user of USERS) mx.policy.set(`${user}@dest.test`, '451 4.3.2 Busy')
    for (const user of USERS) await send(user, 'Before the backup')
    await until(async () => {
      deferred = (await queueOf(machine)).filter(({ state }) => state === 'deferred')
      return deferred.length === USERS.length
    })
    await machine.command('backup', DEFERRED)
    for (const user of ['ada', 'bob']) mx.policy.delete(`${user}@dest.test`)
    await machine.command('queue', 'retry', ...deferred.map(({ id }) => id))
    await until(async () => (await queueOf(machine)).length === 1)
    assert.equal((await arrived('Before the backup')).length, 2)
    assert.equal(await service.stop(), 0)
    mx.policy.clear()
  })

  it('restored elsewhere it sends nothing twice, and after the release exactly the rest', async () => {
    const to = '/var/lib/elsewhere/data'
    await lab.machine.command('restore', DEFERRED, '--to', to)
    const machine = lab.withConfig(path.join(to, 'pillarbox.toml'))
    service = await machine.serve()
    await until(isServed)
    const held = await queueOf(machine)
    assert.deepEqual(
      held.map(({ id, state }) => [id, state]).sort(),
      deferred.map(({ id }) => [id, 'paused']).sort(),
    )
    // New mail goes at once, and what is held does not go with it.
    await send('ada', 'After the restore')
    await until(async () => (await arrived('After the restore')).length === 1)
    assert.equal((await arrived('Before the backup')).length, 2)
    const done = held.filter((email) => email.to !== 'carl@dest.test')
    await machine.command('queue', 'cancel', ...done.map(({ id }) => id))
    await machine.command('queue', 'release', '--restored')
    await until(async () => (await queueOf(machine)).length === 0)
    const all = await arrived('Before the backup')
    const recipients = all.map((message) => /^Delivered-To: (.*)$/m.exec(message)?.[1]).sort()
    assert.deepEqual(
      recipients,
      USERS.map((user) => `${user}@dest.test`),
    )
    assert.equal((await arrived('After the restore')).length, 1)
    assert.equal((await arrived('Spring is here')).length, USERS.length)
    await untilGreen(machine)
    assert.equal(await service.stop(), 0)
  })
})
