import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createFamilyFinder,
  isOwnListener,
  isPrivateAddress,
  isPublicAddress,
} from '../../../src/outbound/routing/addresses.ts'

const refused = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.8',
  '198.18.0.1',
  '192.0.2.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '0.0.0.0',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::a00:1',
  '64:ff9b:1::a00:1',
  '2002:a00:1::1',
  '2001::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'fc00::1',
  'ff02::1',
  '2001:db8::1',
  '2001:200::5efe:a00:1',
  '2001:200::200:5efe:a00:1',
  '3fff::1',
  '100::1',
  '4000::1',
  '010.0.0.1.evil',
  '',
]

for (const address of refused) {
  test(`S14: ${address || 'an empty text'} is not a public address`, () => {
    assert.equal(isPublicAddress(address), false)
  })
}

test('ordinary addresses of both families are public', () => {
  assert.equal(isPublicAddress('8.8.8.8'), true)
  assert.equal(isPublicAddress('2607:f8b0:400e:c00::1b'), true)
})

test('private addresses are those of loopback and of private networks, in their own form', () => {
  const addresses = ['127.0.0.1', '10.0.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fd00::1']
  for (const address of addresses) assert.equal(isPrivateAddress(address), true, address)
  const others = ['8.8.8.8', '169.254.169.254', '0.0.0.0', '::ffff:10.0.0.1', '64:ff9b::a00:1', '']
  for (const address of others) assert.equal(isPrivateAddress(address), false, address)
})

test('listeners of this server are recognized, also those on all addresses', () => {
  const exact = [{ host: '127.0.0.9', port: 25 }]
  assert.equal(isOwnListener({ address: '127.0.0.9', port: 25 }, exact), true)
  assert.equal(isOwnListener({ address: '::ffff:127.0.0.9', port: 25 }, exact), true)
  assert.equal(isOwnListener({ address: '127.0.0.9', port: 2525 }, exact), false)
  assert.equal(isOwnListener({ address: '127.0.0.8', port: 25 }, exact), false)
  for (const host of ['0.0.0.0', '::']) {
    const all = [{ host, port: 25 }]
    assert.equal(isOwnListener({ address: '127.0.0.3', port: 25 }, all), true)
    assert.equal(isOwnListener({ address: '8.8.8.8', port: 25 }, all), false)
  }
})

test('the address families are read again after five seconds, and when the clock is set back', () => {
  let [at, reads] = [10_000, 0]
  const find = createFamilyFinder(
    () => at,
    () => ({ hasIpv4: ++reads > 1, hasIpv6: false }),
  )
  assert.equal(find().hasIpv4, false)
  at += 4_999
  assert.equal(find().hasIpv4, false)
  at += 1
  assert.equal(find().hasIpv4, true)
  assert.equal(reads, 2)
  at = 0
  find()
  assert.equal(reads, 3)
})
