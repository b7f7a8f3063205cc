import assert from 'node:assert/strict'
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify,
} from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import {
  dkimRecord,
  generateDkimKeyPair,
  type SigningKey,
  signDkim,
} from '../../../src/formats/compose/dkim.ts'

const signedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const rsaPair = generateKeyPairSync('rsa', { modulusLength: 2048 })
// The key of RFC 8463 appendix A.2: a PKCS #8 prefix and the published seed.
const ed25519Key = createPrivateKey({
  key: Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64'),
  ]),
  format: 'der',
  type: 'pkcs8',
})
const rsa: SigningKey<KeyObject> = {
  domain: 'football.example.com',
  selector: 'test',
  algorithm: 'rsa-sha256',
  privateKey: rsaPair.privateKey,
}
const ed25519: SigningKey<KeyObject> = {
  domain: 'football.example.com',
  selector: 'brisbane',
  algorithm: 'ed25519-sha256',
  privateKey: ed25519Key,
}
const records: Record<string, string> = {
  'test._domainkey.football.example.com': dkimRecord('rsa', rsaPair.publicKey),
  'brisbane._domainkey.football.example.com': dkimRecord('ed25519', createPublicKey(ed25519Key)),
}

/** The message of RFC 8463 appendix A.3 (and of RFC 6376 appendix A.1). */
const RFC_MESSAGE = [
  'From: Joe SixPack <joe@football.example.com>',
  'To: Suzie Q <suzie@shopping.example.net>',
  'Subject: Is dinner ready?',
  'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
  'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
  '',
  'Hi.',
  '',
  'We lost the game.  Are you hungry yet?',
  '',
  'Joe.',
  '',
].join('\r\n')

/** The UTF-8 of a text with one character per octet, as `signDkim` expects it. */
function octetsOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function sign(message: string, keys: readonly SigningKey<KeyObject>[]): string {
  return signDkim(octetsOf(message), keys, signedAt)
}

function signed(message: string, keys: readonly SigningKey<KeyObject>[] = [rsa, ed25519]): Buffer {
  return Buffer.from(sign(message, keys) + octetsOf(message), 'latin1')
}

async function verdicts(message: Buffer): Promise<string[]> {
  const found = await dkimVerify(message, {
    resolver: async (name) => [[records[name] ?? '']],
    curTime: new Date(signedAt),
  })
  return found.results.map((result) => result.status.result)
}

/** The tags of a signature field, white space removed. */
function tags(field: string): Record<string, string> {
  const text = field.replace(/^DKIM-Signature:/, '')
  const pairs = text.split(';').map((tag) => tag.replace(/\s+/g, '').split(/=(.*)/s))
  return Object.fromEntries(pairs.map(([name, value]) => [name, value]))
}

/** Checks one signature against the canonical header fields that a reader of the RFC expects. */
function isSignatureOf(fields: string, signature: string, publicKey: KeyObject): boolean {
  const own = signature.replace(/\r\n$/, '').replaceAll('\r\n\t', ' ')
  const unsigned = own.replace(/^DKIM-Signature: /, 'dkim-signature:').replace(/ b=.*$/, ' b=')
  const { b = '' } = tags(signature)
  return verify(
    'sha256',
    Buffer.from(fields + unsigned, 'latin1'),
    publicKey,
    Buffer.from(b, 'base64'),
  )
}

function bodyHash(octets: string): string | undefined {
  return tags(signDkim(octets, [ed25519], signedAt)).bh
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('base64')
}

test('the canonicalisation example of RFC 6376 section 3.4.5 gives the printed result', () => {
  const message = 'Subject: X\r\nTo : Y\t\r\n\tZ  \r\n\r\n C \r\nD \t E\r\n\r\n\r\n'
  const signature = sign(message, [rsa])
  assert.equal(tags(signature).bh, sha256(' C\r\nD E\r\n'))
  assert.equal(tags(signature).h, 'from:to:to:subject:subject')
  assert.ok(isSignatureOf('to:Y Z\r\nsubject:X\r\n', signature, rsaPair.publicKey))
})

test('a body is canonicalised by RFC 6376 section 3.4.4', () => {
  const bodies: [body: string, canonical: string][] = [
    ['', ''],
    ['\r\n', ''],
    ['\r\n\r\n\r\n', ''],
    [' ', ''],
    [' \t\r\n \r\n', ''],
    ['a', 'a\r\n'],
    ['a\r\n', 'a\r\n'],
    ['a\r\n\r\n', 'a\r\n'],
    ['a\r\n \r\n\t\r\n', 'a\r\n'],
    ['a ', 'a\r\n'],
    ['a \t \r\nb', 'a\r\nb\r\n'],
    ['  a  b\tc', ' a b c\r\n'],
    ['\ta\r\n\r\nb\r\n', ' a\r\n\r\nb\r\n'],
    ['a  b\r\nplain line\r\n\r\nlast\r\n\r\n', 'a b\r\nplain line\r\n\r\nlast\r\n'],
    ['\x0b\xa0\x85 x\xa0\r\n', '\x0b\xa0\x85 x\xa0\r\n'],
  ]
  for (const [body, canonical] of bodies) {
    assert.equal(bodyHash(`From: a@b.c\r\n\r\n${body}`), sha256(canonical), JSON.stringify(body))
  }
})

test('any body is canonicalised like a plain implementation of the rules does', () => {
  const piece = fc.constantFrom(
    ' ',
    '\t',
    '\r\n',
    '\r\n\r\n',
    'a',
    'bc d',
    '.',
    '=20',
    '\xa0',
    '  ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const body = pieces.join('')
      const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' '))
      const text = lines.map((line) => line.replace(/ $/, '')).join('\r\n')
      const trimmed = text.replace(/(?:\r\n)+$/, '')
      const message = `From: a@b.c\r\n\r\n${body}`
      assert.equal(bodyHash(message), sha256(trimmed === '' ? '' : `${trimmed}\r\n`))
    }),
    { numRuns: 200 },
  )
})

test('a message without a body or without header fields can be signed', () => {
  assert.equal(bodyHash('From: a@b.c\r\n'), sha256(''))
  assert.equal(bodyHash('From: a@b.c'), sha256(''))
  assert.equal(bodyHash('\r\nbody\r\n'), sha256('body\r\n'))
  assert.equal(tags(sign('\r\nx', [rsa])).h, 'from:to:subject')
})

test('the RFC 8463 example has its published body hash and key record', async () => {
  assert.equal(bodyHash(RFC_MESSAGE), '2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=')
  assert.equal(
    dkimRecord('ed25519', createPublicKey(ed25519Key)),
    'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  )
  assert.deepEqual(await verdicts(signed(RFC_MESSAGE)), ['pass', 'pass'])
})

test('the signature field has the tags of its key, short lines and no stray white space', () => {
  const text = sign(RFC_MESSAGE, [rsa])
  const found = tags(text)
  assert.equal(found.v, '1')
  assert.equal(found.a, 'rsa-sha256')
  assert.equal(found.c, 'relaxed/relaxed')
  assert.equal(found.d, 'football.example.com')
  assert.equal(found.s, 'test')
  assert.equal(found.t, '1767323045')
  assert.ok(text.startsWith('DKIM-Signature: v=1;') && text.endsWith('\r\n'))
  for (const line of text.trimEnd().split('\r\n')) {
    assert.ok(line.length <= 78)
    assert.doesNotMatch(line, /[^\t\x20-\x7e]| $/)
  }
})

test('each key gets its own field, in the order given, and no key gives none', () => {
  const fields = sign(RFC_MESSAGE, [ed25519, rsa])
  assert.deepEqual(
    [...fields.matchAll(/^DKIM-Signature: v=1; a=([^;]+)/gm)].map((match) => match[1]),
    ['ed25519-sha256', 'rsa-sha256'],
  )
  assert.equal(sign(RFC_MESSAGE, []), '')
})

test('From, To and Subject are signed once more than they occur, other fields as often as they occur', () => {
  const header = [
    'List-Unsubscribe: <https://one.example>',
    'Reply-To: one@football.example.com',
    'X-Own: not signed',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'feedback-id: 1:2:3:4',
    'SUBJECT: one',
    'From: joe@football.example.com',
    'Reply-To: two@football.example.com',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    'Message-ID: <1@football.example.com>',
    'Date: Fri, 02 Jan 2026 03:04:05 +0000',
    'Received: from somewhere',
  ]
  const signature = sign(`${header.join('\r\n')}\r\n\r\nx`, [rsa])
  assert.equal(
    tags(signature).h,
    'from:from:to:subject:subject:reply-to:reply-to:date:message-id:mime-version:content-type:' +
      'content-transfer-encoding:list-unsubscribe:list-unsubscribe-post:feedback-id',
  )
})

test('instances of one field are signed from the bottom up', async () => {
  const message = 'From: a@b.c\r\nReply-To: one\r\nSubject: x\r\nReply-To: two\r\n\r\n'
  const signature = sign(message, [rsa])
  const canonical = 'from:a@b.c\r\nsubject:x\r\nreply-to:two\r\nreply-to:one\r\n'
  assert.ok(isSignatureOf(canonical, signature, rsaPair.publicKey))
  assert.deepEqual(await verdicts(signed(message)), ['pass', 'pass'])
  const swapped = message.replace('one', 'TMP').replace('two', 'one').replace('TMP', 'two')
  const moved = Buffer.from(signature + swapped, 'latin1')
  assert.deepEqual(await verdicts(moved), ['fail'])
})

test('a second From, To or Subject breaks both signatures, above and below the others', async () => {
  for (const added of ['From: evil@example.net', 'To: evil@example.net', 'Subject: Win', 'from:']) {
    const above = Buffer.concat([Buffer.from(`${added}\r\n`), signed(RFC_MESSAGE)])
    assert.deepEqual(await verdicts(above), ['fail', 'fail'], added)
    const below = signed(RFC_MESSAGE).toString().replace('\r\n\r\n', `\r\n${added}\r\n\r\n`)
    assert.deepEqual(await verdicts(Buffer.from(below)), ['fail', 'fail'], added)
  }
})

test('a changed octet of a signed field or of the body breaks both signatures', async () => {
  const message = signed(RFC_MESSAGE).toString()
  // mailauth calls a body hash that does not match neutral.
  const changes: [from: string, to: string, verdict: string][] = [
    ['Is dinner', 'Is Dinner', 'fail'],
    ['joe@', 'jim@', 'fail'],
    ['hungry', 'angry', 'neutral'],
    ['Joe.', 'Joe!', 'neutral'],
  ]
  for (const [from, to, verdict] of changes) {
    const changed = Buffer.from(message.replace(from, to))
    assert.deepEqual(await verdicts(changed), [verdict, verdict], to)
  }
})

test('UTF-8 in header fields (SMTPUTF8) is signed as octets', async () => {
  const message =
    'From: Jürgen <jürgen@bücher.de>\r\nTo: 用户@例子.广告\r\nSubject: à\r\n\r\nÄ \r\n'
  assert.deepEqual(await verdicts(signed(message)), ['pass', 'pass'])
  const signature = sign(message, [rsa])
  const fields = Buffer.from(
    'from:Jürgen <jürgen@bücher.de>\r\nto:用户@例子.广告\r\nsubject:à\r\n',
  ).toString('latin1')
  assert.ok(isSignatureOf(fields, signature, rsaPair.publicKey))
})

test('a very long field is signed completely, folded or not', async () => {
  const words = Array.from({ length: 4000 }, (_, index) => `<${index}@football.example.com>`)
  for (const fold of ['\r\n ', '\r\n\t \t', ' ']) {
    const message = `From: a@b.c\r\nReferences: ${words.join(fold)}\r\nSubject: x\r\n\r\nbody\r\n`
    assert.deepEqual(await verdicts(signed(message)), ['pass', 'pass'])
  }
})

const space = fc.constantFrom('', ' ', '\t', '  ', '\r\n ', '\r\n\t', ' \r\n \t ')
const word = fc.oneof(
  fc.constantFrom('a', 'é', '例', ':', ';', 'b=', '=?utf-8?q?x?=', '\u00a0', '"', 'x'.repeat(300)),
  fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replace(/\s/g, '_')),
)
const value = fc
  .array(fc.tuple(space, word, space), { maxLength: 5 })
  .map((parts) => parts.flat().join(''))
const name = fc.constantFrom(
  ...['from', 'To', 'SUBJECT', 'Date', 'message-id', 'Reply-To', 'CC', 'List-Unsubscribe'],
  ...['Content-Type', 'X-Own', 'Feedback-ID', 'MIME-Version', 'References', 'Received', 'b'],
)
const field = fc
  .tuple(name, fc.constantFrom(':', ': ', ':\t', ' : '), value)
  .map((parts) => parts.join(''))
const body = fc
  .array(fc.constantFrom('\r\n', ' ', '\t', 'a', '..', 'é', '\r\n\r\n', 'x'.repeat(200), '--b'), {
    maxLength: 25,
  })
  .map((pieces) => pieces.join(''))

test('an independent verifier accepts the signatures of any message', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(field, { maxLength: 10 }), body, async (fields, text) => {
      const header = ['From: a@football.example.com', ...fields].map((each) => `${each}\r\n`)
      const message = signed(`${header.join('')}\r\n${text}`)
      assert.deepEqual(await verdicts(message), ['pass', 'pass'])
    }),
    { numRuns: 100 },
  )
})

test('a key pair is generated as PEM, and a verifier accepts its record', async () => {
  for (const keyType of ['rsa', 'ed25519'] as const) {
    const pair = await generateDkimKeyPair(keyType)
    assert.match(pair.privateKey, /^-----BEGIN PRIVATE KEY-----\n/)
    assert.match(pair.publicKey, /^-----BEGIN PUBLIC KEY-----\n/)
    const privateKey = createPrivateKey(pair.privateKey)
    const publicKey = createPublicKey(pair.publicKey)
    assert.equal(privateKey.asymmetricKeyType, keyType)
    if (keyType === 'rsa') assert.equal(privateKey.asymmetricKeyDetails?.modulusLength, 2048)
    const key: SigningKey<KeyObject> = {
      domain: 'a.example',
      selector: 's',
      algorithm: `${keyType}-sha256`,
      privateKey,
    }
    records['s._domainkey.a.example'] = dkimRecord(keyType, publicKey)
    assert.deepEqual(await verdicts(signed(RFC_MESSAGE, [key])), ['pass'])
  }
})

test('a key that does not match its algorithm is a TypeError', () => {
  const swapped: SigningKey<KeyObject> = { ...rsa, privateKey: ed25519Key }
  assert.throws(() => sign(RFC_MESSAGE, [swapped]), TypeError)
  assert.throws(() => dkimRecord('rsa', createPublicKey(ed25519Key)), TypeError)
})
