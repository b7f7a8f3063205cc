import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrokenTls, createSourceChooser } from '../../../src/outbound/routing/destinations.ts'

test('without configured source addresses the system chooses one', () => {
  assert.deepEqual(createSourceChooser([], () => 0).choose('id', 'site'), {})
})

test('a message is sent from the same address at every attempt, and messages spread over all', () => {
  const sources = createSourceChooser(['192.0.2.1', '192.0.2.2', '2001:db8::1'], () => 0)
  const first = sources.choose('email 1', 'site')
  assert.equal(first.ipv6, '2001:db8::1')
  for (let at = 0; at < 10; at++) assert.deepEqual(sources.choose('email 1', 'site'), first)
  const used = new Set(Array.from({ length: 50 }, (_, at) => sources.choose(`${at}`, 'site').ipv4))
  assert.deepEqual([...used].sort(), ['192.0.2.1', '192.0.2.2'])
})

test('an address that a site refuses is not used there for six hours, if there is another', () => {
  const clock = { at: 0 }
  const sources = createSourceChooser(['192.0.2.1', '192.0.2.2'], () => clock.at)
  const refused = sources.choose('email', 'site').ipv4!
  assert.equal(sources.refuse('site', refused), true)
  const other = sources.choose('email', 'site').ipv4!
  assert.notEqual(other, refused)
  assert.equal(sources.choose('email', 'elsewhere').ipv4, refused)
  assert.equal(sources.refuse('site', other), false)
  assert.equal(sources.choose('email', 'site').ipv4, refused)
  clock.at = 6 * 3_600_000 + 1
  assert.equal(sources.choose('email', 'site').ipv4, refused)
})

test('broken TLS is cached for three days', () => {
  const clock = { at: 0 }
  const broken = createBrokenTls(() => clock.at)
  broken.add('mx.test')
  clock.at = 3 * 24 * 3_600_000 - 1
  assert.equal(broken.has('mx.test'), true)
  assert.equal(broken.has('other.test'), false)
  clock.at++
  assert.equal(broken.has('mx.test'), false)
})
