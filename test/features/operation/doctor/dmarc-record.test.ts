import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDmarcRecord, parseDmarcRecord } from '../../../../src/features/operation/doctor/dmarc.ts'

const none = {
  ...{ policy: 'none', subdomainPolicy: 'none', percent: 100 },
  ...{ isDkimStrict: false, isSpfStrict: false, reportDomains: [] },
}

test('DMARC records are read', () => {
  const table: [string, object | string][] = [
    ['v=DMARC1; p=none', none],
    ['v=DMARC1;p=none;', none],
    [' v = DMARC1 ;\tp = none ; = x; a b=c', none],
    [
      'v=DMARC1; P=Reject; sp=none; adkim=S; aspf=s; pct=20',
      {
        ...{ ...none, policy: 'reject', percent: 20 },
        ...{ isDkimStrict: true, isSpfStrict: true },
      },
    ],
    [
      'v=DMARC1; p=none; rua=mailto:a@B.test!10m, mailto:b@b.test,https://c.test',
      { ...none, reportDomains: ['b.test'] },
    ],
    ['v=DMARC1; p=quarantine', { ...none, policy: 'quarantine', subdomainPolicy: 'quarantine' }],
    ['v=DMARC1', 'it has no p='],
    ['v=DMARC1; p=maybe', 'p=maybe means nothing'],
    ['v=DMARC1; p=none; sp=x', 'sp=x means nothing'],
    ['v=DMARC1; p=none; aspf=x', 'aspf=x means nothing'],
    ['v=DMARC1; p=none; pct=101', 'pct=101 means nothing'],
  ]
  for (const [text, expected] of table) assert.deepEqual(parseDmarcRecord(text), expected, text)
})

test('other TXT records are no DMARC records', () => {
  assert.ok(isDmarcRecord('v=DMARC1'))
  assert.ok(isDmarcRecord('v = DMARC1 ; p=none'))
  for (const text of ['v=DMARC12', 'v=spf1', 'p=none; v=DMARC1', 'dmarc']) {
    assert.ok(!isDmarcRecord(text), text)
  }
})
