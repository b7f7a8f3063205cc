import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { silentLog } from '../../src/base/log.ts'
import { newId } from '../../src/store/ids.ts'
import { templates } from '../../src/store/schema/messages.ts'
import { openStore } from '../../src/store/store.ts'
import { makeFolder } from '../config/config-folder.ts'
import { type FakeDns, startDnsServer } from '../fakes/dns-server.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const cwd = makeFolder()
let dns: FakeDns
const env: NodeJS.ProcessEnv = { PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com' }
const { run, text, json } = commandsAt({ cwd, env })
let projects: string[]

const add = (name: string, ...options: string[]) =>
  text('domain', 'add', '--project', projects[0] ?? '', name, ...options)

before(async () => {
  await placeDatabase(cwd)
  dns = await startDnsServer({
    'mail.example.com': { A: ['192.0.2.1'], AAAA: ['2001:db8::1'] },
    '1.2.0.192.in-addr.arpa': { PTR: ['Mail.Example.com'] },
    [`1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`]: { PTR: ['host.provider.test'] },
  })
  env.PILLARBOX_DNS__SERVERS = JSON.stringify([dns.address])
  await json('user', 'create', '--email', 'owner@example.test')
  const make = (name: string) =>
    json('project', 'create', '--name', name, '--owner', 'owner@example.test')
  projects = [(await make('Letters')).id, (await make('Others')).id]
})

after(() => dns.stop())

describe('pillarbox domain', () => {
  it('add also prints the records as lines of a zone file, with texts split at 255 octets', async () => {
    const out = await add('zone.test')
    const [, zone = ''] = out.split('The same records as lines of a zone file:\n\n')
    const lines = zone.split('\n\n')[0]?.split('\n') ?? []
    assert.equal(lines.length, 5)
    const [rsa = '', ed25519 = '', ...others] = lines
    const strings = [...rsa.matchAll(/"([^"]*)"/g)].map(([, string = '']) => string)
    assert.match(rsa, /^\S+\._domainkey\.zone\.test\. IN TXT "v=DKIM1;.*" ".*"$/)
    assert.deepEqual(
      strings.map(({ length }) => length <= 255),
      [true, true],
    )
    assert.equal(strings[0]?.length, 255)
    assert.match(ed25519, /^\S+\._domainkey\.zone\.test\. IN TXT "[^"]*"$/)
    assert.deepEqual(others, [
      'bounce.zone.test. IN MX 10 mail.example.com.',
      'bounce.zone.test. IN TXT "v=spf1 mx ~all"',
      '_dmarc.zone.test. IN TXT "v=DMARC1; p=none"',
    ])
    const { records, zone: given } = await json(
      ...['domain', 'add', '--project', projects[0] ?? '', 'json.test'],
    )
    assert.equal(given.length, 5)
    const key = records[0].value
    assert.equal(
      given[0]
        .match(/"[^"]*"/g)
        .join('')
        .replaceAll('"', ''),
      key,
    )
    // The JSON has all records, as in the API.
    assert.equal(records.at(-1).purpose, 'replies')
  })

  it('shows the record for replies only with --replies, and its effect', async () => {
    assert.doesNotMatch(await add('plain.test'), /replies/)
    const out = await add('asked.test', '--replies')
    assert.match(out, /replies \(optional\): unknown\n {2}MX {2}asked\.test\n {2}10 mail\.example/)
    assert.match(out, /This record moves all mail of asked\.test to this server/)
    assert.match(out, /add a separate domain, such as replies\.asked\.test\./)
    assert.match(out, /\nasked\.test\. IN MX 10 mail\.example\.com\.\n/)
    assert.doesNotMatch((await run('domain', 'verify', 'plain.test')).out, /replies/)
    assert.match((await run('domain', 'verify', 'plain.test', '--replies')).out, /moves all mail/)
  })

  it('verify fails until the required record is there, and when DNS does not answer', async () => {
    const { records } = await json('domain', 'add', '--project', projects[0] ?? '', 'shop.test')
    const [{ name, value }] = records
    const missing = await run('domain', 'verify', 'shop.test')
    assert.equal(missing.status, 1)
    assert.ok(
      missing.out.endsWith(
        `A required record of shop.test is not right: TXT ${name} is missing.\n`,
      ),
      missing.out,
    )
    dns.set(name, 'SERVFAIL')
    const silent = await run('domain', 'verify', 'shop.test')
    assert.equal(silent.status, 1)
    assert.match(silent.out, /^shop\.test: not verified \(DNS did not answer\)\n/)
    assert.ok(
      silent.out.includes(`DNS did not answer (servers ${dns.address}) for 1 of 5 records.`),
    )
    assert.doesNotMatch(silent.out + (await text('domain', 'list')), /TemporaryFailure/)
    const asJson = await run('domain', 'verify', 'shop.test', '--json')
    assert.equal(asJson.status, 1)
    assert.equal(JSON.parse(asJson.out).status, 'TemporaryFailure')
    dns.set(name, { TXT: [value] })
    const { status, out } = await run('domain', 'verify', 'shop.test')
    assert.equal(status, 0, out)
    assert.match(out, /^shop\.test: verified\n/)
    // What is only recommended is shown, and is no failure.
    assert.match(out, /dmarc \(recommended\): missing/)
  })

  it('verify counts silence for a recommended record as no failure, and names it beside a fault', async () => {
    const { records } = await json('domain', 'add', '--project', projects[0] ?? '', 'quiet.test')
    const [{ name, value }] = records
    const silence = `DNS did not answer (servers ${dns.address}) for 1 of 5 records.`
    dns.set('_dmarc.quiet.test', 'SERVFAIL')
    const missing = await run('domain', 'verify', 'quiet.test')
    assert.equal(missing.status, 1)
    const fault = `A required record of quiet.test is not right: TXT ${name} is missing.`
    assert.ok(missing.out.endsWith(`\n\n${fault}\n\n${silence}\n`), missing.out)
    dns.set(name, { TXT: [value] })
    const { status, out } = await run('domain', 'verify', 'quiet.test')
    assert.equal(status, 0, out)
    assert.match(out, /^quiet\.test: verified\n/)
    assert.ok(out.endsWith(`\n\n${silence}\n`), out)
  })

  it("--check shows the state of the server's own records", async () => {
    const out = await add('check.test', '--check')
    const [, table = ''] = out.split('Records of the server itself:\n\n')
    const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? []
    assert.deepEqual(
      rows.map((row) => row.split(/ {2,}/)),
      [
        ['found', 'A', 'mail.example.com', '192.0.2.1'],
        ['found', 'AAAA', 'mail.example.com', '2001:db8::1'],
        ['found', 'PTR', '1.2.0.192.in-addr.arpa', 'mail.example.com'],
        [
          ...['different', 'PTR', `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`],
          'host.provider.test, not mail.example.com',
        ],
        ['missing', 'MX', 'bounce.mail.example.com', '10 mail.example.com'],
      ],
    )
    dns.set('mail.example.com', { A: ['192.0.2.1'] })
    dns.set('bounce.mail.example.com', { MX: [[5, 'mail.example.com']] })
    const { server } = await json(
      ...['domain', 'add', '--project', projects[0] ?? '', 'again.test', '--check'],
    )
    assert.deepEqual(
      server.map(({ type, state, required }: Record<string, unknown>) => [type, state, required]),
      [
        ['A', 'found', true],
        ['AAAA', 'missing', false],
        ['PTR', 'found', true],
        ['MX', 'found', true],
      ],
    )
    dns.set('mail.example.com', 'SERVFAIL')
    assert.match(await add('failing.test', '--check'), /\nunknown +A +mail\.example\.com\n/)
    assert.doesNotMatch(await add('unasked.test'), /server itself/)
  })

  it('remove deletes a domain by name or id unless mail is being sent from it', async () => {
    await add('bücher.test')
    assert.match(await text('domain', 'remove', 'Bücher.test'), /^Removed: bücher\.test of project/)
    assert.match((await run('domain', 'remove', 'bücher.test')).err, /no such domain/i)
    await add('shared.test')
    const other = await json('domain', 'add', '--project', projects[1] ?? '', 'shared.test')
    const unsure = await run('domain', 'remove', 'shared.test', '--json')
    assert.deepEqual([unsure.status, JSON.parse(unsure.err).error.code], [1, 'CONFLICT'])
    await text('domain', 'verify', other.id, '--trust')
    assert.equal((await run('domain', 'remove', 'shared.test')).status, 1)
    const removed = await json('domain', 'remove', other.id)
    assert.deepEqual(removed, { id: other.id, domain: 'shared.test', projectId: projects[1] })
    await useInTemplate('shared.test')
    const used = await run('domain', 'remove', 'shared.test', '--json')
    assert.deepEqual([used.status, JSON.parse(used.err).error.code], [1, 'CONFLICT'])
    assert.match(JSON.parse(used.err).error.message, /Templates of this project send/)
  })
})

async function useInTemplate(fromDomain: string): Promise<void> {
  const file = path.join(cwd, 'data', 'pillarbox.db')
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  const template = {
    ...{ id: newId(), projectId: projects[0] ?? '', name: 'Welcome', subject: 's', body: 'b' },
    ...{ fromAddress: `a@${fromDomain}`, fromDomain, createdAt: 1, updatedAt: 1 },
  }
  await store.write((tx) => tx.insert(templates).values(template))
  await store.close()
}
