import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { silentLog } from '../../src/log.ts'
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
    assert.doesNotMatch(await text('domain', 'verify', 'plain.test'), /replies/)
    assert.match(await text('domain', 'verify', 'plain.test', '--replies'), /moves all mail/)
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
