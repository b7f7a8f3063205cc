import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { dkimRecord, signDkim } from '../../src/formats/compose/dkim.ts'
import { checkSender, isAligned, type ResolveDns } from '../../src/inbound/verdicts.ts'

const original = Buffer.concat
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const record = dkimRecord('rsa', pair.publicKey)

const zone: Record<string, string[]> = {
  'people.test': ['v=spf1 ip4:192.0.2.7 -all'],
  's._domainkey.people.test': [record],
  '_dmarc.people.test': ['v=DMARC1; p=reject'],
  'soft.test': ['v=spf1 ~all'],
}

const resolve: ResolveDns = async (name, type) => {
  const records = type === 'TXT' ? zone[name] : undefined
  if (records !== undefined) return records.map((text) => [text])
  throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
}

const silent: ResolveDns = async () => {
  throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' })
}

const text = [
  'From: Bob <bob@people.test>',
  'Subject: Hi',
  'Date: Sat, 21 Nov 2026 12:00:00 +0000',
  '',
  'Hello',
  '',
].join('\r\n')

function signed(message = text): string {
  const { privateKey } = pair
  const key = { algorithm: 'rsa-sha256', domain: 'people.test', selector: 's', privateKey } as const
  return signDkim(message, [key], Date.UTC(2026, 10, 21)) + message
}

const client = { clientAddress: '192.0.2.7', clientName: 'mx.people.test' }
const deps = { resolve, hostname: 'mx.example.test' }

type Change = Partial<Parameters<typeof checkSender>[1]>

const checkAll = (raw: string, change: Change = {}, by = deps) =>
  checkSender(by, { ...client, reversePath: 'bob@people.test', raw: Buffer.from(raw), ...change })

const check = async (...given: Parameters<typeof checkAll>) => (await checkAll(...given)).verdicts

test('a signed message from an allowed address passes SPF, DKIM and DMARC', async () => {
  assert.deepEqual(await check(signed()), { spf: 'PASS', dkim: 'PASS', dmarc: 'PASS' })
})

test('a sender is authenticated only by SPF or a signature of its own organization', async () => {
  const elsewhere = { clientAddress: '192.0.2.9' }
  const cases: [string, Change, boolean][] = [
    [text, {}, true],
    [signed(), { ...elsewhere, reversePath: 'x@soft.test' }, true],
    [text, elsewhere, false],
    [text, { ...elsewhere, reversePath: 'bob@soft.test' }, false],
    [signed().replace('Hello', 'Bye'), elsewhere, false],
  ]
  for (const [raw, change, isAuthentic] of cases) {
    const { domains } = await checkAll(raw, change)
    assert.equal(isAligned('people.test', domains), isAuthentic, JSON.stringify([raw, change]))
    assert.equal(isAligned('mail.people.test', domains), isAuthentic)
    assert.equal(isAligned('other.test', domains), false)
    assert.equal(isAligned('', domains), false)
  }
  assert.equal(isAligned('ann.github.io', ['eve.github.io']), false)
  const broken = await checkAll(signed(), {}, { ...deps, resolve: silent })
  assert.deepEqual(broken.domains, [])
})

test('a changed body fails DKIM, and also DMARC unless SPF passes', async () => {
  const verdicts = await check(signed().replace('Hello', 'Bye'), { clientAddress: '192.0.2.9' })
  assert.equal(verdicts.spf, 'FAIL')
  assert.notEqual(verdicts.dkim, 'PASS')
  assert.equal(verdicts.dmarc, 'FAIL')
})

test('a signature of another domain does not authenticate the sender', async () => {
  const raw = signed().replace('From: Bob <bob@people.test>', 'From: Bob <bob@soft.test>')
  assert.notEqual((await check(raw)).dmarc, 'PASS')
})

test('without SPF, DKIM and DMARC records the verdicts are GRAY', async () => {
  const raw = text.replaceAll('people.test', 'silent.test')
  const verdicts = await check(raw, { reversePath: 'bob@silent.test' })
  assert.deepEqual(verdicts, { spf: 'GRAY', dkim: 'GRAY', dmarc: 'GRAY' })
  assert.equal((await check(text, { reversePath: 'bob@soft.test' })).spf, 'GRAY')
})

test('a From field with authors of two domains fails DMARC', async () => {
  const raw = text.replace('<bob@people.test>', '<bob@people.test>, eve@soft.test')
  assert.equal((await check(raw)).dmarc, 'FAIL')
})

test('a DNS failure has another verdict than a sender that fails its check', async () => {
  const verdicts = await check(signed(), {}, { ...deps, resolve: silent })
  assert.deepEqual(verdicts, {
    spf: 'PROCESSING_FAILED',
    dkim: 'PROCESSING_FAILED',
    dmarc: 'PROCESSING_FAILED',
  })
})

test('a silent DNS server delays the check for a bounded time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked = Promise.withResolvers<void>()
  const never: ResolveDns = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  const checking = check(signed(), {}, { ...deps, resolve: never })
  await asked.promise
  t.mock.timers.tick(3_000)
  assert.equal((await checking).dkim, 'PROCESSING_FAILED')
})

test('a message with too many signatures costs no look-ups', async () => {
  let lookups = 0
  const counting: ResolveDns = (name, type) => {
    lookups += 1
    return resolve(name, type)
  }
  const many = signed().replace(
    /^/,
    'DKIM-Signature: v=1; d=a.test; s=b; h=from; b=x\r\n'.repeat(11),
  )
  const verdicts = await check(many, {}, { ...deps, resolve: counting })
  assert.equal(verdicts.dkim, 'PROCESSING_FAILED')
  assert.equal(lookups, 0)
})

test('the look-ups of an SPF record are limited', async () => {
  let lookups = 0
  const endless: ResolveDns = async (name) => {
    lookups += 1
    return [[`v=spf1 include:a.${name} include:b.${name} include:c.${name} -all`]]
  }
  const raw = text
  const verdicts = await check(raw, {}, { ...deps, resolve: endless })
  assert.notEqual(verdicts.spf, 'PASS')
  assert.ok(lookups <= 50, String(lookups))
})

test('a header section of thousands of lines is not checked', async () => {
  const raw = `X:${'\r\n '.repeat(6_000)}\r\n${signed()}`
  assert.equal((await check(raw)).dkim, 'PROCESSING_FAILED')
  const folded = `X:${'\r\n x'.repeat(1_000)}\r\n${signed()}`
  assert.equal((await check(folded)).dkim, 'PASS')
})

test('S15: a TXT record too long for a policy is not read, and one beside it is', async () => {
  const long = `v=spf1 exists:${'%{'.repeat(2_100)}`
  const answers = (...records: string[]): typeof deps => ({
    ...deps,
    resolve: async (name, type) => {
      if (type !== 'TXT' || name !== 'people.test') return resolve(name, type)
      return records.map((text) => text.match(/.{1,255}/g) ?? [])
    },
  })
  assert.equal((await check(text, {}, answers(long))).spf, 'GRAY')
  const spf = zone['people.test']?.[0] ?? ''
  assert.equal((await check(text, {}, answers(long, spf))).spf, 'PASS')
})

test('S5: a body of one line is copied a few times, whatever its length', async (t) => {
  let copied = 0
  const concat = t.mock.method(Buffer, 'concat', (...given: Parameters<typeof Buffer.concat>) => {
    const joined = Reflect.apply(original, Buffer, given) as Buffer
    copied += joined.length
    return joined
  })
  const raw = signed(`${text}${'a'.repeat(4_000_000)}\r\n`)
  assert.equal((await check(raw)).dkim, 'PASS')
  assert.ok(concat.mock.callCount() > 0)
  assert.ok(copied < 4 * raw.length, String(copied))
})

test('S5: a domain of a hundred thousand combining marks is not normalised', async (t) => {
  const spy = t.mock.method(String.prototype, 'normalize')
  const domain = `e${'\u0301\u0323'.repeat(50_000)}.test`
  const verdicts = await check(text.replace('people.test', domain))
  assert.deepEqual(new Set(Object.values(verdicts)), new Set(['PROCESSING_FAILED']))
  const lengths = spy.mock.calls.map(({ this: label }) => String(label).length)
  assert.ok(Math.max(0, ...lengths) < 1_000)
  const name = text.replace('Bob', '\u674e'.repeat(300))
  assert.equal((await check(name)).spf, 'PASS')
})
