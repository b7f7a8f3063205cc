import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  countHops,
  formatReceived,
  type ReceivedHop,
} from '../../../src/formats/incoming/received-field.ts'

const hop: ReceivedHop = {
  clientName: 'mx.sender.test',
  clientAddress: '192.0.2.1',
  hostname: 'mail.example.com',
  protocol: 'ESMTPS',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  id: '0192f0c4-5d3b-7c1e-9a44-0123456789ab',
  recipient: 'info@example.com',
  at: Date.UTC(2026, 10, 21, 7, 8, 9),
}

test('the field has all clauses of RFC 5321 section 4.4', () => {
  const lines = [
    'Received: from mx.sender.test ([192.0.2.1])',
    '\t(TLSv1.3 TLS_AES_256_GCM_SHA384)',
    '\tby mail.example.com with ESMTPS id 0192f0c4-5d3b-7c1e-9a44-0123456789ab',
    '\tfor <info@example.com>;',
    '\tSat, 21 Nov 2026 07:08:09 +0000\r\n',
  ]
  assert.equal(formatReceived(hop), lines.join('\r\n'))
  const other = formatReceived({ ...hop, clientAddress: '2001:db8::1', tls: null, recipient: null })
  assert.match(other, /^Received: from mx\.sender\.test \(\[IPv6:2001:db8::1\]\)\r\n\tby mail/)
  assert.doesNotMatch(other, /TLS_|for </)
})

test('with any client name, the field is ASCII and folded', () => {
  const anything = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) })
  fc.assert(
    fc.property(anything, anything, (name, address) => {
      const field = formatReceived({ ...hop, clientName: name, recipient: address })
      assert.match(field, /^Received: [ -~]+(?:\r\n\t[ -~]+){3,4}\r\n$/)
    }),
    { examples: [['a\r\nEvil: yes', 'a\r\nEvil: yes']] },
  )
  assert.match(
    formatReceived({ ...hop, clientName: '(comment) x;y' }),
    /^Received: from unknown \(/,
  )
  assert.match(formatReceived({ ...hop, clientName: '[192.0.2.9]' }), /from \[192\.0\.2\.9\] \(/)
})

test('only Received fields are counted', () => {
  const section =
    'Received: a\r\nRECEIVED : b\r\n received: folded\r\nX-Received: c\r\nReceived-SPF: d'
  assert.equal(countHops(section), 2)
  assert.equal(countHops(''), 0)
})
