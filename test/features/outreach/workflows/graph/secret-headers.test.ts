import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  maskConfig,
  unmaskConfig,
} from '../../../../../src/features/outreach/workflows/graph/secret-headers.ts'

const url = 'https://hooks.test/in?a=1'
const stored = { url, headers: { Authorization: 'Bearer abc', 'X-Shop': 'one' } }
const path = 'config'
const send = (config: object, seesSecrets = false) =>
  unmaskConfig({ config: { ...stored, ...config }, stored, path, seesSecrets })

const refusedFor = (name: string, words: RegExp) => (error: unknown) => {
  const [fault] = (error as { fields: { field: string; code: string; message: string }[] }).fields
  assert.deepEqual([fault?.field, fault?.code], [`config.headers.${name}`, 'masked'])
  assert.match(fault?.message ?? '', words)
  return true
}

describe('the headers that authenticate a request', () => {
  it('are masked, and the others are not', () => {
    const names = ['Authorization', 'cookie', 'X-API-Key', 'x-password', 'Client-Secret', 'x-token']
    const headers = Object.fromEntries([...names, 'X-Shop', 'Accept'].map((name) => [name, 'abc']))
    const masked = maskConfig({ url, headers }).headers as Record<string, string>
    assert.deepEqual(
      Object.keys(masked).filter((name) => masked[name] === '***'),
      names,
    )
    assert.deepEqual(maskConfig({ url }), { url })
  })

  it('stay as they are when the mask comes back, in any letter case of the name', () => {
    assert.deepEqual(send(maskConfig(stored)), stored)
    assert.deepEqual(send({ headers: { authorization: '***' } }).headers, {
      authorization: 'Bearer abc',
    })
    assert.deepEqual(send({ headers: { Authorization: 'Bearer new' } }).headers, {
      Authorization: 'Bearer new',
    })
    assert.deepEqual(send({ headers: {} }).headers, {})
  })

  it('are refused as a mask where nothing is stored', () => {
    const headers = { 'X-Token': '***' }
    assert.throws(() => send({ headers }), refusedFor('X-Token', /has none/))
    const given = { config: { url, headers }, stored: undefined, path, seesSecrets: true }
    assert.throws(() => unmaskConfig(given), refusedFor('X-Token', /has none/))
    // A header that hides nothing may have any value.
    assert.deepEqual(send({ headers: { 'X-Shop': '***' } }).headers, { 'X-Shop': '***' })
  })

  it('go to no other receiver by the hand of who does not see them', () => {
    const masked = { Authorization: '***' }
    assert.equal(send({ url, headers: masked }).url, url)
    const others = [
      ...['http://hooks.test/in', 'https://hooks.test.evil.test/', 'https://hooks.test:444/in'],
      ...['https://hooks.test@evil.test/', 'https://hooks.test{{ x }}/', '{{ data.url }}'],
      ...['https://evil.test#https://hooks.test/', 'https://hooks.test\\@evil.test/', ''],
      ...[
        'https://hooks.test/in?to=a',
        'https://hooks.test/other',
        'https://hooks.test',
        'https://hooks.test/IN',
      ],
      ...['https://hooks.test/in/', 'https://hooks.test/in{{ x }}', 'https://hooks.test/in/..\\x'],
    ]
    for (const other of others) {
      assert.throws(
        () => send({ url: other, headers: masked }),
        refusedFor('Authorization', /url/),
        other,
      )
      assert.equal((send({ url: other, headers: masked }, true).headers as object) !== masked, true)
    }
  })

  it('stay with an address that is a template while it is the same', () => {
    const before = { url: 'https://{{ data.host }}/in', headers: stored.headers }
    const given = { stored: before, path, seesSecrets: false }
    assert.deepEqual(unmaskConfig({ config: maskConfig(before), ...given }), before)
    const changed = { ...maskConfig(before), url: 'https://{{ data.host }}/out' }
    assert.throws(() => unmaskConfig({ config: changed, ...given }))
  })
})
