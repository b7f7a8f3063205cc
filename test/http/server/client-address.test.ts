import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import {
  addressGroup,
  clientAddress,
  createAddressList,
  isDirect,
} from '../../../src/http/server/client-address.ts'

function from(peer: string | undefined, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage
}

const none = createAddressList([])
const proxies = createAddressList(['10.0.0.0/8', '127.0.0.1', 'fd00::/8'])

const cases: [string, IncomingMessage, typeof none, string | null][] = [
  ['the peer, without proxies', from('192.0.2.9'), none, '192.0.2.9'],
  ['an IPv4 peer on an IPv6 socket', from('::ffff:192.0.2.9'), none, '192.0.2.9'],
  ['a peer that is gone', from(undefined), none, null],
  [
    'a header of a stranger is not believed',
    from('192.0.2.9', { 'x-forwarded-for': '198.51.100.1' }),
    proxies,
    '192.0.2.9',
  ],
  [
    'a header of a proxy is',
    from('10.1.1.1', { 'x-forwarded-for': '198.51.100.1' }),
    proxies,
    '198.51.100.1',
  ],
  [
    'what the caller of the proxy wrote himself is not',
    from('10.1.1.1', { 'x-forwarded-for': '127.0.0.1, 198.51.100.1' }),
    proxies,
    '198.51.100.1',
  ],
  [
    'several proxies are passed',
    from('127.0.0.1', { 'x-forwarded-for': '198.51.100.1, 10.2.2.2, fd00::2' }),
    proxies,
    '198.51.100.1',
  ],
  [
    'ports and brackets are not part of it',
    from('10.1.1.1', { 'x-forwarded-for': '[2001:db8::1]:443' }),
    proxies,
    '2001:db8::1',
  ],
  [
    'what is no address ends the walk',
    from('10.1.1.1', { 'x-forwarded-for': '198.51.100.1, unknown' }),
    proxies,
    '10.1.1.1',
  ],
  ['a proxy without the header', from('10.1.1.1'), proxies, '10.1.1.1'],
]

for (const [name, incoming, trusted, expected] of cases) {
  test(`the address of a request: ${name}`, () => {
    assert.equal(clientAddress(incoming, trusted), expected)
  })
}

test('lists hold addresses and networks of both families, and the word loopback', () => {
  const list = createAddressList(['loopback', '192.0.2.0/24', '2001:db8::/32'])
  for (const inside of ['127.3.2.1', '::1', '192.0.2.77', '2001:db8:1::1']) {
    assert.equal(list.has(inside), true, inside)
  }
  for (const outside of ['192.0.3.1', '2001:db9::1', '::2', null]) {
    assert.equal(list.has(outside), false, String(outside))
  }
})

test('loopback behind an undeclared proxy does not count as the operator', () => {
  assert.equal(isDirect(from('127.0.0.1'), none), true)
  assert.equal(isDirect(from('127.0.0.1', { 'x-forwarded-for': '198.51.100.1' }), none), false)
  assert.equal(isDirect(from('127.0.0.1', { forwarded: 'for=198.51.100.1' }), none), false)
  assert.equal(isDirect(from('127.0.0.1', { 'x-forwarded-for': '198.51.100.1' }), proxies), true)
})

for (const [address, group] of [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, ''],
] as const) {
  test(`bounds of ${address} are those of "${group}"`, () =>
    assert.equal(addressGroup(address), group))
}
