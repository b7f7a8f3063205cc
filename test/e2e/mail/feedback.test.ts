/**
 * What comes back, through the whole program: mail goes out to the sandbox's sink, its consequences
 * come in by SMTP and HTTP, and the feed and the suppression list tell of them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { simpleParser } from 'mailparser'
import { DAY_MS } from '../../../src/base/clock.ts'
import { failureReport } from '../../fakes/failure-report.ts'
import { connect } from '../../inbound/dialogue.ts'
import { eventually, type Program, startProgram } from '../program.ts'

let program: Program

before(async () => {
  program = await startProgram({
    PILLARBOX_DELIVERY__MODE: 'sandbox',
    PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]',
  })
})

after(() => program.close())

const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

type Activity = {
  id: string
  type: string
  contactEmail: string
  metadata: Record<string, unknown>
}
type Sent = { id: string; raw: string; messageId: string; returnPath: string; html: string }

/** Sends, and waits for the message as its recipient got it. */
async function send(to: string, request: Record<string, unknown> = {}): Promise<Sent> {
  const [id = ''] = await program.send({ to, subscribed: true, ...request })
  await program.untilState(id, 'delivered')
  const list = (await program.command('sandbox', 'list')) as { id: number; to: string }[]
  const { out: raw } = await program.run(
    ...['sandbox', 'show', String(list.find((message) => message.to.includes(to))?.id)],
  )
  const parsed = await simpleParser(raw)
  const token = /^x-pillarbox-id: *(\S+)/im.exec(raw)?.[1] ?? ''
  return {
    id,
    raw,
    messageId: parsed.messageId ?? '',
    returnPath: `b.${token}@bounce.mail.example.test`,
    html: parsed.html || '',
  }
}

/** By SMTP, to the listener for mail from outside. */
async function deliver(from: string, to: string, lines: readonly string[]): Promise<void> {
  const session = await connect(program.inboundPort(), { ehlo: 'mx.dest.test' })
  assert.equal((await session.open(from, to)).code, 354)
  assert.equal((await session.data(`${lines.join('\r\n')}\r\n`)).code, 250)
  session.close()
}

async function feedOf(email: string): Promise<Activity[]> {
  const { status, body } = await program.call('GET', '/activity?limit=100')
  assert.equal(status, 200)
  const { data } = body as { data: Activity[] }
  return data.filter(({ contactEmail }) => contactEmail === email)
}

const awaitActivity = (email: string, type: string): Promise<Activity> =>
  eventually(async () => (await feedOf(email)).find((activity) => activity.type === type))

/** The figures that have a click. They are of another range in each call, because answers are kept. */
async function findClicked(): Promise<Record<string, number> | undefined> {
  const since = new Date(Date.now() - DAY_MS).toISOString()
  const { body } = await program.call('GET', `/activity/stats?startDate=${since}`)
  const stats = body as Record<string, number>
  return stats.totalEmailsClicked === 1 ? stats : undefined
}

async function suppressionOf(email: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await program.call('GET', `/suppressions?search=${encodeURIComponent(email)}`)
  const { data } = body as { data: { email: string }[] }
  return data.find((each) => each.email === email)
}

const report = (recipient: string, { raw }: Sent) =>
  failureReport(recipient, raw.slice(0, raw.indexOf('\r\n\r\n')))

describe('incoming reports and replies', () => {
  it('a report at the return path bounces the email and suppresses the address', async () => {
    const to = 'gone@dest.test'
    const sent = await send(to)
    await deliver('', sent.returnPath, report(to, sent))
    const bounced = await awaitActivity(to, 'email.bounced')
    assert.equal(bounced.id, `${sent.id}_bounced`)
    assert.equal(bounced.metadata.bounceType, 'Permanent')
    assert.match(bounced.metadata.error as string, /user unknown/)
    assert.equal(bounced.metadata.emailId, sent.id)
    const suppression = await suppressionOf(to)
    assert.deepEqual([suppression?.reason, suppression?.emailId], ['HARD_BOUNCE', sent.id])
    const types = (await feedOf(to)).map(({ type }) => type)
    assert.deepEqual(types.sort(), [
      'contact.unsubscribed',
      'email.bounced',
      'email.delivered',
      'email.sent',
    ])

    const [again = ''] = await program.send({ to })
    await program.untilState(again, 'suppressed')

    const { body } = await program.call('DELETE', '/suppressions', { emails: [to] })
    assert.deepEqual(body, { removed: 1 })
    await send(to)
  })

  it('S13: a forged return path is refused, and no email bounces', async () => {
    const to = 'safe@dest.test'
    const sent = await send(to)
    const session = await connect(program.inboundPort(), { ehlo: 'mx.evil.test' })
    const forged = sent.returnPath.replace(/^b\.(.)/, (_, first) => (first === 'a' ? 'b.b' : 'b.a'))
    assert.equal((await session.say('MAIL FROM:<>')).code, 250)
    assert.equal((await session.say(`RCPT TO:<${forged}>`)).code, 550)
    assert.equal((await session.say(`RCPT TO:<${sent.returnPath}>`)).code, 250)
    session.close()
    assert.equal(await suppressionOf(to), undefined)
  })

  it('a complaint that contains a message of this server unsubscribes the contact', async () => {
    const to = 'angry@dest.test'
    const sent = await send(to)
    await deliver('fbl@dest.test', sent.returnPath, [
      'From: fbl@dest.test',
      'Subject: complaint',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=feedback-report; boundary=b1',
      '',
      '--b1',
      'Content-Type: text/plain',
      '',
      'This is an email abuse report.',
      '--b1',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      'User-Agent: Test/1.0',
      'Version: 1',
      '',
      '--b1',
      'Content-Type: message/rfc822',
      '',
      sent.raw,
      '--b1--',
    ])
    const complaint = await awaitActivity(to, 'email.complaint')
    assert.equal(complaint.id, `${sent.id}_complaint`)
    assert.equal((await suppressionOf(to))?.reason, 'COMPLAINT')
    assert.ok(await awaitActivity(to, 'contact.unsubscribed'))
  })

  it('opens and clicks are in the feed and its figures', async () => {
    const to = 'ada@dest.test'
    const sent = await send(to, {
      body: '<p><a href="https://shop.test/?a=1&amp;b=2">Shop</a></p>',
    })
    const visit = async (pattern: RegExp) => {
      const link = new URL((pattern.exec(sent.html)?.[1] ?? '').replaceAll('&amp;', '&'))
      const here = new URL(`${link.pathname}${link.search}`, program.url())
      return fetch(here, { headers: { 'user-agent': BROWSER }, redirect: 'manual' })
    }
    const pixel = await visit(/src="([^"]*\/t\/o\/[^"]*)"/)
    assert.equal(pixel.headers.get('content-type'), 'image/gif')
    const click = await visit(/href="([^"]*\/t\/c\/[^"]*)"/)
    assert.deepEqual(
      [click.status, click.headers.get('location')],
      [302, 'https://shop.test/?a=1&b=2'],
    )
    const clicked = await awaitActivity(to, 'email.clicked')
    assert.equal(clicked.id, `${sent.id}_clicked`)
    assert.equal(clicked.metadata.link, 'https://shop.test/?a=1&b=2')
    const opened = await awaitActivity(to, 'email.opened')
    assert.equal(opened.metadata.isFirstOpen, true)
    assert.doesNotMatch(String(opened.metadata.body), /\/t\/[oc]\//, 'a look must not count')
    assert.match(String(opened.metadata.body), /href="https:\/\/shop\.test/)
    const { totalEmailsOpened, openRate } = await eventually(findClicked)
    assert.equal(totalEmailsOpened, 1)
    assert.ok((openRate ?? 0) > 0)
    const recent = await program.call('GET', '/activity/recent-count?minutes=60')
    assert.ok((recent.body as { count: number }).count >= 4)
  })

  it('S18: a reply is in the feed as written, without active content', async () => {
    const to = 'grace@dest.test'
    const sent = await send(to)
    await deliver(to, 'shop@example.test', [
      `From: Grace <${to}>`,
      'To: shop@example.test',
      'Subject: Re: Hello {{ email }}',
      'Message-ID: <reply-1@dest.test>',
      `In-Reply-To: ${sent.messageId}`,
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>Thanks {{ email }}</p><script>alert(1)</script><img src=x onerror=alert(1)>',
    ])
    const received = await awaitActivity(to, 'email.received')
    const { subject, body, from, messageId, inReplyTo, sourceType } = received.metadata
    assert.deepEqual(
      { subject, from, messageId, inReplyTo, sourceType },
      {
        subject: 'Re: Hello {{ email }}',
        from: 'shop@example.test',
        messageId: 'reply-1@dest.test',
        inReplyTo: sent.id,
        sourceType: 'INBOUND',
      },
    )
    assert.match(body as string, /Thanks \{\{ email \}\}/)
    assert.doesNotMatch(body as string, /script|onerror|alert/)
  })
})
