import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderTargets, type SmtpTarget } from '../../../src/outbound/routing/targets.ts'

const both = { hasIpv4: true, hasIpv6: true }

function target(preference: number, host: string, address: string): SmtpTarget {
  return { preference, host, address }
}

function addresses(targets: SmtpTarget[], families = both, random = Math.random): string[] {
  return orderTargets(targets, { families, random }).map(({ address }) => address)
}

test('lower preferences come first', () => {
  const targets = [
    target(20, 'b', '8.8.8.2'),
    target(5, 'a', '8.8.8.1'),
    target(30, 'c', '8.8.8.3'),
  ]
  assert.deepEqual(addresses(targets), ['8.8.8.1', '8.8.8.2', '8.8.8.3'])
})

test('hosts of equal preference come in every order', () => {
  const targets = ['a', 'b', 'c'].map((host, at) => target(10, host, `8.8.8.${at}`))
  const seen = new Set(Array.from({ length: 200 }, () => addresses(targets).join()))
  assert.equal(seen.size, 6)
})

test('hosts of equal preference take turns, with IPv4 before IPv6 for each', () => {
  const targets = [
    target(10, 'a', '2600::1'),
    target(10, 'a', '8.8.8.1'),
    target(10, 'b', '2600::2'),
    target(10, 'b', '8.8.8.2'),
  ]
  const order = addresses(targets)
  assert.deepEqual(new Set(order.slice(0, 2)), new Set(['8.8.8.1', '8.8.8.2']))
  assert.deepEqual(new Set(order.slice(2)), new Set(['2600::1', '2600::2']))
})

test('IPv6 addresses are left out without IPv6 on this host, unless there are no others', () => {
  const targets = [target(10, 'a', '2600::1'), target(20, 'b', '8.8.8.1')]
  const families = { hasIpv4: true, hasIpv6: false }
  assert.deepEqual(addresses(targets, families), ['8.8.8.1'])
  assert.deepEqual(addresses(targets.slice(0, 1), families), ['2600::1'])
  const loopback = [target(10, 'a', '::1'), target(20, 'b', '127.0.0.1')]
  assert.deepEqual(addresses(loopback, { hasIpv4: false, hasIpv6: false }), ['::1', '127.0.0.1'])
})

test('S15: at most five addresses, among them a second host and a second family', () => {
  const many = Array.from({ length: 8 }, (_, at) => target(10, 'a', `8.8.8.${at}`))
  const backup = target(20, 'b', '2600::1')
  const order = addresses([...many, backup])
  assert.equal(order.length, 5)
  assert.ok(order.includes('2600::1'))
})

test('every order has each of the given addresses at most once', () => {
  const some = fc.array(
    fc.record({
      preference: fc.integer({ min: 0, max: 3 }),
      host: fc.constantFrom('a', 'b', 'c'),
      address: fc.oneof(fc.ipV4(), fc.ipV6()),
    }),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(some, (targets: SmtpTarget[]) => {
      const order = orderTargets(targets, { families: both, random: Math.random })
      assert.equal(order.length, Math.min(5, targets.length))
      assert.equal(new Set(order).size, order.length)
      for (const one of order) assert.ok(targets.includes(one))
      const lowest = Math.min(...targets.map(({ preference }) => preference))
      if (order[0] !== undefined) assert.equal(order[0].preference, lowest)
    }),
  )
})
