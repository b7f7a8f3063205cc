/** The main job, in direct mode: from `POST /v1/send` to the recipient's MX, its outcome and what `queue show` prints. */
import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { after, before, describe, it } from 'node:test'
import Plunk from '@plunk/node'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { simpleParser } from 'mailparser'
import { makeCertificate } from '../../fakes/certificate.ts'
import { eventually, type Program, startProgram } from '../program.ts'
import type { ShownEmail } from './shown-email.ts'

let program: Program

before(async () => {
  program = await startProgram({ PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["200ms"]' })
  for (const { type, name, value } of program.records) {
    if (type === 'TXT') program.dns.set(name, { TXT: [value] })
  }
})

after(() => program.close())

async function show(id: string): Promise<ShownEmail> {
  return (await program.command('queue', 'show', id)) as ShownEmail
}

type Activity = { type: string; metadata: Record<string, unknown> }

async function activity(...types: string[]): Promise<Activity[]> {
  const { status, body } = await program.call('GET', `/activity?types=${types.join(',')}`)
  assert.equal(status, 200)
  return (body as { data: Activity[] }).data
}

/** Results of both signatures, with the keys from the DNS. */
async function verify(message: Buffer) {
  const dns = new Resolver()
  dns.setServers([program.dns.address])
  const resolver = (name: string, type: string) => dns.resolve(name, type) as Promise<string[][]>
  const { results } = await dkimVerify(message, { resolver })
  return results.map(({ algo, signingDomain, status }) => [algo, signingDomain, status.result])
}

/** A preview does not count as opened. */
function withoutPixel(html: string): string {
  const [pixel = ''] = /<img src="[^"]+\/t\/o\/[a-z2-7]+"[^>]*>\n/.exec(html) ?? []
  assert.notEqual(pixel, '')
  return html.replace(pixel, '')
}

describe('direct delivery', () => {
  it('delivers a message to the MX with two signatures, and the email becomes DELIVERED', async () => {
    const tls = makeCertificate(['mx.dest.test'])
    const sink = await program.receive('dest.test', { tls })
    const [id = ''] = await program.send({
      to: { name: 'Ada', email: 'ada@dest.test' },
      from: { name: 'The Shop', email: 'shop@example.test' },
      subject: 'Hello {{ name }}',
      body: '<p>Dear {{ name }}, your order {{ order }} is ready.</p>',
      data: { order: '№ 7' },
      reply: 'help@example.test',
    })
    await program.untilState(id, 'delivered')

    const [message] = sink.messages
    assert.ok(message)
    assert.deepEqual([message.to, message.isTls], [['ada@dest.test'], true])
    assert.match(message.from, /^b\.[a-z2-7]{58}@bounce\.mail\.example\.test$/)
    assert.deepEqual(await verify(message.bytes), [
      ['rsa-sha256', 'example.test', 'pass'],
      ['ed25519-sha256', 'example.test', 'pass'],
    ])
    const mail = await simpleParser(message.bytes)
    assert.deepEqual(
      [mail.from?.text, mail.replyTo?.text, mail.subject, mail.text?.trim()],
      [
        '"The Shop" <shop@example.test>',
        'help@example.test',
        'Hello Ada',
        'Dear Ada, your order № 7 is ready.',
      ],
    )

    const shown = await show(id)
    assert.deepEqual(
      [shown.state, shown.status, shown.subject],
      ['delivered', 'DELIVERED', 'Hello Ada'],
    )
    assert.equal(shown.attempts.length, 1)
    const [{ steps, ...attempt }] = shown.attempts as [ShownEmail['attempts'][0]]
    assert.match(attempt.tls ?? '', /^TLSv1\.3, certificate not verified/)
    assert.deepEqual(
      [attempt.result, attempt.host, attempt.address, attempt.reply],
      [
        'delivered',
        'mx.dest.test',
        sink.host,
        { code: 250, enhancedCode: '2.0.0', text: 'Ok: queued' },
      ],
    )
    const names = ['dns', 'connect', 'greeting', 'ehlo', 'starttls', 'starttls', 'ehlo']
    assert.deepEqual(
      steps.map(({ step }) => step),
      [...names, 'mail', 'rcpt', 'data', 'message'],
    )

    const feed = await activity('email.sent', 'email.delivered')
    assert.deepEqual(feed.map(({ type }) => type).sort(), ['email.delivered', 'email.sent'])
    for (const { metadata } of feed) {
      assert.equal(metadata.subject, 'Hello Ada')
      assert.equal(String(metadata.body).trim(), withoutPixel(mail.html || '').trim())
    }
  })

  it('S3: sends a body with any line ends and dots as one message with valid signatures', async () => {
    const sink = await program.receive('ends.test')
    const ends = ['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r\n', '\r\n.\r\r\n', '\r.\r', '\r\n.\r\n']
    const smuggled = 'MAIL FROM:<forged@bank.test>\r\nRCPT TO:<victim@ends.test>\r\nDATA\r\n'
    const text = ends.map((end) => `line${end}${smuggled}`).join('')
    const values = { to: 'ada@ends.test', data: { value: text } }
    const bodies = [text, '{{ value }}', `<pre>${text}</pre>`]
    for (const body of bodies) {
      const [id = ''] = await program.send({ ...values, body })
      await program.untilState(id, 'delivered')
    }
    assert.equal(sink.messages.length, bodies.length)
    for (const { bytes, to } of sink.messages) {
      assert.deepEqual(to, ['ada@ends.test'])
      assert.doesNotMatch(bytes.toString('latin1'), /\r(?!\n)|(?<!\r)\n/)
      const verdicts = (await verify(bytes)).map(([, , verdict]) => verdict)
      assert.deepEqual(verdicts, ['pass', 'pass'])
    }
    const commands = sink.lines.filter((line) => /^(MAIL|RCPT)/.test(line))
    assert.equal(commands.length, 2 * bodies.length)
    assert.ok(commands.every((line) => !/forged|victim/.test(line)))
  })

  it('retries mail after a 451 and stores both attempts', async () => {
    const sink = await program.receive('busy.test', {
      respond: ({ verb, count }) =>
        verb === 'RCPT' && count === 1 ? '451 4.3.2 Busy, come back' : undefined,
    })
    const [id = ''] = await program.send({ to: 'ada@busy.test' })
    const deferred = await program.untilState(id, 'deferred', 'delivered')
    assert.equal(sink.acceptedCount(), deferred.email.state === 'deferred' ? 0 : 1)
    await program.untilState(id, 'delivered')
    const { attempts, state } = await show(id)
    assert.equal(state, 'delivered')
    assert.deepEqual(
      attempts.map(({ result, reply }) => [result, reply?.code, reply?.text]),
      [
        ['deferred', 451, 'Busy, come back'],
        ['delivered', 250, 'Ok: queued'],
      ],
    )
    const [first, second] = attempts.map(({ at }) => Date.parse(at))
    const waitedMs = (second ?? 0) - (first ?? 0)
    assert.ok(waitedMs >= 170, `retried after ${waitedMs} ms`)
    assert.equal(sink.messages.length, 1)
  })

  it('ends as BOUNCED after a 550 5.1.1, and sends nothing more to that address', async () => {
    const sink = await program.receive('strict.test', {
      respond: ({ verb }) =>
        verb === 'RCPT' ? '550 5.1.1 <eve@strict.test>: no such user here' : undefined,
    })
    const [id = ''] = await program.send({ to: 'eve@strict.test' })
    await program.untilState(id, 'bounced')
    const shown = await show(id)
    assert.equal(shown.status, 'BOUNCED')
    assert.match(shown.error ?? '', /550 5\.1\.1 <eve@strict\.test>: no such user here/)
    assert.equal(shown.attempts[0]?.reply?.text, '<eve@strict.test>: no such user here')
    const [bounce] = await activity('email.bounced')
    assert.match(String(bounce?.metadata.error), /no such user here/)
    assert.equal(bounce?.metadata.bounceType, 'Permanent')

    const connections = sink.connectionCount()
    const [again = '', other = ''] = await program.send({
      to: ['eve@strict.test', 'ada@dest.test'],
    })
    const { email, attempts } = await program.untilState(again, 'suppressed')
    assert.deepEqual([email.status, attempts.length], ['SUPPRESSED', 0])
    await program.untilState(other, 'delivered')
    assert.equal(sink.connectionCount(), connections)
  })

  it('accepts mail from the unchanged npm package @plunk/node', async () => {
    const sink = await program.receive('plunk.test')
    const plunk = new Plunk.default(program.project.secret, {
      baseUrl: `${program.url()}/v1/`,
    })
    const answer: unknown = await plunk.emails.send({
      to: ['ada@plunk.test', 'bob@plunk.test'],
      from: 'shop@example.test',
      name: 'Plunk',
      subject: 'From a client',
      body: '<h1>It works</h1>',
      subscribed: true,
    })
    assert.equal((answer as { success: boolean }).success, true)
    await sink.waitForMessages(2)
    const mail = await simpleParser(sink.messages[0]?.bytes ?? '')
    assert.equal(mail.from?.text, '"Plunk" <shop@example.test>')
    assert.match(mail.html || '', /<h1>It works<\/h1>/)
    const wrong = new Plunk.default('sk_wrong', { baseUrl: `${program.url()}/v1/` })
    const message = { to: 'ada@plunk.test', subject: 'x', body: 'x' }
    await assert.rejects(wrong.emails.send(message), { message: 'This API key is not valid here.' })
  })

  it('sends every recipient of one request a message of its own', async () => {
    const sink = await program.receive('many.test')
    const names = Array.from({ length: 30 }, (_, index) => `user${index}`)
    const ids = await program.send({
      to: names.map((name) => ({ name: name.toUpperCase(), email: `${name}@many.test` })),
      subject: 'For {{ name }}',
      body: '<p>Only for {{ email }}</p>',
    })
    assert.equal(new Set(ids).size, names.length)
    await sink.waitForMessages(names.length)
    for (const { to, bytes } of sink.messages) {
      const [recipient = ''] = to
      const mail = await simpleParser(bytes)
      assert.equal(mail.subject, `For ${recipient.split('@')[0]?.toUpperCase()}`)
      assert.equal(mail.text?.trim(), `Only for ${recipient}`)
    }
    const recipients = new Set(sink.messages.flatMap(({ to }) => to))
    assert.deepEqual(recipients, new Set(names.map((name) => `${name}@many.test`)))
  })

  it('fills a template, and carries attachments and inline images unharmed', async () => {
    const sink = await program.receive('parts.test')
    const created = await program.call('POST', '/templates', {
      name: 'Invoice',
      subject: 'Invoice {{ number }}',
      body: '<p>{% if name %}Dear {{ name }}{% endif %}<img src="cid:logo"></p>',
      from: 'billing@example.test',
      fromName: 'Büro',
      type: 'TRANSACTIONAL',
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const pdf = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 256))
    const png = Buffer.from('89504e470d0a1a0a', 'hex')
    const attachment = (filename: string, contentType: string, content: Buffer, more = {}) => ({
      ...{ filename, contentType, content: content.toString('base64') },
      ...more,
    })
    const [id = ''] = await program.send({
      to: { name: 'Zoë', email: 'zoe@parts.test' },
      from: 'billing@example.test',
      template: (created.body as { id: string }).id,
      data: { number: 'R-17' },
      attachments: [
        attachment('Rechnung März.pdf', 'application/pdf', pdf),
        attachment('logo.png', 'image/png', png, { disposition: 'inline', contentId: 'logo' }),
      ],
    })
    await program.untilState(id, 'delivered')
    const [message] = sink.messages
    assert.ok(message)
    assert.deepEqual(
      (await verify(message.bytes)).map(([, , result]) => result),
      ['pass', 'pass'],
    )
    const mail = await simpleParser(message.bytes, { skipImageLinks: true })
    assert.deepEqual([mail.subject, mail.from?.value[0]?.name], ['Invoice R-17', 'Büro'])
    assert.match(mail.html || '', /Dear Zoë<img src="cid:logo">/)
    const received = mail.attachments.map(({ filename, contentType, cid, related, content }) => ({
      ...{ filename, contentType, cid, isInline: related === true },
      isSame: content.equals(related ? png : pdf),
    }))
    assert.deepEqual(
      received.sort((left, right) => Number(right.isInline) - Number(left.isInline)),
      [
        {
          filename: 'logo.png',
          contentType: 'image/png',
          cid: 'logo',
          isInline: true,
          isSame: true,
        },
        {
          filename: 'Rechnung März.pdf',
          contentType: 'application/pdf',
          cid: undefined,
          isInline: false,
          isSame: true,
        },
      ],
    )
  })

  it('reaches an address beyond ASCII by SMTPUTF8, its domain in A-labels', async () => {
    const sink = await program.receive('xn--bcher-kva.test')
    const [id = ''] = await program.send({ to: 'Jürgen@Bücher.test', subject: 'Grüße' })
    await program.untilState(id, 'delivered')
    assert.deepEqual(sink.messages[0]?.to, ['jürgen@xn--bcher-kva.test'])
    assert.ok(sink.lines.some((line) => /^MAIL FROM:.* SMTPUTF8$/.test(line)))
    const { to } = await show(id)
    assert.equal(to, 'jürgen@bücher.test')

    const old = await program.receive('ascii.test', { ehlo: ['PIPELINING', '8BITMIME'] })
    const [refused = ''] = await program.send({ to: 'jürgen@ascii.test' })
    await program.untilState(refused, 'bounced')
    assert.equal(old.acceptedCount(), 0)
    assert.ok(!old.lines.some((line) => line.startsWith('RCPT')))
  })

  it('holds mail to a held domain until the domain is released', async () => {
    await program.receive('held.test')
    await program.command('queue', 'hold', '--domain', 'held.test')
    const id = await eventually(async () => {
      const [sent = ''] = await program.send({ to: 'ada@held.test' })
      return (await show(sent)).state === 'held' ? sent : undefined
    })
    const [other = ''] = await program.send({ to: 'ada@dest.test' })
    await program.untilState(other, 'delivered')
    const { state, status, nextAttemptAt, attempts } = await show(id)
    assert.deepEqual([state, status, nextAttemptAt, attempts], ['held', 'PENDING', null, []])
    await program.command('queue', 'release', '--domain', 'held.test')
    await program.untilState(id, 'delivered')
  })
})
