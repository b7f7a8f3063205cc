import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryRecords } from '../../../../src/features/mail/domains/query-records.ts'
import type { RecordPurpose, WantedRecord } from '../../../../src/features/mail/domains/records.ts'
import type { DnsAnswer } from '../../../../src/outbound/dns/answer.ts'
import type { Resolver } from '../../../../src/outbound/dns/resolver.ts'

type Zone = Record<string, string[] | 'nxdomain' | 'nodata' | 'failed'>

function answer(records: Zone[string] | undefined): DnsAnswer<string> {
  if (Array.isArray(records)) return { kind: 'found', records, expiresAt: 0 }
  if (records === 'failed') return { kind: 'failed', error: 'SERVFAIL', expiresAt: 0 }
  return { kind: records ?? 'nxdomain', expiresAt: 0 }
}

/** Answers only questions that are asked anew. */
function fakeResolver(zone: Zone): Pick<Resolver, 'txt' | 'mx'> {
  return {
    txt: async (name, options) => {
      assert.equal(options?.isFresh, true)
      return answer(zone[name])
    },
    mx: async (name, options) => {
      assert.equal(options?.isFresh, true)
      const found = answer(zone[name])
      if (found.kind !== 'found') return found
      const records = found.records.map((text) => {
        const [preference, host = ''] = text.split(' ')
        return { preference: Number(preference), host }
      })
      return { ...found, records }
    },
  }
}

const KEY = 'MIIBIjANBgkqhkiG9w0BAQEF+/AAOCAQ8AMIIBCgKCAQEA=='
const wanted: Record<RecordPurpose, WantedRecord> = {
  dkim: txt('dkim', 's._domainkey.shop.test', `v=DKIM1; k=rsa; p=${KEY}`),
  'dkim-ed25519': txt('dkim-ed25519', 'e._domainkey.shop.test', 'v=DKIM1; k=ed25519; p=abc='),
  'return-path': mx('return-path', 'bounce.shop.test'),
  'return-path-spf': txt('return-path-spf', 'bounce.shop.test', 'v=spf1 mx ~all'),
  dmarc: txt('dmarc', '_dmarc.shop.test', 'v=DMARC1; p=none'),
  replies: mx('replies', 'shop.test'),
}

function txt(purpose: RecordPurpose, name: string, value: string): WantedRecord {
  return { purpose, name, type: 'TXT', value, required: false }
}

function mx(purpose: RecordPurpose, name: string): WantedRecord {
  return { purpose, name, type: 'MX', value: '10 mx.pillarbox.test', required: false }
}

async function check(purpose: RecordPurpose, records: Zone[string]) {
  const record = wanted[purpose]
  const [finding] = await queryRecords(fakeResolver({ [record.name]: records }), [record])
  assert.equal(finding?.purpose, purpose)
  return finding
}

const cases: [RecordPurpose, Zone[string], string][] = [
  ['dkim', [`v=DKIM1; k=rsa; p=${KEY}`], 'found'],
  ['dkim', [`p=${KEY}`], 'found'],
  ['dkim', [` v = DKIM1 ;k= RSA ; p= ${KEY.slice(0, 20)} \t${KEY.slice(20)} ; `], 'found'],
  ['dkim', ['unrelated', `v=DKIM1; p=${KEY}; t=y; n=note`], 'found'],
  ['dkim', [`v=DKIM1; h=sha1:sha256; s=email; p=${KEY}`], 'found'],
  ['dkim', [`v=DKIM1; k=rsa; p=${KEY.toLowerCase()}`], 'different'],
  ['dkim', [`v=DKIM1; k=rsa; p=${KEY.slice(1)}`], 'different'],
  ['dkim', ['v=DKIM1; k=rsa; p='], 'different'],
  ['dkim', [`v=DKIM1; k=ed25519; p=${KEY}`], 'different'],
  ['dkim', [`v=DKIM2; p=${KEY}`], 'different'],
  ['dkim', [`v=DKIM1; h=sha1; p=${KEY}`], 'different'],
  ['dkim', [`v=DKIM1; s=tlsrpt; p=${KEY}`], 'different'],
  ['dkim', [`"v=DKIM1; p=${KEY}"`], 'different'],
  ['dkim', ['anything'], 'different'],
  ['dkim', 'nxdomain', 'missing'],
  ['dkim', 'nodata', 'missing'],
  ['dkim', 'failed', 'unknown'],
  ['dkim-ed25519', ['k=ed25519; p=abc='], 'found'],
  ['dkim-ed25519', ['v=DKIM1; p=abc='], 'different'],
  ['return-path', ['10 mx.pillarbox.test'], 'found'],
  ['return-path', ['5 other.test', '20 mx.pillarbox.test'], 'found'],
  ['return-path', ['10 other.test'], 'different'],
  ['return-path', ['0 '], 'different'],
  ['return-path', 'nodata', 'missing'],
  ['return-path', 'failed', 'unknown'],
  ['return-path-spf', ['v=spf1 mx ~all'], 'found'],
  ['return-path-spf', ['V=SPF1 ip4:192.0.2.1 +MX -all', 'other text'], 'found'],
  ['return-path-spf', ['v=spf1 include:other.test -all'], 'different'],
  ['return-path-spf', ['v=spf1 -mx ~all'], 'different'],
  ['return-path-spf', ['v=spf1 mx ~all', 'v=spf1 a ~all'], 'different'],
  ['return-path-spf', ['v=spf10 mx'], 'missing'],
  ['return-path-spf', ['other text'], 'missing'],
  ['dmarc', ['v=DMARC1; p=reject; rua=mailto:a@shop.test'], 'found'],
  ['dmarc', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'different'],
  ['dmarc', ['v=spf1 -all'], 'missing'],
  ['replies', ['1 mx.pillarbox.test'], 'found'],
  ['replies', ['1 mail.elsewhere.test'], 'different'],
]

for (const [purpose, records, state] of cases) {
  test(`${purpose}: ${JSON.stringify(records).slice(0, 70)} is ${state}`, async () => {
    assert.equal((await check(purpose, records)).state, state)
  })
}

test('found records are shown unchanged, within limits', async () => {
  assert.deepEqual((await check('dkim', ['one', 'two'])).found, ['one', 'two'])
  assert.deepEqual((await check('replies', ['0 ', '5 a.test'])).found, ['0 .', '5 a.test'])
  const many = await check(
    'dkim',
    Array.from({ length: 500 }, () => 'x'.repeat(16_000)),
  )
  assert.ok(JSON.stringify(many).length < 10_000)
  assert.deepEqual((await check('dkim', 'failed')).found, [])
})

test('the DMARC policy of the organisation covers its subdomains', async () => {
  const record = { ...wanted.dmarc, name: '_dmarc.news.shop.test' }
  const covered = fakeResolver({ '_dmarc.shop.test': ['v=DMARC1; p=reject'] })
  assert.equal((await queryRecords(covered, [record]))[0]?.state, 'found')
  assert.equal((await queryRecords(fakeResolver({}), [record]))[0]?.state, 'missing')
})
