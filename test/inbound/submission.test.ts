import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { readRawEmail } from '../../src/features/insight/emails/show-email.ts'
import { updateProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../src/store/drizzle.ts'
import { projects } from '../../src/store/schema/accounts.ts'
import { contacts } from '../../src/store/schema/contacts.ts'
import { addProject, trustDomain } from '../core.ts'
import { NEVER_MS } from '../patience.ts'
import { openSubmission, shareSubmission } from './submission-server.ts'

describe('submission', () => {
  const share = shareSubmission()

  it('while the disk is nearly full, a message is deferred at MAIL', async () => {
    const { dialogue, core, rows } = await share()
    const client = await dialogue()
    core.disk.isLow = () => true
    const refused = await client.say('MAIL FROM:<shop@example.test>')
    assert.deepEqual([refused.code, refused.text.slice(0, 6)], [452, '4.3.1 '])
    core.disk.isLow = () => false
    assert.equal((await client.say('MAIL FROM:<shop@example.test>')).code, 250)
    assert.deepEqual(await rows(), [])
    client.close()
  })

  it('a message over implicit TLS is a send request to each recipient', async () => {
    const { send, rows, core } = await share()
    const info = await send({
      from: 'Jürgen Müller <shop@example.test>',
      to: '"Ada, Countess" <ada@dest.test>',
      cc: 'Bøb <bob@dest.test>',
      bcc: 'carol@dest.test',
      replyTo: 'help@elsewhere.test',
      subject: 'Grüße ✓',
      text: 'plain',
      html: '<p>Hello</p>',
      messageId: '<abc.1@example.test>',
      inReplyTo: '<q@dest.test>',
      references: ['<p@dest.test>', '<q@dest.test>'],
      headers: { 'X-Tag': 'Größe', 'X-Pillarbox-Id': 'forged', 'Auto-Submitted': 'auto-generated' },
    })
    const accepted = await rows()
    const ids = accepted.map(({ id }) => id)
    assert.equal(info.response, `250 2.0.0 Ok: queued as ${ids.join(' ')}`)
    assert.deepEqual(
      accepted.map(({ recipient, toName }) => [recipient, toName]),
      [
        ['ada@dest.test', 'Ada, Countess'],
        ['bob@dest.test', 'Bøb'],
        ['carol@dest.test', null],
      ],
    )
    for (const row of accepted) {
      assert.deepEqual(
        [row.state, row.fromAddress, row.fromName, row.replyTo, row.messageId],
        [
          'queued',
          'shop@example.test',
          'Jürgen Müller',
          'help@elsewhere.test',
          'abc.1@example.test',
        ],
      )
      assert.deepEqual([row.content.subject, row.content.body], ['Grüße ✓', '<p>Hello</p>'])
      assert.deepEqual([row.content.isText, row.content.text?.trim()], [false, 'plain'])
      assert.deepEqual(row.headers, {
        'X-Tag': 'Größe',
        'Auto-Submitted': 'auto-generated',
        'Message-ID': '<abc.1@example.test>',
        'In-Reply-To': '<q@dest.test>',
        References: '<p@dest.test> <q@dest.test>',
      })
    }
    const people = await core.store.read.select().from(contacts)
    assert.deepEqual(people.find(({ address }) => address === 'ada@dest.test')?.data, {
      name: 'Ada, Countess',
    })
  })

  it('To and Cc arrive as they were written, for every recipient and at every attempt', async () => {
    const { send, rows, core, project } = await share()
    await send({
      to: '"Ada, Countess" <ada@dest.test>, zoe@dest.test',
      cc: 'Bøb <bob@dest.test>',
      bcc: 'carol@dest.test',
      text: 'x',
    })
    const accepted = await rows()
    assert.equal(new Set(accepted.map(({ content }) => content.id)).size, 1)
    const heads: string[] = []
    for (const { id } of accepted) {
      const key = { projectId: project.id, id }
      const raw = Buffer.from(await readRawEmail(core, key)).toString('latin1')
      assert.equal(Buffer.from(await readRawEmail(core, key)).toString('latin1'), raw)
      const fields = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll('\r\n ', ' ').split('\r\n')
      heads.push(fields.filter((field) => /^(?:to|cc|bcc):/i.test(field)).join('\n'))
      assert.match(raw, /h=[^;]*\bto:[^;]*/)
      assert.doesNotMatch(raw, /carol@/)
    }
    const [head, ...others] = new Set(heads)
    assert.deepEqual(others, [])
    assert.equal(
      head,
      'To: "Ada, Countess" <ada@dest.test>, zoe@dest.test\nCc: =?UTF-8?Q?B=C3=B8b?= <bob@dest.test>',
    )
    assert.equal(accepted.length, 4)
  })

  it('without To and Cc, each recipient gets its own address', async () => {
    const { send, rows, core, project } = await share()
    await send({ to: undefined, bcc: ['ada@dest.test', 'bob@dest.test'], text: 'x' })
    for (const { id, recipient } of await rows()) {
      const raw = Buffer.from(await readRawEmail(core, { projectId: project.id, id })).toString()
      assert.match(raw, new RegExp(`^To: ${recipient}\r$`, 'm'))
    }
  })

  it('a message over STARTTLS is accepted, with the user name in any case', async () => {
    const { send, rows, ports } = await share()
    await send({ text: 'x' }, { user: 'PillarBox', port: ports.plain })
    assert.equal((await rows()).length, 1)
  })

  it('a text-only message stays text-only', async () => {
    const { send, rows } = await share()
    await send({ text: 'a < b\n\nzwei: ä\n' })
    const [row] = await rows()
    assert.equal(row?.content.isText, true)
    assert.equal(row?.content.body, 'a < b\n\nzwei: ä\n')
  })

  it('braces follow the setting of the project, which a message overrides', async () => {
    const { core, project, send, rows } = await share()
    const isLiteral = async (headers: Record<string, string> = {}) => {
      await send({ text: 'Dear {{ name }}', headers })
      return (await rows()).at(-1)?.content.isLiteral
    }
    assert.equal(await isLiteral(), true)
    assert.equal(await isLiteral({ 'X-Pillarbox-Template': 'Yes' }), false)
    await updateProject(core, project.id, { submissionTemplates: true })
    assert.equal(await isLiteral(), false)
    assert.equal(await isLiteral({ 'X-Pillarbox-Template': 'no' }), true)
    assert.equal((await rows()).at(-1)?.headers?.['X-Pillarbox-Template'], undefined)
    await updateProject(core, project.id, { submissionTemplates: false })
  })

  it('what a message goes without is in the record', async () => {
    const { dialogue, rows } = await share()
    const client = await dialogue()
    await client.open('shop@example.test', 'ada@dest.test')
    const head = 'From: shop@example.test\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n'
    const reply = await client.data(Buffer.from(`${head}caf\xe9`, 'latin1'))
    assert.equal(reply.code, 250)
    assert.deepEqual((await rows())[0]?.content.warnings, [
      'Text: 1 place was not valid utf-8 and became U+FFFD.',
    ])
  })

  it('a template of too many tags is refused with the reason', async () => {
    const { send, rows } = await share()
    const headers = { 'X-Pillarbox-Template': 'yes' }
    await assert.rejects(send({ headers, text: '{{ a }}\n'.repeat(20_001) }), {
      responseCode: 550,
      response: /^550 5\.6\.0 body: More than 20000 placeholders and tags/,
    })
    assert.deepEqual(await rows(), [])
  })

  it('attachments and inline images are stored byte for byte', async () => {
    const { send, rows } = await share()
    const [file, image] = [randomBytes(5_000), randomBytes(3_000)]
    await send({
      html: '<p><img src="cid:logo@shop"></p>',
      attachments: [
        { filename: 'Prüfung "1".bin', content: file },
        { filename: 'logo.png', content: image, cid: 'logo@shop' },
        {
          filename: 'old.csv',
          contentType: 'text/csv; charset=iso-8859-1',
          content: Buffer.of(0xe9),
        },
      ],
    })
    const [row] = await rows()
    const attachments = row?.content.attachments ?? []
    assert.deepEqual(
      attachments.map(({ content: _, ...facts }) => facts),
      [
        {
          filename: 'logo.png',
          contentType: 'image/png',
          contentId: 'logo@shop',
          disposition: 'inline',
        },
        {
          filename: "Prüfung '1'.bin",
          contentType: 'application/octet-stream',
          contentId: null,
          disposition: 'attachment',
        },
        {
          filename: 'old.csv',
          contentType: 'text/csv; charset="iso-8859-1"',
          contentId: null,
          disposition: 'attachment',
        },
      ],
    )
    assert.deepEqual(
      attachments.map(({ content }) => content),
      [image, file, Buffer.of(0xe9)].map((bytes) => bytes.toString('base64')),
    )
  })

  it('a sender domain that is not verified is refused with 550 5.7.1, and what to do', async () => {
    const { send, rows } = await share()
    const unverified =
      /^550 5\.7\.1 The sender domain other\.test is not verified .*Verified here: example\.test\. To add one: pillarbox domain add /
    await assert.rejects(
      send({
        from: 'x@other.test',
        text: 'x',
        envelope: { from: 'x@other.test', to: 'a@dest.test' },
      }),
      { responseCode: 550, response: unverified },
    )
    await assert.rejects(
      send({
        from: 'x@other.test',
        text: 'x',
        envelope: { from: 'shop@example.test', to: 'a@b.test' },
      }),
      { responseCode: 550, response: unverified },
    )
    assert.deepEqual(await rows(), [])
  })

  it('the verified domain of another project is refused', async () => {
    const { send, core, rows } = await share()
    const other = await addProject(core, 'Other')
    await assert.rejects(send({ text: 'x' }, { pass: other.secret }), { responseCode: 550 })
    assert.deepEqual(await rows(), [])
  })

  it('a header From of two mailboxes, of two fields or of none is refused', async () => {
    const { dialogue, rows } = await share()
    const client = await dialogue()
    for (const from of [
      'From: shop@example.test, eve@example.test\r\n',
      'From: shop@example.test\r\nFrom: eve@example.test\r\n',
      'From: us: shop@example.test, eve@example.test;\r\n',
      'From: "a@evil.test x"@example.test\r\n',
      'From: undisclosed:;\r\n',
      '',
    ]) {
      assert.equal((await client.open('shop@example.test', 'ada@dest.test')).code, 354)
      const reply = await client.data(`${from}Subject: x\r\n\r\nx`)
      assert.match(`${reply.code} ${reply.text}`, /^550 5\.7\.1 .*exactly one mailbox/, from)
    }
    assert.deepEqual(await rows(), [])
  })

  it('a bad recipient is refused alone, and so is a sixth recipient', async (t) => {
    const { dialogue, rows } = await openSubmission(t, {
      settings: { PILLARBOX_LIMITS__SUBMISSION_RECIPIENTS: '5' },
    })
    const client = await dialogue()
    await client.say('MAIL FROM:<shop@example.test>')
    const replies: string[] = []
    for (const to of [
      'a@b.test',
      '"q"@b.test',
      'b@b.test',
      'c@b.test',
      'd@b.test',
      'e@b.test',
      'f@b.test',
    ]) {
      const { code, text } = await client.say(`RCPT TO:<${to}>`)
      replies.push(`${code} ${text}`.slice(0, 9))
    }
    assert.deepEqual(replies, [
      '250 2.1.5',
      '553 5.1.3',
      ...Array(4).fill('250 2.1.5'),
      '452 4.5.3',
    ])
    await client.say('DATA')
    assert.equal((await client.data('From: shop@example.test\r\n\r\nx')).code, 250)
    assert.deepEqual(
      (await rows()).map(({ recipient }) => recipient),
      ['a@b.test', 'b@b.test', 'c@b.test', 'd@b.test', 'e@b.test'],
    )
    client.close()
  })

  it('an address with octets that are not UTF-8 is refused', async () => {
    const { dialogue, rows } = await share()
    const client = await dialogue()
    client.write(Buffer.from('MAIL FROM:<sh\xe9p@example.test>\r\n', 'latin1'))
    assert.match((await client.read()).text, /^5\.1\.7 /)
    await client.say('MAIL FROM:<shop@example.test>')
    client.write(Buffer.from('RCPT TO:<jos\xe9@dest.test>\r\n', 'latin1'))
    assert.match((await client.read()).text, /^5\.1\.3 /)
    assert.equal((await client.say('RCPT TO:<josé@dest.test>')).code, 250)
    await client.say('DATA')
    assert.equal((await client.data('From: shop@example.test\r\n\r\nx')).code, 250)
    assert.deepEqual(
      (await rows()).map(({ recipient }) => recipient),
      ['josé@dest.test'],
    )
    client.close()
  })

  it('an unsupported parameter is refused; one that asks for reports is accepted', async () => {
    const { dialogue } = await share()
    const client = await dialogue()
    for (const [line, code] of [
      ['MAIL FROM:<shop@example.test> HOLDFOR=3600', 555],
      ['MAIL FROM:<shop@example.test> FOO', 555],
      ['MAIL FROM:<shop@example.test> SIZE=9 BODY=8BITMIME SMTPUTF8 AUTH=<> RET=HDRS', 250],
      ['RCPT TO:<ada@dest.test> BY=60', 555],
      ['RCPT TO:<ada@dest.test> NOTIFY=FAILURE,DELAY', 250],
    ] as const) {
      assert.equal((await client.say(line)).code, code, line)
    }
    client.close()
  })

  it('the same mailbox in two spellings gets one email', async () => {
    const { dialogue, rows } = await share()
    const client = await dialogue()
    await client.open('shop@example.test', 'ADA@bücher.test', 'ada@xn--bcher-kva.test')
    assert.equal((await client.data('From: shop@example.test\r\n\r\nx')).code, 250)
    assert.deepEqual(
      (await rows()).map(({ recipient }) => recipient),
      ['ada@bücher.test'],
    )
  })

  it('a message that is too large is refused: by SIZE, by its octets, by its attachments', async (t) => {
    const { dialogue, send, rows } = await openSubmission(t, {
      settings: {
        PILLARBOX_LIMITS__MESSAGE_MAX_BYTES: '65536',
        PILLARBOX_LIMITS__ATTACHMENTS_MAX_BYTES: '1000',
        PILLARBOX_LIMITS__ATTACHMENTS_MAX_COUNT: '2',
      },
    })
    const client = await dialogue()
    const size = await client.say('MAIL FROM:<shop@example.test> SIZE=70000')
    assert.match(`${size.code} ${size.text}`, /^552 5\.3\.4 /)
    await client.open('shop@example.test', 'ada@dest.test')
    const long = `From: shop@example.test\r\n\r\n${'x'.repeat(70)}\r\n`.padEnd(70_000, 'line\r\n')
    const reply = await client.data(long)
    assert.match(`${reply.code} ${reply.text}`, /^552 5\.3\.4 /)
    const file = { filename: 'a', content: Buffer.alloc(600) }
    await assert.rejects(send({ text: 'x', attachments: [file, file] }), {
      response: /^552 5\.3\.4 /,
    })
    const small = { filename: 'a', content: 'x' }
    await assert.rejects(send({ text: 'x', attachments: [small, small, small] }), {
      response: /^552 5\.3\.4 More than 2 attachments/,
    })
    assert.deepEqual(await rows(), [])
  })

  it('a subject, a header and a number of headers beyond the limits are refused', async () => {
    const { send, rows } = await share()
    await assert.rejects(send({ subject: 'x'.repeat(999), text: 'x' }), {
      response: /^550 5\.6\.0 /,
    })
    await assert.rejects(send({ text: 'x', headers: { 'X-Long': 'x'.repeat(999) } }), {
      response: /^550 5\.6\.0 .*X-Long/i,
    })
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`X-N-${n}`, 'x']))
    await assert.rejects(send({ text: 'x', headers: many }), { response: /^550 5\.6\.0 / })
    assert.deepEqual(await rows(), [])
  })

  it('values of a message are rendered as those of a send request are', async () => {
    const { send, rows } = await share()
    await send({ to: 'Ada <ada@dest.test>', html: '<p>Hello {{ name }}</p>' })
    const [row] = await rows()
    assert.equal(row?.content.body?.trimEnd(), '<p>Hello {{ name }}</p>')
    assert.deepEqual(row?.variables, { stored: { name: 'Ada' }, request: {} })
  })

  it('a message counts as a request of its project, and beyond the rate limit gets 451 4.7.1', async (t) => {
    const settings = { PILLARBOX_LIMITS__API_REQUESTS_PER_MINUTE: '2' }
    const { send, rows } = await openSubmission(t, { settings })
    await send({ text: '1' })
    await send({ text: '2' })
    await assert.rejects(send({ text: '3' }), { response: /^451 4\.7\.1 More than 2 requests/ })
    assert.equal((await rows()).length, 2)
  })

  it('S27: a message beyond the limit of new projects gets 452 4.7.1', async (t) => {
    const settings = { PILLARBOX_LIMITS__NEW_PROJECT_DAILY: '1' }
    const { send, rows } = await openSubmission(t, { settings })
    await send({ text: '1' })
    await assert.rejects(send({ text: '2' }), { response: /^452 4\.7\.1 A new project may send 1/ })
    assert.equal((await rows()).length, 1)
  })

  it('a message over a limit by the month gets 452 4.7.1, and no recipient gets it', async () => {
    const { send, rows, core } = await share()
    const limited = await addProject(core, 'Limited')
    await trustDomain(core, limited.id, 'limited.test')
    await core.store.write(async (tx) => {
      const own = eq(projects.id, limited.id)
      await tx.update(projects).set({ limitTransactional: 2 }).where(own).run()
      tx.afterCommit(core.directory.drop)
    })
    const [from, login] = ['shop@limited.test', { pass: limited.secret }]
    await send({ from, text: '1' }, login)
    await assert.rejects(send({ from, text: '2', to: 'ada@dest.test, bob@dest.test' }, login), {
      response: /^452 4\.7\.1 This project is limited to 2 transactional emails a month/,
    })
    assert.equal((await rows()).length, 1)
  })

  it('a database that cannot be written defers the message', async (t) => {
    const { dialogue, core } = await openSubmission(t)
    const client = await dialogue()
    await client.open('shop@example.test', 'ada@dest.test')
    await core.store.close()
    const { code } = await client.data('From: shop@example.test\r\n\r\nx')
    assert.equal(code, 451)
  })

  it('stop replies to the message being received and disconnects other clients', async (t) => {
    const { dialogue, service, rows } = await openSubmission(t)
    const [busy, idle] = [await dialogue(), await dialogue()]
    await busy.open('shop@example.test', 'ada@dest.test')
    const reply = busy.data('From: shop@example.test\r\n\r\nx')
    await new Promise((resolve) => busy.socket.write('', resolve))
    const stopped = service.stop(NEVER_MS)
    assert.equal((await idle.read()).code, 421)
    const { code } = await reply
    assert.ok(code === 250 || code === 421, String(code))
    await stopped
    assert.equal((await rows()).length, code === 250 ? 1 : 0)
  })
})
