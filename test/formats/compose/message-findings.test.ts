import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findInMessage } from '../../../src/formats/compose/message-findings.ts'

const message = { subject: 'News', html: '<p>Hi</p>', text: 'Hi', faults: [] }
const rules = {
  ...{ baseUrl: 'https://mail.shop.test', isSandbox: false },
  ...{ isUnsubscribeLinkDue: false, hasFooter: false },
}
const found = (change: Partial<typeof message>, changed: Partial<typeof rules> = {}) =>
  findInMessage({ ...message, ...change }, { ...rules, ...changed }).map(({ code }) => code)

test('a message is searched for what recipients would see', () => {
  assert.deepEqual(found({}), [])
  assert.deepEqual(found({ html: '<a href="http://shop.test/">x</a>' }), ['insecure_link'])
  assert.deepEqual(found({ html: '<a href="http://localhost:3000/a">x</a>' }), ['loopback_link'])
  assert.deepEqual(found({ html: '<a href="https://127.0.0.1/">x</a>' }), ['loopback_link'])
  assert.deepEqual(found({ html: '<a href="mailto:a@b.test">x</a>' }), [])
  assert.deepEqual(found({ html: '<img src="a.png">' }), ['image_without_alt'])
  assert.deepEqual(found({ html: '<img src="a.png" alt="">' }), [])
  assert.deepEqual(found({ html: 'x'.repeat(102 * 1024) }), [])
  assert.deepEqual(found({ html: 'é'.repeat(51 * 1024 + 1) }), ['html_too_large'])
  assert.deepEqual(found({ text: ' \n' }), ['empty_text'])
  assert.deepEqual(found({ subject: 'x'.repeat(150) }), [])
  assert.deepEqual(found({ subject: 'x'.repeat(151) }), ['long_subject'])
  assert.deepEqual(found({ subject: ' ' }), ['empty_subject'])
  assert.deepEqual(found({ subject: 'Hi null' }), ['empty_value'])
  assert.deepEqual(found({ text: 'You have undefined points' }), ['empty_value'])
  assert.deepEqual(found({ text: 'Your [object Object]' }), ['empty_value'])
  assert.deepEqual(found({ text: 'nullable is null-safe' }), [])
})

test('a link to unsubscribe is missed where it is due', () => {
  const due = { isUnsubscribeLinkDue: true }
  assert.deepEqual(found({}, due), ['no_unsubscribe_link'])
  const html = '<a href="https://mail.shop.test/manage/abc">x</a>'
  assert.deepEqual(found({ html }, due), [])
})

test('pages at a loopback base_url are a fault, except in sandbox mode', () => {
  const local = { baseUrl: 'http://127.0.0.1:8080' }
  const sandbox = { ...local, isSandbox: true }
  const html = '<a href="http://127.0.0.1:8080/unsubscribe/abc">x</a>'
  assert.deepEqual(found({ html }, local), ['loopback_link'])
  assert.deepEqual(found({ html }, sandbox), [])
  for (const other of ['http://127.0.0.1:8081/', 'http://127.0.0.1/', 'http://localhost:8080/']) {
    const both = `${html}<a href="${other}">x</a>`
    assert.deepEqual(found({ html: both }, sandbox), ['loopback_link'])
  }
})
