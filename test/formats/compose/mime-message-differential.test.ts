/**
 * Compares with other software: mailparser must read the original content from our message, and the
 * same content from a message that nodemailer composed; mailauth must verify the signature.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser'
import MailComposer from 'nodemailer/lib/mail-composer'
import { composeMessage, type MessageInput } from '../../../src/formats/compose/mime-message.ts'
import type { Attachment } from '../../../src/formats/compose/mime-part.ts'
import { hostileBody, hostileLine } from '../hostile-text.ts'
import { decodeWords, readFields, toBuffer } from '../read-message.ts'

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abcXYZ019éßñ你Жש'), minLength: 1, maxLength: 9 }),
  fc.constantFrom('😀', '👨‍👩‍👧', 'naïve', 'a.b', 'x'.repeat(70), 'ü'.repeat(50), '100%', '#1'),
)
/** Text on which mail programs agree: words with single spaces. */
const tameLine = fc.array(word, { minLength: 1, maxLength: 14 }).map((words) => words.join(' '))
const tameBody = fc.array(tameLine, { minLength: 1, maxLength: 6 }).map((lines) => lines.join('\n'))

const wireAddress = fc.constantFrom(
  'a@example.com',
  "o'neil+tag@mail.example.com",
  'first.last@xn--bcher-kva.example',
  `${'l'.repeat(64)}@${'d'.repeat(60)}.example`,
  'jürgen@example.com',
)
const contentType = fc.constantFrom(
  'image/png',
  'application/pdf',
  'text/csv; charset=iso-8859-1',
  'text/html',
  'application/x-odd; a="b c"; d=é',
  'nonsense',
)

function mailbox(name: fc.Arbitrary<string>): fc.Arbitrary<MessageInput['from']> {
  return fc.record({ address: wireAddress, name: fc.option(name) })
}

function attachment(filename: fc.Arbitrary<string>): fc.Arbitrary<Attachment> {
  return fc.oneof(
    fc.record({
      filename,
      contentType,
      content: fc.uint8Array({ maxLength: 300 }),
      contentId: fc.constantFrom(null, 'file-1'),
      disposition: fc.constant('attachment' as const),
    }),
    fc.record({
      filename,
      contentType: fc.constantFrom('image/png', 'image/svg+xml'),
      content: fc.uint8Array({ maxLength: 300 }),
      contentId: fc.constantFrom('logo', 'img.1@example.com'),
      disposition: fc.constant('inline' as const),
    }),
  )
}

type TextInput = MessageInput & { html: string | null; text: string | null }

function message(line: fc.Arbitrary<string>, body: fc.Arbitrary<string>, filename = line) {
  return fc
    .record({
      messageId: fc.uuid().map((id) => `${id}@example.com`),
      date: fc.integer({ min: 0, max: 4e9 }).map((seconds) => seconds * 1000),
      from: mailbox(line),
      to: mailbox(line),
      replyTo: fc.option(mailbox(line)),
      subject: line,
      html: fc.option(body),
      text: fc.option(body),
      headers: fc.array(
        fc.tuple(fc.constantFrom('X-One', 'x-two', `X-${'Long'.repeat(15)}`), line),
        {
          maxLength: 3,
        },
      ),
      attachments: fc.array(attachment(filename), { maxLength: 3 }),
    })
    .filter(({ html, text }) => html !== null || text !== null)
}

function read(octets: Buffer): Promise<ParsedMail> {
  return simpleParser(octets, { keepCidLinks: true, skipTextToHtml: true })
}

function trimmed(text: string | null): string {
  return (text ?? '').replace(/^[ \t]+|[ \t]+$/g, '').toWellFormed()
}

function lines(text: string): string {
  return text.replace(/\r\n?|\n/g, '\n').toWellFormed()
}

function firstMailbox(field: AddressObject | AddressObject[] | undefined) {
  const [first, ...others] = [field].flat().flatMap((address) => address?.value ?? [])
  assert.equal(others.length, 0)
  return first === undefined ? undefined : { address: first.address, name: first.name }
}

function expectedMailbox(box: MessageInput['from'] | null) {
  if (box === null) return undefined
  const address = box.address.replace('xn--bcher-kva', 'bücher')
  return { address, name: trimmed(box.name) }
}

test('every message has lines of at most 998 octets with CRLF, and is 7-bit if possible', () => {
  fc.assert(
    fc.property(message(hostileLine, hostileBody), (input) => {
      const { octets, needsSmtputf8 } = composeMessage(input)
      assert.equal(composeMessage(input).octets, octets)
      assert.doesNotMatch(octets, /[^\0-\xff]/)
      assert.ok(octets.endsWith('\r\n'))
      assert.doesNotMatch(octets, /\r(?!\n)|(?<!\r)\n|\0/)
      for (const line of octets.split('\r\n')) assert.ok(line.length <= 998)
      const boxes = [input.from, input.to, input.replyTo]
      const isUtf8 = boxes.some((box) => box !== null && /[^\x20-\x7e]/.test(box.address))
      assert.equal(needsSmtputf8, isUtf8)
      const head = octets.indexOf('\r\n\r\n')
      assert.doesNotMatch(octets.slice(isUtf8 ? head : 0), /[^\t\r\n\x20-\x7e]/)
    }),
    { numRuns: 150 },
  )
})

test('the header section has no unexpected field', () => {
  const ours = 'Date From To Subject Message-ID MIME-Version Content-Type'.split(' ')
  fc.assert(
    fc.property(message(hostileLine, hostileBody), (input) => {
      const fields = readFields(toBuffer(composeMessage(input)))
      const expected = [...ours, ...input.headers.map(([name]) => name)]
      if (input.replyTo !== null) expected.push('Reply-To')
      const names = fields.map(({ name }) => name)
      if (names.includes('Content-Transfer-Encoding')) expected.push('Content-Transfer-Encoding')
      assert.deepEqual(names.toSorted(), expected.toSorted())
      const extras = fields.filter(({ name }) => /^x-/i.test(name))
      assert.deepEqual(
        extras.map(({ value }) => decodeWords(value)),
        input.headers.map(([, value]) => trimmed(value)),
      )
    }),
    { numRuns: 150 },
  )
})

test('mailparser reads the original content', async () => {
  await fc.assert(
    fc.asyncProperty(message(hostileLine, hostileBody, tameLine), async (input) => {
      const mail = await read(toBuffer(composeMessage(input)))
      assert.equal(mail.subject ?? '', trimmed(input.subject))
      assert.deepEqual(firstMailbox(mail.from), expectedMailbox(input.from))
      assert.deepEqual(firstMailbox(mail.to), expectedMailbox(input.to))
      assert.deepEqual(firstMailbox(mail.replyTo), expectedMailbox(input.replyTo))
      assert.equal(mail.messageId, `<${input.messageId}>`)
      assert.equal(mail.date?.getTime(), input.date)
      assertBodies(mail, input)
      assertFiles(mail, input)
    }),
    { numRuns: 100 },
  )
})

function assertBodies(mail: ParsedMail, { html, text, attachments }: TextInput): void {
  const isWhole = attachments.length === 0 && (html === null || text === null)
  if (text !== null) assertBody(mail.text, text, isWhole)
  if (html !== null) assertBody(mail.html, html, isWhole)
}

/** Ignores a line end at the end of the message, and in an empty part. */
function assertBody(seen: string | false | undefined, sent: string, isWhole: boolean): void {
  const last = isWhole || sent === '' ? /\n$/ : /$/
  assert.equal((seen || '').replace(last, ''), lines(sent).replace(last, ''))
}

function assertFiles(mail: ParsedMail, { html, attachments }: MessageInput): void {
  const isRelated = (file: Attachment) => html !== null && file.disposition === 'inline'
  const sent = [...attachments.filter(isRelated), ...attachments.filter((file) => !isRelated(file))]
  assert.equal(mail.attachments.length, sent.length)
  for (const [i, file] of sent.entries()) {
    const found = mail.attachments[i] as ParsedMail['attachments'][number]
    assert.ok(found.content.equals(file.content))
    assert.equal(found.filename, file.filename)
    assert.equal(found.contentDisposition, file.disposition)
    assert.equal(found.cid, file.contentId ?? undefined)
    const type = /^[a-z]+\/[^;]+/.exec(file.contentType)?.[0] ?? 'application/octet-stream'
    assert.equal(sentType(found), type)
    assert.equal(found.related ?? false, isRelated(file))
  }
}

/** The type as written: mailparser replaces octet-stream by a guess from the filename. */
function sentType(found: ParsedMail['attachments'][number]): string | undefined {
  return (found.headers.get('content-type') as { value?: string } | undefined)?.value
}

function composeWithNodemailer(input: TextInput): Promise<Buffer> {
  const box = (mailbox: MessageInput['from']) => ({
    address: mailbox.address,
    name: mailbox.name ?? '',
  })
  const composer = new MailComposer({
    messageId: `<${input.messageId}>`,
    date: new Date(input.date),
    from: box(input.from),
    to: box(input.to),
    ...(input.replyTo === null ? {} : { replyTo: box(input.replyTo) }),
    subject: input.subject,
    ...(input.html === null ? {} : { html: input.html }),
    ...(input.text === null ? {} : { text: input.text }),
    headers: input.headers.map(([key, value]) => ({ key, value })),
    attachments: input.attachments.map((file) => ({
      filename: file.filename,
      contentType: file.contentType,
      content: Buffer.from(file.content),
      contentDisposition: file.disposition,
      ...(file.contentId === null || file.disposition === 'attachment'
        ? {}
        : { cid: file.contentId }),
    })),
  })
  return composer.compile().build()
}

/** All properties on which both writers must agree. */
function meaning(mail: ParsedMail) {
  return {
    subject: mail.subject,
    date: mail.date,
    messageId: mail.messageId,
    from: mail.from?.value,
    to: firstMailbox(mail.to),
    replyTo: mail.replyTo?.value,
    text: mail.text?.replace(/\n$/, ''),
    html: (mail.html || '').replace(/\n$/, ''),
    headers: mail.headerLines
      .filter(({ key }) => key.startsWith('x-'))
      .map(({ key, line }) => [
        key,
        decodeWords(line.replaceAll(/\r\n/g, '').replace(/^[^:]*: */, '')),
      ]),
    files: mail.attachments.map((file) => ({
      filename: file.filename,
      contentType: file.contentType,
      disposition: file.contentDisposition,
      cid: file.cid,
      related: file.related,
      content: file.content.toString('base64'),
    })),
  }
}

test('nodemailer composes an equivalent message', async () => {
  const types = new Set(['nonsense', 'application/x-odd; a="b c"; d=é'])
  const both = message(tameLine, tameBody).map((input) => ({
    ...input,
    attachments: input.attachments
      .filter((file) => !types.has(file.contentType))
      .map((file) => (file.disposition === 'attachment' ? { ...file, contentId: null } : file)),
  }))
  await fc.assert(
    fc.asyncProperty(both, async (input) => {
      const ours = meaning(await read(toBuffer(composeMessage(input))))
      const theirs = meaning(await read(await composeWithNodemailer(input)))
      assert.deepEqual(ours, theirs)
    }),
    { numRuns: 50 },
  )
})

test('mailauth signs and verifies a message and finds its single author', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const record = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const key = {
    algorithm: 'ed25519-sha256',
    signingDomain: 'example.com',
    selector: 's',
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  }
  await fc.assert(
    fc.asyncProperty(message(hostileLine, hostileBody), async (input) => {
      const bytes = toBuffer(composeMessage(input))
      const { signatures } = await dkimSign(bytes, { ...key, signatureData: [key] })
      const signed = Buffer.concat([Buffer.from(signatures), bytes])
      const verdict = await dkimVerify(signed, {
        resolver: async () => [[`v=DKIM1; k=ed25519; p=${record}`]],
      })
      assert.deepEqual(
        verdict.results.map(({ status }) => status.result),
        ['pass'],
      )
      assert.deepEqual(verdict.headerFrom, [input.from.address])
    }),
    { numRuns: 40 },
  )
})
