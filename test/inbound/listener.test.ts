import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '../../src/base/errors.ts'
import { resetProject } from '../../src/features/operation/erasure/end-project.ts'
import { addProject, HOSTNAME, trustDomain } from '../core.ts'
import { inTime, NEVER_MS } from '../patience.ts'
import { connect, type Dialogue } from './dialogue.ts'
import { openInbound, returnPathOf } from './inbound-server.ts'

const hello = 'From: a@sender.test\r\nSubject: Hello\r\n\r\nHello\r\n'

describe('the listener for mail from outside', { concurrency: true }, () => {
  it('a message is acknowledged when it is durable, with a Received field and the id of its row', async (t) => {
    const { core, dial, rows, returnPath } = await openInbound(t)
    let notifications = 0
    core.inboundNotifier.listen(() => {
      notifications += 1
    })
    const client = await dial()
    assert.deepEqual(await client.say('MAIL FROM:<a@sender.test> SIZE=100 BODY=8BITMIME'), {
      code: 250,
      text: '2.1.0 Accepted',
    })
    assert.deepEqual(await client.say(`RCPT TO:<${returnPath}>`), {
      code: 250,
      text: '2.1.5 Accepted',
    })
    assert.equal((await client.say('DATA')).code, 354)
    assert.equal(notifications, 0)
    const { code, text } = await client.data(hello)
    const [row, ...others] = await rows()
    assert.ok(row !== undefined && others.length === 0)
    assert.deepEqual({ code, text }, { code: 250, text: `2.0.0 Ok: stored as ${row.id}` })
    assert.equal(notifications, 1)
    const received =
      `Received: from client.test ([127.0.0.1])\r\n\tby ${HOSTNAME} with ESMTP id ${row.id}\r\n` +
      `\tfor <${returnPath}>;\r\n\tSat, 21 Nov 2026 12:00:00 +0000\r\n`
    assert.equal(row.raw?.toString(), `${received}${hello}\r\n`)
    const { id, raw, recipients, ...rest } = row
    assert.equal(recipients.length, 1)
    assert.deepEqual(rest, {
      receivedAt: core.clock.now,
      state: 'pending',
      reversePath: 'a@sender.test',
      clientAddress: '127.0.0.1',
      clientName: 'client.test',
      tls: null,
      ...{ sizeBytes: raw?.length, rawChunks: 0 },
      ...{ attempts: 0, isSuspect: false, interruptions: 0, begunAt: null, dueAt: 0 },
      ...{ kind: null, sender: null, subject: null, summary: null, error: null, remark: null },
      ...{ processedAt: null, pendingKind: 'reports', line: '', isForServer: false },
    })
    assert.deepEqual(await client.say('QUIT'), { code: 221, text: '2.0.0 Bye' })
    assert.equal(await client.ended(), '')
  })

  it('mail to a project that is being reset has to come again later, also after RCPT', async (t) => {
    const { core, dial, rows } = await openInbound(t)
    const project = await addProject(core)
    await trustDomain(core, project.id, 'shop.test')
    const [early, late] = [await dial(), await dial()]
    await early.say('MAIL FROM:<a@sender.test>')
    assert.equal((await early.say('RCPT TO:<info@shop.test>')).code, 250)
    await early.say('DATA')
    await resetProject(core, project.id)
    const refused = await early.data(hello)
    assert.match(`${refused.code} ${refused.text}`, /^451 4\.2\.1 /)
    await late.say('MAIL FROM:<a@sender.test>')
    const { code, text } = await late.say('RCPT TO:<info@shop.test>')
    assert.match(`${code} ${text}`, /^451 4\.2\.1 /)
    assert.deepEqual(await rows(), [])
    early.close()
    late.close()
  })

  it('a row has the kind of each accepted recipient, and the Received field names none', async (t) => {
    const { core, dial, rows, returnPath } = await openInbound(t)
    const project = await addProject(core)
    await trustDomain(core, project.id, 'shop.test')
    const client = await dial()
    await client.say('MAIL FROM:<a@sender.test>')
    for (const to of ['info@shop.test', returnPath, 'postmaster', 'INFO@shop.test']) {
      assert.equal((await client.say(`RCPT TO:<${to}>`)).code, 250, to)
    }
    const refused = await client.say('RCPT TO:<user@elsewhere.test>')
    assert.deepEqual(refused, { code: 550, text: '5.7.1 This server does not relay' })
    await client.say('DATA')
    assert.equal((await client.data(hello)).code, 250)
    const [row] = await rows()
    assert.deepEqual(
      row?.recipients.map((one) => one.for),
      ['mailbox', 'return-path', 'server'],
    )
    assert.deepEqual(row?.recipients[0], {
      for: 'mailbox',
      address: 'info@shop.test',
      projectId: project.id,
    })
    assert.doesNotMatch(String(row?.raw), /for <|shop\.test/)
  })

  it('mail to the server itself has at most 1 MB, refused at RCPT if the client declares the size', async (t) => {
    const { dial, rows, core } = await openInbound(t)
    const project = await addProject(core)
    await trustDomain(core, project.id, 'shop.test')
    const client = await dial()
    await client.say('MAIL FROM:<a@sender.test> SIZE=1048577')
    const tooLarge = { code: 552, text: '5.3.4 More than 1048576 bytes for this mailbox' }
    assert.deepEqual(await client.say('RCPT TO:<postmaster>'), tooLarge)
    assert.deepEqual(await client.say(`RCPT TO:<abuse@${HOSTNAME}>`), tooLarge)
    // The other recipients get the message.
    assert.equal((await client.say('RCPT TO:<info@shop.test>')).code, 250)
    await client.say('RSET')
    await client.say('MAIL FROM:<a@sender.test>')
    assert.equal((await client.say('RCPT TO:<postmaster>')).code, 250)
    await client.say('DATA')
    const { code, text } = await client.data(`${hello}${'x'.repeat(78)}\r\n`.repeat(12_000))
    assert.deepEqual([code, text], [552, '5.3.4 More than 1048576 bytes'])
    assert.deepEqual(await rows(), [])
  })

  it('a network may send 20 messages an hour to the server itself, in any number of sessions', async (t) => {
    const { dial, rows, core } = await openInbound(t)
    const postTo = async (client: Dialogue) => {
      const { code } = await client.open('', 'postmaster')
      return code === 354 ? await client.data(hello) : undefined
    }
    const early = await dial()
    await early.say('MAIL FROM:<>')
    await early.say('RCPT TO:<postmaster>')
    const client = await dial()
    for (let count = 0; count < 20; count += 1) assert.equal((await postTo(client))?.code, 250)
    await client.say('MAIL FROM:<>')
    const refused = await client.say('RCPT TO:<postmaster>')
    const tooOften = '4.7.1 Too much mail for this mailbox from your network, try again later'
    assert.deepEqual(refused, { code: 452, text: tooOften })
    // A RCPT accepted earlier does not help.
    await early.say('DATA')
    assert.deepEqual(await early.data(hello), { code: 452, text: tooOften })
    assert.equal((await rows()).length, 20)
    core.clock.now += 3_600_000
    assert.equal((await postTo(await dial()))?.code, 250)
  })

  it('mail to a project with full mailboxes gets a 452 4.2.2, mail to others does not', async (t) => {
    const settings = { PILLARBOX_INBOUND__MAX_BYTES_PER_PROJECT: '2000' }
    const { dial, rows, core } = await openInbound(t, { settings })
    const project = await addProject(core)
    await trustDomain(core, project.id, 'shop.test')
    const other = await addProject(core)
    await trustDomain(core, other.id, 'other.test')
    const full = { code: 452, text: '4.2.2 The mailbox is full, try again later' }
    const client = await dial()
    await client.open('a@sender.test', 'info@shop.test')
    assert.equal((await client.data(`${hello}${'x'.repeat(900)}\r\n`)).code, 250)
    // A message without SIZE is refused after DATA, one with SIZE at RCPT.
    await client.open('a@sender.test', 'info@shop.test')
    assert.deepEqual(await client.data(`${hello}${'x'.repeat(900)}\r\n`), full)
    await client.say('MAIL FROM:<a@sender.test> SIZE=1500')
    assert.deepEqual(await client.say('RCPT TO:<info@shop.test>'), full)
    assert.equal((await client.say('RCPT TO:<info@other.test>')).code, 250)
    await client.say('DATA')
    assert.equal((await client.data(hello)).code, 250)
    assert.equal((await rows()).length, 2)
  })

  it('S10: nothing is relayed, not even with the null sender', async (t) => {
    const { dial, rows, core } = await openInbound(t)
    const project = await addProject(core)
    await trustDomain(core, project.id, 'shop.test')
    const client = await dial()
    const relays = [
      '<user@elsewhere.test>',
      '<user%elsewhere.test@shop.test>',
      '<elsewhere.test!user@shop.test>',
      '<"user@elsewhere.test"@shop.test>',
      '<"user elsewhere"@shop.test>',
      '<user@elsewhere.test@shop.test>',
      '<@shop.test:user@elsewhere.test>',
      '<@shop.test,@other.test:user@elsewhere.test>',
      '<user@[127.0.0.1]>',
      '<user@[IPv6:::1]>',
      '<postmaster@[127.0.0.1]>',
      '<user@elsewhere.test> ORCPT=rfc822;info@shop.test',
    ]
    for (const sender of ['', 'info@shop.test']) {
      await client.say(`MAIL FROM:<${sender}>`)
      for (const to of relays.slice(0, 9)) {
        const { code, text } = await client.say(`RCPT TO:${to}`)
        assert.deepEqual([code, text.slice(0, 6)], [550, '5.7.1 '], to)
      }
      assert.deepEqual(await client.say('DATA'), {
        code: 503,
        text: '5.5.1 Error: need RCPT command',
      })
      await client.say('RSET')
    }
    const other = await dial()
    await other.say('MAIL FROM:<>')
    for (const to of relays.slice(9)) {
      const { code, text } = await other.say(`RCPT TO:${to}`)
      assert.deepEqual([code, text.slice(0, 6)], [550, '5.7.1 '], to)
    }
    assert.deepEqual(await other.say(`RCPT TO:<root@${HOSTNAME}>`), {
      code: 550,
      text: '5.1.1 There is no such mailbox here',
    })
    assert.deepEqual(await other.say(`RCPT TO:<b.forged@bounce.${HOSTNAME}>`), {
      code: 550,
      text: '5.7.1 This return path was not made here',
    })
    // A source route to one of our addresses is removed (RFC 5321 appendix C).
    assert.equal((await other.say('RCPT TO:<@relay.test:info@shop.test>')).code, 250)
    assert.deepEqual(await rows(), [])
  })

  it('S4: AUTH, BDAT and the joke commands are not available', async (t) => {
    const { dial, service, port } = await openInbound(t)
    const client = await dial()
    const { text } = await client.say('EHLO client.test')
    const [greeting, ...extensions] = text.split('\n')
    assert.equal(greeting, HOSTNAME)
    const size = 'SIZE 41943040'
    assert.deepEqual(extensions, [
      'PIPELINING',
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      size,
    ])
    for (const line of [
      'AUTH PLAIN AGEAYg==',
      'BDAT 5 LAST',
      'STARTTLS',
      'WIZ x',
      'SHELL',
      'XCLIENT ADDR=8.8.8.8',
    ]) {
      const reply = await client.say(line)
      assert.deepEqual([reply.code, reply.text.slice(0, 6)], [500, '5.5.2 '], line)
    }
    assert.equal(service.addresses[0]?.host, '127.0.0.1')
    const greeted = await connect(port)
    assert.deepEqual(await greeted.read(), { code: 220, text: `${HOSTNAME} ESMTP Pillarbox` })
    greeted.close()
  })

  it('S12: a message with more than 50 Received fields is in a loop', async (t) => {
    const { dial, rows, returnPath } = await openInbound(t)
    const client = await dial()
    const seenBy = (count: number) => `Received: by a\r\n\tReceived: folded\r\n`.repeat(count)
    await client.open('', returnPath)
    const { code, text } = await client.data(`${seenBy(51)}Subject: x\r\n\r\n`)
    assert.deepEqual([code, text.slice(0, 6)], [554, '5.4.6 '])
    assert.deepEqual(await rows(), [])
    await client.open('', returnPath)
    assert.equal((await client.data(`${seenBy(50)}\r\nReceived: in the body\r\n`)).code, 250)
  })

  it('a database that cannot be written gives a 451 and a 452, never a 250', async (t) => {
    const { core, dial, rows, returnPath } = await openInbound(t)
    const client = await dial()
    const { write, isWritable } = core.store
    core.store.write = () => Promise.reject(new AppError('DATABASE_ERROR', 'Not now.'))
    await client.open('', returnPath)
    assert.deepEqual(await client.data(hello), { code: 451, text: '4.3.0 Not now.' })
    core.store.isWritable = () => false
    const refused = await client.say('MAIL FROM:<>')
    assert.deepEqual([refused.code, refused.text.slice(0, 6)], [452, '4.3.1 '])
    core.store.isWritable = isWritable
    core.store.write = write
    await client.open('', returnPath)
    assert.equal((await client.data(hello)).code, 250)
    assert.equal((await rows()).length, 1)
  })

  it('while the disk is nearly full, mail from outside is deferred at MAIL', async (t) => {
    const { core, dial, rows, returnPath } = await openInbound(t)
    const client = await dial()
    core.disk.isLow = () => true
    const refused = await client.say('MAIL FROM:<a@sender.test>')
    assert.deepEqual([refused.code, refused.text.slice(0, 6)], [452, '4.3.1 '])
    assert.deepEqual(await rows(), [])
    core.disk.isLow = () => false
    await client.open('', returnPath)
    assert.equal((await client.data(hello)).code, 250)
  })

  it('a failed look-up defers the recipient', async (t) => {
    const { core, dial } = await openInbound(t)
    core.directory.findMailboxDomain = () => Promise.reject(new AppError('DATABASE_ERROR', 'Busy.'))
    const client = await dial()
    await client.say('MAIL FROM:<>')
    assert.deepEqual(await client.say('RCPT TO:<a@shop.test>'), { code: 451, text: '4.3.0 Busy.' })
    core.directory.findMailboxDomain = () => Promise.reject(new TypeError('secret reasons'))
    const { code, text } = await client.say('RCPT TO:<a@shop.test>')
    assert.equal(code, 451)
    assert.doesNotMatch(text, /secret/)
  })

  it('stop sends 421 to idle clients, and the reply to a client with a message', async (t) => {
    const { dial, rows, service, returnPath, port } = await openInbound(t)
    const [idle, busy] = [await dial(), await dial()]
    await busy.open('', returnPath)
    busy.write('Subject: ')
    const stopped = service.stop(NEVER_MS)
    const goodbye = await idle.read()
    assert.deepEqual([goodbye.code, goodbye.text.slice(0, 6)], [421, '4.3.2 '])
    assert.equal((await busy.data('in hand\r\n\r\nHello')).code, 250)
    assert.equal((await busy.read()).code, 421)
    await inTime(stopped, 'the end')
    assert.equal((await rows()).length, 1)
    const late = await connect(port)
    assert.equal((await late.read()).code, 0)
  })

  it('stop ends the session of a client that does not finish its message', async (t) => {
    const { dial, rows, service, returnPath } = await openInbound(t)
    const stuck = await dial()
    await stuck.open('', returnPath)
    await inTime(service.stop(50), 'the end')
    assert.equal((await stuck.read()).code, 0)
    assert.deepEqual(await rows(), [])
  })

  it('sessions are independent: one that breaks off during a message leaves no data', async (t) => {
    const { dial, rows, core } = await openInbound(t)
    const [one, other] = [await dial(), await dial()]
    await one.open('', returnPathOf(core))
    one.write(hello)
    one.close()
    await other.open('', returnPathOf(core))
    assert.equal((await other.data(hello)).code, 250)
    assert.equal((await rows()).length, 1)
  })
})
