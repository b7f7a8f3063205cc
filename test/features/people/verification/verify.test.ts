import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { AppError } from '../../../../src/base/errors.ts'
import { createHealth } from '../../../../src/base/health.ts'
import { silentLog } from '../../../../src/base/log.ts'
import { createVerifier } from '../../../../src/features/people/verification/verifier.ts'
import { verifyAddress } from '../../../../src/features/people/verification/verify.ts'
import { createDnsWatch } from '../../../../src/outbound/dns/watch.ts'
import { runFor } from '../../../../src/turns/owner.ts'
import { anyCharacter } from '../../../any-character.ts'
import { canaries, type DnsZone, startDnsServer } from '../../../fakes/dns-server.ts'
import { PATIENCE_MS } from '../../../patience.ts'

const mail = { MX: [[10, 'mx.dest.test']] as [number, string][], A: ['192.0.2.1'] }

type Options = {
  isWatched?: boolean
  /** For tests that wait for it; the others must not end by it on a busy machine. */
  timeoutMs?: number
}

async function setUp(t: TestContext, zone: DnsZone = {}, more: Options = {}) {
  const { isWatched = false, timeoutMs = PATIENCE_MS } = more
  const dns = await startDnsServer({ 'dest.test': mail, ...zone })
  const clock = { at: 1_800_000_000_000 }
  const now = () => clock.at
  const options = { dnsServers: [dns.address], dataDir: 'nowhere', now, log: silentLog() }
  const settings = { dns: { servers: [dns.address], canary: canaries }, now, log: options.log }
  const watch = createDnsWatch({ ...settings, health: createHealth() })
  const watched = isWatched ? { watch } : {}
  const verifier = createVerifier({ ...options, ...watched, timeoutMs })
  t.after(async () => {
    verifier.stop()
    watch.stop()
    await dns.stop()
  })
  return { dns, clock, verify: (text: string) => verifyAddress({ verifier, now }, text) }
}

test('an address of a domain that accepts mail is valid, with one reason', async (t) => {
  const { verify } = await setUp(t)
  assert.deepEqual(await verify(' Ada@Dest.TEST '), {
    email: ' Ada@Dest.TEST ',
    valid: true,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: true,
    hasWebsite: true,
    hasMxRecords: true,
    reasons: ['The address is well formed and its domain accepts mail'],
  })
})

test('an address that shows itself is verified, and the result names it alone', async (t) => {
  const { verify } = await setUp(t)
  for (const text of [
    'Ada@dest.test <ada@dest.test>',
    '"ada@dest.test" <Ada@dest.test>',
    '<ada@dest.test>',
  ]) {
    const { email, valid } = await verify(text)
    assert.deepEqual([email, valid], ['ada@dest.test', true], text)
  }
  const other = await verify('bob@dest.test <ada@dest.test>')
  assert.deepEqual([other.email, other.valid], ['bob@dest.test <ada@dest.test>', false])
})

test('a text that is not an address is invalid, without a DNS query', async (t) => {
  const { verify, dns } = await setUp(t)
  const texts = [
    ...['ada', 'ada@', '@dest.test', 'a@b@dest.test', 'ada @dest.test', 'ada@dest', 'a@dest..test'],
    ...['ada@[192.0.2.1]', 'ada@192.0.2.1', '"a b"@dest.test', 'Ada <ada@dest.test>', 'a,b@x.test'],
    ...[
      'ada@-dest.test',
      'ada@dest_1.test',
      'a\n@dest.test',
      'a\0@dest.test',
      ' ',
      '\ud800@dest.test',
    ],
    ...[
      `${'a'.repeat(65)}@dest.test`,
      `a@${'b'.repeat(64)}.test`,
      'x'.repeat(65_536),
      'ada@ｄest.test',
    ],
  ]
  for (const text of texts) {
    const verification = await verify(text)
    assert.deepEqual(
      { ...verification, email: '' },
      {
        email: '',
        valid: false,
        isDisposable: false,
        isAlias: false,
        isTypo: false,
        isPlusAddressed: false,
        isPersonalEmail: false,
        domainExists: false,
        hasWebsite: false,
        hasMxRecords: false,
        reasons: ['This is not an email address'],
      },
      text.slice(0, 40),
    )
    assert.equal(verification.email, text)
  }
  assert.deepEqual(dns.queries, [])
})

test('the DNS records of a domain decide the result', async (t) => {
  const { verify } = await setUp(t, {
    'a-only.test': { A: ['192.0.2.1'] },
    'aaaa-only.test': { AAAA: ['2001:db8::1'] },
    'empty.test': {},
    'null.test': { MX: [[0, '']], A: ['192.0.2.1'] },
    'mx-only.test': { MX: [[10, 'mx.dest.test']] },
    'six.test': { MX: [[10, 'mx.dest.test']], AAAA: ['2001:db8::1'] },
    'alias.test': { CNAME: 'dest.test' },
    'astray.test': { CNAME: 'gone.test' },
  })
  const rows: [domain: string, valid: boolean, exists: boolean, mx: boolean, web: boolean][] = [
    ['dest.test', true, true, true, true],
    ['gone.test', false, false, false, false],
    ['a-only.test', false, true, false, true],
    ['aaaa-only.test', false, true, false, true],
    ['empty.test', false, true, false, false],
    ['null.test', false, true, false, true],
    ['mx-only.test', true, true, true, false],
    ['six.test', true, true, true, true],
    ['alias.test', true, true, true, true],
    ['astray.test', false, false, false, false],
  ]
  for (const row of rows) {
    const { valid, domainExists, hasMxRecords, hasWebsite } = await verify(`ada@${row[0]}`)
    assert.deepEqual([row[0], valid, domainExists, hasMxRecords, hasWebsite], row)
  }
  const reasonOf = async (domain: string) => (await verify(`ada@${domain}`)).reasons
  assert.deepEqual(await reasonOf('gone.test'), ['The domain gone.test does not exist'])
  assert.deepEqual(await reasonOf('a-only.test'), ['a-only.test has no MX record'])
  assert.deepEqual(await reasonOf('null.test'), [
    'null.test declares that it accepts no mail (null MX)',
  ])
})

test('name servers that do not respond are an error, never a missing domain', async (t) => {
  const zone = { 'broken.test': 'SERVFAIL', 'refused.test': 'REFUSED' }
  const { verify, dns, clock } = await setUp(t, zone as DnsZone)
  const silent = await setUp(t, { 'silent.test': 'SILENT' }, { timeoutMs: 60 })
  for (const [domain, asked] of [
    ['broken.test', { verify, dns }],
    ['refused.test', { verify, dns }],
    ['silent.test', silent],
  ] as const) {
    await assert.rejects(asked.verify(`ada@${domain}`), (error: AppError) => {
      assert.equal(error.code, 'EXTERNAL_SERVICE_ERROR')
      assert.equal(error.status, 503)
      assert.equal(error.details?.retryAfter, 10)
      assert.ok(error.message.includes(domain))
      return true
    })
    assert.equal(asked.dns.count(domain, 'MX'), 2, `${domain} is asked for twice`)
  }
  await assert.rejects(verify('eve@broken.test'))
  assert.equal(dns.count('broken.test', 'MX'), 2, 'a failure is remembered for a while')
  dns.set('broken.test', mail)
  clock.at += 11_000
  assert.equal((await verify('eve@broken.test')).valid, true)
})

test('servers that deny everything are an error, never a missing domain', async (t) => {
  const { verify, dns, clock } = await setUp(t, {}, { isWatched: true })
  dns.answerAll('NXDOMAIN')
  await assert.rejects(verify('ada@dest.test'), (error: AppError) => {
    assert.deepEqual([error.code, error.status], ['EXTERNAL_SERVICE_ERROR', 503])
    assert.match(error.message, /dest\.test .*no domain of dns\.canary resolves either/)
    return true
  })
  dns.answerAll(undefined)
  clock.at += 11_000
  assert.equal((await verify('ada@dest.test')).valid, true)
  assert.equal((await verify('ada@gone.test')).domainExists, false)
})

test('an unanswered query for the website is no error but a reason', async (t) => {
  const { verify } = await setUp(t, {
    'half.test': { MX: [[10, 'mx.dest.test']], A: 'SERVFAIL', AAAA: [] },
    'late.test': { MX: [[10, 'mx.dest.test']], A: ['192.0.2.1'], AAAA: 'SERVFAIL' },
  })
  const half = await verify('ada@half.test')
  assert.deepEqual(
    [half.valid, half.hasWebsite, half.reasons],
    [true, false, ['The name servers did not say whether half.test has a website']],
  )
  assert.equal((await verify('ada@late.test')).hasWebsite, true)
})

test('answers are cached, including those for missing domains', async (t) => {
  const { verify, dns, clock } = await setUp(t)
  for (const name of ['ada', 'bob', 'eve']) {
    await verify(`${name}@dest.test`)
    await verify(`${name}@gone.test`)
  }
  assert.deepEqual([dns.count('dest.test'), dns.count('gone.test')], [3, 1])
  clock.at += 61_000
  await verify('ada@gone.test')
  assert.equal(dns.count('gone.test'), 2)
})

test('the flags follow the lists and do not affect validity', async (t) => {
  const zone = Object.fromEntries(
    ['mailinator.com', 'team.yopmail.com', 'mozmail.com', 'gmail.com'].map((name) => [name, mail]),
  )
  const { verify } = await setUp(t, zone)
  const flagsOf = async (text: string) => {
    const { valid, isDisposable, isAlias, isPersonalEmail, isPlusAddressed } = await verify(text)
    return { valid, isDisposable, isAlias, isPersonalEmail, isPlusAddressed }
  }
  const none = {
    valid: true,
    isDisposable: false,
    isAlias: false,
    isPersonalEmail: false,
    isPlusAddressed: false,
  }
  assert.deepEqual(await flagsOf('A@Mailinator.COM'), { ...none, isDisposable: true })
  assert.deepEqual(await flagsOf('a@team.yopmail.com'), { ...none, isDisposable: true })
  assert.deepEqual(await flagsOf('a@mozmail.com'), { ...none, isAlias: true })
  assert.deepEqual(await flagsOf('a@gmail.com'), { ...none, isPersonalEmail: true })
  assert.deepEqual(await flagsOf('a+b@dest.test'), { ...none, isPlusAddressed: true })
  assert.equal((await verify('a@gmail.com')).reasons.length, 1)
  assert.deepEqual((await verify('a+b@mailinator.com')).reasons, [
    'mailinator.com provides disposable addresses',
    'The part before the @ contains a plus, as aliases do',
  ])
})

test('a mistyped domain gets a suggestion, and DNS decides its validity', async (t) => {
  const { verify } = await setUp(t, { 'gmial.com': mail, 'bmail.com': mail, 'email.com': {} })
  const missing = await verify('Ada.L+x@gmail.con')
  assert.equal(missing.valid, false)
  assert.equal(missing.isTypo, true)
  assert.equal(missing.suggestedEmail, 'ada.l+x@gmail.com')
  assert.ok(missing.reasons.some((reason) => reason.includes('ada.l+x@gmail.com')))
  const registered = await verify('ada@gmial.com')
  assert.deepEqual(
    [registered.valid, registered.isTypo, registered.suggestedEmail],
    [true, true, 'ada@gmail.com'],
  )
  for (const text of ['ada@bmail.com', 'ada@email.com', 'ada@gone.test']) {
    const { isTypo, suggestedEmail } = await verify(text)
    assert.deepEqual([isTypo, suggestedEmail], [false, undefined], text)
  }
})

test('international domains are looked up as A-labels and shown as they are written', async (t) => {
  const { verify, dns } = await setUp(t, { 'xn--bcher-kva.test': mail })
  for (const text of [
    'ada@bücher.test',
    'ada@BÜCHER.test',
    'ada@xn--bcher-kva.test',
    'ädä@bücher.test',
  ]) {
    const verification = await verify(text)
    assert.equal(verification.valid, true, text)
    assert.equal(verification.email, text)
  }
  assert.deepEqual(new Set(dns.queries.map(({ name }) => name)), new Set(['xn--bcher-kva.test']))
  assert.deepEqual((await verify('a@grün.test')).reasons, ['The domain grün.test does not exist'])
})

test('S31: a flood of look-ups of one project waits in its line, and another project has the next turn', async (t) => {
  const { verify, dns } = await setUp(t, { 'other.test': mail })
  const of = (key: string, domain: string) =>
    runFor({ key, isJob: false }, () => verify(`a@${domain}`))
  const domains = Array.from({ length: 150 }, (_, index) => `d${index}.test`)
  const outcomes = domains.map((domain) => of('a', domain).catch((error: AppError) => error.code))
  // 32 at once and 100 that wait.
  assert.equal((await of('b', 'other.test')).valid, true)
  const answers = await Promise.all(outcomes)
  const refused = answers.filter((answer) => answer === 'RATE_LIMIT_EXCEEDED')
  assert.deepEqual([refused.length, answers.indexOf('RATE_LIMIT_EXCEEDED')], [18, 132])
  // A datagram may be lost and a question asked twice: each domain that had a turn was asked for.
  const asked = dns.queries.map(({ name }) => name)
  assert.deepEqual(new Set(asked), new Set([...domains.slice(0, 132), 'other.test']))
  assert.ok(asked.indexOf('other.test') <= 2 * 32, 'before those of a that waited')
  assert.equal((await of('a', 'd149.test')).domainExists, false)
})

test('beyond 1,000 look-ups that wait, everybody is told to come back', async (t) => {
  const { verify } = await setUp(t)
  const outcomes = Array.from({ length: 15 * 100 }, (_, index) =>
    runFor({ key: `p${index % 15}`, isJob: false }, () => verify(`a@d${index}.test`)).catch(
      ({ code, status, details }: AppError) => `${code} ${status} ${details?.retryAfter}`,
    ),
  )
  const answers = await Promise.all(outcomes)
  const refused = answers.filter((answer) => typeof answer === 'string')
  assert.equal(refused.length, 15 * 100 - 128 - 1_000)
  assert.deepEqual([...new Set(refused)], ['EXTERNAL_SERVICE_ERROR 503 2'])
})

test('any text gets a result of the same shape', async (t) => {
  const { verify } = await setUp(t)
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 80 }),
    fc.emailAddress(),
    fc.string({ maxLength: 40 }).map((text) => `${text}@dest.test`),
  )
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const verification = await verify(text)
      assert.equal(verification.email, text)
      assert.ok(verification.reasons.length > 0)
      assert.equal(verification.isTypo, verification.suggestedEmail !== undefined)
      if (verification.valid) assert.ok(verification.domainExists && verification.hasMxRecords)
    }),
    { numRuns: 100 },
  )
})
