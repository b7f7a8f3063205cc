import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { createLog, type LogLevel } from '../../src/base/log.ts'
import { redactText } from '../../src/base/redact.ts'
import { newId } from '../../src/store/ids.ts'
import { withinCpuMs } from '../cpu-time.ts'

const INFO = { showsAddresses: false }
const DEBUG = { showsAddresses: true }

/** A log, and the text of its lines. */
function openLog(level: LogLevel) {
  const lines: string[] = []
  const log = createLog(level, { write: (line: string) => lines.push(line) })
  return { log, text: () => lines.join('') }
}

const SECRETS: [what: string, secret: string][] = [
  ['a secret key', 'sk_0123456789abcdef0123456789abcdef0123456789abcdef'],
  ['a short secret key', 'sk_live1'],
  ['a public key', 'pk_0123456789abcdef'],
  ['a webhook secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['a key of Stripe', 'rk_live_51H8x9'],
  ['a signed token of a link', 'aheq2lcabvzpb4wlvkgjyd4t3bm4wzmkfv3hyk2kzq'],
  ['a session token', 'Zq3l8D0m2Jx_9bT-4kQwErTyUiOpAsDfGhJkLzXcVb1'],
  ['a JSON web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N'],
  ['hexadecimal digits', 'd41d8cd98f00b204e9800998ecf8427e'],
]

describe('at every level', () => {
  for (const [what, secret] of SECRETS) {
    it(`${what} is hidden in any text`, () => {
      for (const options of [INFO, DEBUG]) {
        for (const text of [
          secret,
          `it was ${secret}.`,
          `https://a.test/x/${secret}`,
          `"${secret}"`,
        ]) {
          const shown = redactText(text, options)
          for (const part of secret.split('.')) assert.ok(!shown.includes(part), shown)
        }
      }
    })
  }

  it('passwords beside their name, credentials of URLs and queries are hidden', () => {
    const cases: [given: string, shown: string][] = [
      ['password=hunter2, user=x', 'password=…, user=x'],
      ['{"client_secret":"abc"}', '{"client_secret":"…"}'],
      ['Authorization: Bearer abc.def', 'Authorization: … …'],
      ['it sent Basic dXNlcjpwYXNz', 'it sent Basic …'],
      ['https://user:hunter2@a.test/path?token=1&b=2 failed', 'https://a.test/path failed'],
      ['GET /reset?token=abc', 'GET /reset'],
      [
        'Failed query: insert into x values (?)\nparams: hunter2, body',
        'Failed query: insert into x values (?)\nparams: …',
      ],
    ]
    for (const [given, shown] of cases) assert.equal(redactText(given, DEBUG), shown)
  })

  it('what a search needs is shown', () => {
    const shown = [
      newId(),
      `email ${newId()} of mx.google.com`,
      'SQLITE_IOERR_CHECKPOINT UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      '550 5.1.1 no such user. Is it right?',
      '/var/lib/pillarbox/pillarbox.db-wal',
      'TLSv1.3, certificate not verified (TLS_AES_256_GCM_SHA384)',
      'node_modules/@hono/node-server/dist/index.mjs:123:45',
      'delete-expired-deliveries',
    ]
    for (const text of shown) assert.equal(redactText(text, DEBUG), text)
  })

  it('a text of hostile length takes no time to speak of', () => {
    for (const part of ['?', '@', '/', 'a?', 'token=', '://', '%40', 'a-', 'Bearer ']) {
      assert.ok(redactText(part.repeat(100_000), INFO).length <= 100_000)
    }
  })
})

test('a line hides a marked secret wherever a call puts it, at info and at debug', () => {
  const places = fc.constantFrom('text', 'field', 'list', 'nested', 'error', 'cause', 'key', 'map')
  const names = fc.constantFrom('reason', 'why', 'x', 'site', 'error')
  const secret = fc.constantFrom(
    ...SECRETS.map(([, each]) => each).filter((each) => !each.includes('.')),
  )
  fc.assert(
    fc.property(
      places,
      names,
      secret,
      fc.boolean(),
      fc.boolean(),
      (place, name, value, isWarn, isDebug) => {
        const { log, text } = openLog(isDebug ? 'debug' : 'info')
        const write = (fields: object, msg = 'it failed') =>
          isWarn ? log.warn(fields, msg) : log.info(fields, msg)
        if (place === 'text') write({}, `it failed: ${value}`)
        if (place === 'field') write({ [name]: value })
        if (place === 'list') write({ [name]: ['a', value] })
        if (place === 'nested') write({ [name]: { deep: { deeper: `at ${value}` } } })
        if (place === 'error') write({ error: new Error(`no ${value}`) })
        if (place === 'cause') write({ error: new Error('no', { cause: new Error(value) }) })
        if (place === 'key') write({ [name]: { [value]: 1 } })
        if (place === 'map') write({ [name]: new Map([['a', value]]) })
        assert.ok(text().length > 10)
        assert.ok(!text().includes(value), text())
      },
    ),
  )
})

test('an address alone is masked as in a text', () => {
  const parts = fc.constantFrom(
    'a',
    'Bo',
    '7',
    'eyJ',
    'sk_x',
    'sk',
    '-',
    '.',
    '+',
    'x'.repeat(23),
    '_',
  )
  const hosts = fc.constantFrom(
    'mx',
    '.',
    'test',
    '-',
    'a1',
    'eyJx',
    'B'.repeat(23),
    'c2'.repeat(12),
  )
  const texts = [fc.array(parts, { maxLength: 4 }), fc.array(hosts, { maxLength: 5 })] as const
  fc.assert(
    fc.property(...texts, (local, host) => {
      const given = `${local.join('')}@${host.join('')}`
      assert.equal(`(${redactText(given, INFO)})`, redactText(`(${given})`, INFO))
    }),
    { numRuns: 2_000 },
  )
})

test('random tokens are hidden', () => {
  const encodings = fc.constantFrom('hex', 'base64url') as fc.Arbitrary<BufferEncoding>
  fc.assert(
    fc.property(encodings, (encoding) => {
      const token = randomBytes(32).toString(encoding)
      assert.ok(!redactText(`the token is ${token}`, DEBUG).includes(token))
    }),
  )
})

test('a random token without a digit is hidden, a name of program code is not', () => {
  const tokens = [
    'qZkTbVwLmXhRcYsNfJdGpAeUoBiQvKtMzHxWrClSnDj',
    'aBcdEFghIJ-klMNopQR_stUVwxYZabCDefGHijKLmnO',
    'XxYyZzAaBbCcDdEeFfGgHhIiJjKkLlMm',
  ]
  for (const token of tokens) {
    assert.ok(!redactText(`the token is ${token}`, DEBUG).includes(token), token)
  }
  for (const name of [
    'startTheNextCampaignBatchAfterRestart',
    'ERR_SQLITE_CANTOPEN_FULLPATH_SYMLINK',
  ]) {
    assert.equal(redactText(`at ${name}`, DEBUG), `at ${name}`)
  }
})

test('fields that hold content are hidden, whatever they hold', () => {
  const { log, text } = openLog('debug')
  const content = 'the marked content'
  const names = ['subject', 'body', 'html', 'text', 'headers', 'data', 'payload', 'cookie', 'query']
  for (const name of [...names, 'password', 'newPassword', 'secret', 'token', 'code']) {
    log.info({ [name]: content, [`${name}s`]: undefined }, 'a line')
    log.debug({ deep: { [name]: [content] } }, 'a line')
  }
  assert.ok(!text().includes(content), text())
})

test('a private field without a value is left out, or null', () => {
  const { log, text } = openLog('info')
  log.info({ code: undefined, text: undefined, body: null }, 'a line')
  const { level, time, msg, ...fields } = JSON.parse(text())
  assert.deepEqual([msg, fields], ['a line', { body: null }])
})

test('addresses are masked in every field and text at info, and complete at debug', () => {
  const address = 'alice.long@example.com'
  const write = (level: LogLevel) => {
    const { log, text } = openLog(level)
    log.info({ to: address, why: `<${address}> is unknown`, error: new Error(address) }, address)
    log.info({ path: '/contacts/alice.long%40example.com' }, 'x')
    log.info(`for ${address}`)
    return text()
  }
  const shown = write('info')
  assert.ok(!shown.includes('alice'), shown)
  assert.ok(shown.includes('a…@example.com'))
  assert.ok(shown.includes('a…%40example.com'))
  assert.ok(write('debug').includes(address))
})

test('an address with quotes or an apostrophe is masked as a whole', () => {
  const cases: [given: string, shown: string][] = [
    ['"john doe"@example.com', '…@example.com'],
    ['from <"a\\"b.c"@example.com>', 'from <…@example.com>'],
    ["o'brien@example.com", 'o…@example.com'],
    ["for 'alice@example.com', 'bob@example.com'", "for 'a…@example.com', 'b…@example.com'"],
    ['{"to":"alice@example.com"}', '{"to":"a…@example.com"}'],
    ['/contacts/al%2Bice%40example.com', '/contacts/a…%40example.com'],
  ]
  for (const [given, shown] of cases) assert.equal(redactText(given, INFO), shown)
})

test('the files of packages with a scope are shown at info, too', () => {
  const line = 'at run (/srv/app/node_modules/@hono/node-server/dist/index.js:1:2)'
  assert.equal(redactText(line, INFO), line)
})

test('F10: the time for a hostile text grows with its length, not with the square of it', () => {
  for (const part of ['a', 'a-', '%41', 'password', '"', '"\\', "a'"]) {
    const text = `@ %40 ${part.repeat(8_000)}`.slice(0, 8_000)
    const redact = () => {
      for (let count = 0; count < 50; count += 1) redactText(text, INFO)
    }
    withinCpuMs(1_500, redact, part)
  }
})

test('the level of the log decides about addresses, also after it has changed', () => {
  const { log, text } = openLog('info')
  log.info('bob@example.com')
  log.level = 'debug'
  log.info('carol@example.com')
  log.level = 'info'
  log.info('david@example.com')
  assert.ok(!text().includes('bob@') && !text().includes('david@'))
  assert.ok(text().includes('carol@example.com'))
})

test("a client's own request id is shown, unless it is a key", () => {
  const { log, text } = openLog('info')
  log.info({ requestId: '4bf92f3577b34da6a3ce929d0e0e4736' }, 'a')
  log.info({ requestId: 'sk_0123456789abcdef' }, 'b')
  assert.match(text(), /4bf92f3577b34da6a3ce929d0e0e4736/)
  assert.ok(!text().includes('0123456789abcdef'))
})
