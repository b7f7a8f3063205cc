/** One email in each state that mail can have, made by receivers, reports, people and operators. */
import assert from 'node:assert/strict'
import { simpleParser } from 'mailparser'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { eventually, type Program } from '../../e2e/program.ts'
import { startSink } from '../../fakes/smtp-sink.ts'
import { connect } from '../../inbound/dialogue.ts'

/** What the program needs for all of them. */
export const STATE_SETTINGS = {
  PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]',
  PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["1h"]',
}

const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

export type Mail = { id: string; to: string }

/** The emails, by the name of their state. */
export async function makeMailInAllStates(program: Program): Promise<Record<string, Mail>> {
  // What a server knows of receivers does not outlive its restart.
  const relayed = await makeRelayed(program)
  const made = await Promise.all([
    makeDelivered(program),
    makeRefused(program),
    makeWaiting(program),
    makeSuppressed(program),
    makePaused(program),
  ])
  return Object.assign({ relayed }, ...made)
}

async function send(program: Program, to: string, request: object = {}): Promise<Mail> {
  const [id = ''] = await program.send({ to, subject: `To ${to}`, ...request })
  return { id, to }
}

/** Delivered, and what its reader then did. */
async function makeDelivered(program: Program) {
  const sink = await program.receive('kept.test')
  const names = ['delivered', 'opened', 'clicked', 'complained', 'answered'] as const
  const body = '<p><a href="https://shop.test/sale">Sale</a></p>'
  const mails = await Promise.all(
    names.map((name) => send(program, `${name}@kept.test`, { body, subscribed: true })),
  )
  for (const { id } of mails) await program.untilState(id, 'delivered')
  // Who reads within two seconds is taken for a machine.
  await program.core.store.write((tx) =>
    tx
      .update(emails)
      .set({ deliveredAt: sql`delivered_at - 60000` })
      .where(sql`state = 'delivered'`),
  )
  const bytesFor = (to: string) => {
    const bytes = sink.messages.find((message) => message.to.includes(to))?.bytes
    assert.ok(bytes)
    return bytes.toString('latin1')
  }
  const [delivered, opened, clicked, complained, answered] = mails as [Mail, Mail, Mail, Mail, Mail]
  const read = async (to: string, pattern: RegExp) => {
    const { html } = await simpleParser(bytesFor(to))
    const address = (pattern.exec(html || '')?.[1] ?? '').replaceAll('&amp;', '&')
    const { pathname, search } = new URL(address)
    const headers = { 'user-agent': BROWSER }
    await fetch(new URL(pathname + search, program.url()), { headers, redirect: 'manual' })
  }
  await read(opened.to, /src="([^"]*\/t\/o\/[^"]*)"/)
  await read(clicked.to, /href="([^"]*\/t\/c\/[^"]*)"/)
  await complain(program, bytesFor(complained.to))
  await answer(program, answered.to, bytesFor(answered.to))
  await untilStatus(program, opened.id, 'OPENED')
  await untilStatus(program, clicked.id, 'CLICKED')
  await untilStatus(program, complained.id, 'COMPLAINED')
  const received = await eventually(async () => {
    const { body: page } = await program.call('GET', '/emails?source=INBOUND')
    return (page as { data: { id: string; recipientAddress: string }[] }).data[0]
  })
  return {
    ...{ delivered, opened, clicked, complained },
    received: { id: received.id, to: received.recipientAddress },
  }
}

/** Refused for good, and given up after refusals for now. */
async function makeRefused(program: Program) {
  await program.receive('gone.test', {
    respond: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 No such mailbox here' : undefined),
  })
  await program.receive('busy.test', {
    respond: ({ verb }) => (verb === 'RCPT' ? '452 4.2.2 Mailbox full' : undefined),
  })
  const bounced = await send(program, 'bounced@gone.test')
  const expired = await send(program, 'expired@busy.test')
  await program.untilState(bounced.id, 'bounced')
  await program.untilState(expired.id, 'deferred')
  const { store } = program.core
  await store.write((tx) =>
    tx
      .update(emails)
      .set({ giveUpAt: Date.now() - 1 })
      .where(eq(emails.id, expired.id)),
  )
  await program.call('POST', `/emails/${expired.id}/retry`)
  await program.untilState(expired.id, 'failed')
  return { bounced, expired }
}

/** Deferred by its receiver, kept back because the receiver closed, held by an operator, cancelled. */
async function makeWaiting(program: Program) {
  await program.receive('grey.test', {
    respond: ({ verb }) =>
      verb === 'RCPT' ? '451 4.7.1 Greylisted, please try again later' : undefined,
  })
  await program.receive('slow.test', {
    respond: ({ verb }) => (verb === 'MAIL' ? '421 4.7.0 Too many messages from you' : undefined),
  })
  await program.receive('held.test')
  await program.command('queue', 'hold', '--domain', 'held.test')
  const deferred = await send(program, 'deferred@grey.test')
  const cancelled = await send(program, 'cancelled@grey.test')
  const first = await send(program, 'first@slow.test')
  await program.untilState(first.id, 'deferred')
  const slowed = await send(program, 'slowed@slow.test')
  await program.untilState(deferred.id, 'deferred')
  await program.untilState(cancelled.id, 'deferred')
  assert.equal((await program.call('POST', `/emails/${cancelled.id}/cancel`)).status, 200)
  // The server hears of a hold within 200 ms.
  let count = 0
  const held = await eventually(async () => {
    const mail = await send(program, `held${++count}@held.test`)
    const { email } = await program.untilState(mail.id, 'held', 'delivered')
    return email.state === 'held' ? mail : undefined
  })
  // The receiver's limit lets the second email come to it some seconds after the first.
  await program.untilState(slowed.id, 'deferred')
  return { deferred, cancelled, slowed, held }
}

async function makeSuppressed(program: Program) {
  await program.call('POST', '/suppressions', { emails: ['listed@kept.test'], reason: 'MANUAL' })
  const suppressed = await send(program, 'listed@kept.test')
  await program.untilState(suppressed.id, 'suppressed')
  return { suppressed }
}

/** Of a campaign that is paused before the second attempt. */
export async function makePaused(program: Program) {
  await program.receive('readers.test', {
    respond: ({ verb }) => (verb === 'RCPT' ? '451 4.3.0 Not now' : undefined),
  })
  const to = 'reader@readers.test'
  const contact = { email: to, subscribed: true }
  assert.equal((await program.call('POST', '/contacts', contact)).status, 201)
  const made = await program.call('POST', '/campaigns', {
    ...{ name: 'News of May', subject: 'News', body: '<p>News</p>', from: 'shop@example.test' },
    ...{ type: 'MARKETING', audienceType: 'FILTERED' },
    audienceCondition: {
      logic: 'AND',
      groups: [{ filters: [{ field: 'email', operator: 'equals', value: to }] }],
    },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = (made.body as { data: { id: string } }).data
  assert.equal((await program.call('POST', `/campaigns/${id}/send`)).status, 200)
  const email = await eventually(async () => {
    const { body } = await program.call('GET', `/emails?campaignId=${id}`)
    const [row] = (body as { data: { id: string; state: string }[] }).data
    return row?.state === 'deferred' ? row : undefined
  })
  assert.equal((await program.call('POST', `/campaigns/${id}/pause`)).status, 200)
  await program.untilState(email.id, 'paused')
  return { paused: { id: email.id, to } }
}

/** Handed to a smarthost, by the program in that mode. */
async function makeRelayed(program: Program): Promise<Mail> {
  const smarthost = await startSink({ host: '127.0.0.1' })
  await program.stop()
  await program.start({
    PILLARBOX_DELIVERY__MODE: 'relay',
    PILLARBOX_DELIVERY__RELAY__HOST: smarthost.host,
    PILLARBOX_DELIVERY__RELAY__PORT: String(smarthost.port),
    PILLARBOX_DELIVERY__RELAY__TLS: 'none',
  })
  const relayed = await send(program, 'relayed@kept.test')
  await program.untilState(relayed.id, 'relayed')
  await program.stop()
  await smarthost.stop()
  await program.start()
  return relayed
}

/** A mailbox provider reports the message as spam (RFC 5965). */
async function complain(program: Program, message: string): Promise<void> {
  const token = /^x-pillarbox-id: *(\S+)/im.exec(message)?.[1] ?? ''
  await deliver(program, 'fbl@kept.test', `b.${token}@bounce.mail.example.test`, [
    ...['From: fbl@kept.test', 'Subject: complaint', 'MIME-Version: 1.0'],
    'Content-Type: multipart/report; report-type=feedback-report; boundary=b1',
    ...['', '--b1', 'Content-Type: text/plain', '', 'This is an email abuse report.', '--b1'],
    ...['Content-Type: message/feedback-report', '', 'Feedback-Type: abuse'],
    ...['User-Agent: Test/1.0', 'Version: 1', '', '--b1', 'Content-Type: message/rfc822', ''],
    ...[message, '--b1--'],
  ])
}

async function answer(program: Program, from: string, message: string): Promise<void> {
  const { messageId = '' } = await simpleParser(message)
  await deliver(program, from, 'shop@example.test', [
    ...[`From: <${from}>`, 'To: shop@example.test', 'Subject: Re: Sale'],
    ...['Message-ID: <reply-1@kept.test>', `In-Reply-To: ${messageId}`],
    ...['Content-Type: text/plain; charset=utf-8', '', 'Thank you.'],
  ])
}

/** By SMTP, to the listener for mail from outside. */
async function deliver(program: Program, from: string, to: string, lines: readonly string[]) {
  const session = await connect(program.inboundPort(), { ehlo: 'mx.kept.test' })
  assert.equal((await session.open(from, to)).code, 354)
  assert.equal((await session.data(`${lines.join('\r\n')}\r\n`)).code, 250)
  session.close()
}

const untilStatus = (program: Program, id: string, status: string) =>
  eventually(async () => {
    const { body } = await program.call('GET', `/emails/${id}`)
    return (body as { status: string }).status === status ? true : undefined
  })
