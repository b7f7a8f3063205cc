import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectRequest } from '../../../../../src/features/mail/messages/accept/inspect-request.ts'

const deps = { config: { delivery: { mode: 'direct' } } } as Parameters<typeof inspectRequest>[0]

const ARMOUR = [
  ...['-----BEGIN PGP SIGNED MESSAGE-----', 'Hash: SHA256', '', 'a < b, <ada@example.net>'],
  ...['-----BEGIN PGP SIGNATURE-----', '', 'iQEz=', '-----END PGP SIGNATURE-----', ''],
].join('\n')
const AS_IT_IS = /sent byte for byte, without tracking/
const CHANGED = /sent as HTML, which changes its lines.* without tracking/

type Case = {
  request: Parameters<typeof inspectRequest>[1]
  template?: { body: string }
  isText?: boolean
  warning?: RegExp
}

const cases: Case[] = [
  { request: { body: ARMOUR }, isText: true, warning: AS_IT_IS },
  { request: { body: `<pre>\n${ARMOUR}</pre>` }, warning: CHANGED },
  { request: { body: `${ARMOUR}<br/>` }, warning: CHANGED },
  { request: { body: ARMOUR, text: 'see the HTML' }, warning: CHANGED },
  { request: { body: ARMOUR, text: ARMOUR }, warning: AS_IT_IS },
  { request: { body: '<p>see the text</p>', text: ARMOUR }, warning: AS_IT_IS },
  { request: {}, template: { body: ARMOUR }, isText: true, warning: AS_IT_IS },
  { request: {}, template: { body: `<pre>\n${ARMOUR}</pre>` }, warning: CHANGED },
  { request: { body: 'x' }, template: { body: ARMOUR } },
  { request: { body: 'plain' } },
  { request: { body: ARMOUR, isSealed: false, isText: true }, isText: true },
  { request: { body: '', isSealed: true, isText: false }, warning: AS_IT_IS },
]

test('OpenPGP is sent as it is where it is text, and a warning tells where it is not', () => {
  for (const { request, template, isText = false, warning } of cases) {
    const found = inspectRequest(deps, request, template)
    const title = JSON.stringify({ request, template })
    assert.equal(found.isText, isText, title)
    assert.equal(found.isSealed, warning !== undefined, title)
    assert.equal(found.warnings.length, warning === undefined ? 0 : 1, title)
    if (warning !== undefined) assert.match(found.warnings[0] ?? '', warning, title)
  }
})
