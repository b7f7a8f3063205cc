import assert from 'node:assert/strict'
import { test } from 'node:test'
import { destinationKeyOf, siteOfHosts } from '../../../src/outbound/routing/find-destination.ts'
import { findProvider } from '../../../src/outbound/routing/providers.ts'

const cases: [string, string[], string][] = [
  ['one domain', ['mx1.example.com', 'mx2.example.com'], 'example.com'],
  ['a backup elsewhere', ['mx.example.co.uk', 'backup.isp.net'], 'example.co.uk,isp.net'],
  ['gmail.com', ['gmail-smtp-in.l.google.com', 'alt1.gmail-smtp-in.l.google.com'], 'google.com'],
  ['a Workspace customer', ['aspmx.l.google.com', 'aspmx2.googlemail.com'], 'google.com'],
  ['a newer Workspace customer', ['smtp.google.com'], 'google.com'],
  ['hotmail.com', ['hotmail-com.olc.protection.outlook.com'], 'olc.protection.outlook.com'],
  ['a 365 customer', ['a-de.mail.protection.outlook.com'], 'mail.protection.outlook.com'],
  ['a 365 customer with DANE', ['a-de.b-v1.mx.microsoft'], 'mx.microsoft'],
  ['yahoo.com', ['mta5.am0.yahoodns.net', 'mta6.am0.yahoodns.net'], 'yahoodns.net'],
  ['no registrable domain', ['localhost'], 'localhost'],
]

for (const [name, hosts, site] of cases) {
  test(`the site of ${name} is ${site}`, () => {
    assert.equal(siteOfHosts(hosts), site)
    assert.equal(siteOfHosts(hosts.toReversed()), site)
  })
}

test('the name of a site with many hosts is bounded and still unique', () => {
  const hosts = Array.from({ length: 512 }, (_, at) => `mx.domain${at}.com`)
  const site = siteOfHosts(hosts)
  assert.ok(site.length < 100)
  assert.notEqual(site, siteOfHosts(hosts.slice(1)))
})

test('large receivers have their own limits', () => {
  assert.equal(findProvider('google.com')?.connections, 5)
  assert.equal(findProvider('google.com')?.requiresTls, true)
  assert.equal(findProvider('yahoodns.net')?.messagesPerConnection, 20)
  assert.equal(findProvider('example.com'), undefined)
})

test('connections are shared by destinations with the same hosts and preferences only', () => {
  const hosts = [
    { preference: 10, host: 'a' },
    { preference: 20, host: 'b' },
  ]
  assert.equal(destinationKeyOf(hosts), destinationKeyOf(hosts.toReversed()))
  const swapped = [
    { preference: 20, host: 'a' },
    { preference: 10, host: 'b' },
  ]
  assert.notEqual(destinationKeyOf(hosts), destinationKeyOf(swapped))
  const many = Array.from({ length: 512 }, (_, at) => ({ preference: at, host: `mx${at}.test` }))
  assert.ok(destinationKeyOf(many).length <= 200)
})
