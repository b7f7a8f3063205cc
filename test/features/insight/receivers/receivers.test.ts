/** The receivers of a project's waiting mail: counts, states of sites, and replies of its own mail only. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MINUTE_MS } from '../../../../src/base/clock.ts'
import type { EmailQuery } from '../../../../src/features/insight/emails/list-emails.ts'
import { listReceivers } from '../../../../src/features/insight/receivers/receivers.ts'
import {
  chooseLanes,
  MAX_LANES,
} from '../../../../src/features/insight/receivers/waiting-domains.ts'
import { holdDomain } from '../../../../src/features/mail/messages/queue/holds.ts'
import { opennessOf } from '../../../../src/features/mail/messages/queue/site-openness.ts'
import type { SiteStatus } from '../../../../src/outbound/sites/site-status.ts'
import { WAITING_STATES } from '../../../../src/records/words.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import type { Project } from '../../../../src/store/schema/accounts.ts'
import { attempts, emails } from '../../../../src/store/schema/messages.ts'
import { address, OPEN_SITE, START } from '../../../core.ts'
import { listEmails } from '../../../lists.ts'
import { setEmails } from '../../../set-emails.ts'
import { addSenderProject, openSender } from '../../mail/messages/sender.ts'

const HOSTS: Readonly<Record<string, string>> = {
  'gmail.com': 'gmail-smtp-in.l.google.com',
  'workspace.test': 'aspmx.l.google.com',
  'icloud-customer.test': 'mx01.mail.icloud.com',
}

const OUTLOOK = 'olc.protection.outlook.com'

async function open(t: TestContext) {
  const sender = await openSender(t)
  const { core, project } = sender
  const sites = new Map<string, Partial<SiteStatus>>()
  const siteOfDomain = new Map([
    ['outlook.com', OUTLOOK],
    ['hotmail.com', OUTLOOK],
    ['gmail.com', 'google.com'],
    ['workspace.test', 'google.com'],
    ['icloud-customer.test', 'icloud.com,backup.test'],
  ])
  const config = { ...core.config, delivery: { ...core.config.delivery, mode: 'direct' as const } }
  core.outbound.siteOf = (domain) => siteOfDomain.get(domain) ?? domain
  core.outbound.knownSiteOf = (domain) => siteOfDomain.get(domain)
  core.outbound.knownSites = () => siteOfDomain
  core.outbound.sites = () => []
  core.outbound.siteStatus = (site) => ({ ...OPEN_SITE, site, ...sites.get(site) })
  core.queueNotifier.listen((notice) => {
    if (typeof notice !== 'string') core.lanes.addDueAt(notice, notice.dueAt)
  })
  return {
    ...{ core, project, sites },
    emails: (query: Partial<EmailQuery>) =>
      listEmails({ ...core, config }, { projectId: project.id, limit: 100, ...query }),
    list: (of: Project = project) => listReceivers({ ...core, config }, of.id),
    async send(to: string, of: Project = project): Promise<string> {
      const from = {
        address: address(`shop@${of === project ? 'example' : 'other'}.test`),
        name: null,
      }
      const request = { from, to: [{ address: address(to), name: null }] }
      const { emails: accepted } = await sender.send(request, { project: of })
      return accepted[0]?.email as string
    },
    async defer(id: string, attempt: Partial<typeof attempts.$inferInsert> = {}): Promise<void> {
      const at = attempt.at ?? START
      const row = { emailId: id, at, durationMs: 1, result: 'deferred', steps: [] }
      await core.store.write(async (tx) => {
        await tx.insert(attempts).values({ ...row, ...attempt })
        const change = { state: 'deferred', attemptCount: 1, dueAt: at + MINUTE_MS } as const
        await setEmails(tx, change, eq(emails.id, id))
      })
    },
  }
}

const busy = { replyCode: 451, enhancedCode: '4.7.650', replyText: '4.7.650 slow down' }

test('mail is counted by provider, and those that slow it come first', async (t) => {
  const { core, sites, list, send, defer } = await open(t)
  for (const name of ['ada', 'bob', 'eve']) await send(`${name}@gmail.com`)
  await defer(await send('ada@outlook.com'), busy)
  await send('bob@hotmail.com')
  await send('ada@workspace.test')
  await send('ada@icloud-customer.test')
  await send('ada@small.test')
  const rate = { messagesPerMinute: 6, rateUntil: START + 30 * MINUTE_MS, restrictedSince: START }
  sites.set(OUTLOOK, {
    ...rate,
    limited: 'rate',
    cause: { at: START, text: '451 bob@secret.test' },
  })
  const rows = await list()
  const [outlook, gmail] = rows
  assert.deepEqual(outlook, {
    ...{ receiver: 'Outlook', waiting: 2, deferred: 1 },
    oldestDueAt: new Date(core.clock.now).toISOString(),
    ...{ state: 'slowed', affected: 2, domains: ['hotmail.com', 'outlook.com'] },
    ...{ messagesPerMinute: 6, until: new Date(START + 30 * MINUTE_MS).toISOString() },
    reply: {
      ...{ code: 451, enhancedCode: '4.7.650', text: '4.7.650 slow down' },
      at: new Date(START).toISOString(),
    },
  })
  assert.deepEqual(gmail, {
    ...{ receiver: 'Gmail', waiting: 3, deferred: 0, oldestDueAt: new Date(START).toISOString() },
    ...{ state: 'open', affected: 0, domains: [], messagesPerMinute: null, until: null },
    reply: null,
  })
  assert.deepEqual(
    rows.map(({ receiver }) => receiver),
    ['Outlook', 'Gmail', 'Google Workspace', 'Other', 'iCloud'],
  )
})

test('a receiver is as bad as most of its mail that is not let through', async (t) => {
  const { sites, list, send } = await open(t)
  for (const to of ['a@one.test', 'a@two.test', 'b@two.test', 'a@three.test']) await send(to)
  sites.set('one.test', { restrictedSince: START, limited: 'connections' })
  sites.set('two.test', { restrictedSince: START, blockedUntil: START + MINUTE_MS })
  const [other] = await list()
  const until = new Date(START + MINUTE_MS).toISOString()
  assert.deepEqual(
    [other?.receiver, other?.waiting, other?.state, other?.affected, other?.until, other?.domains],
    ['Other', 4, 'closed', 2, until, ['two.test']],
  )
})

test('each name finds the mail that it stands for in the list of emails', async (t) => {
  const { list, emails: find, send, defer } = await open(t)
  for (const domain of ['gmail.com', 'workspace.test', 'icloud-customer.test', 'small.test']) {
    await send(`untried@${domain}`)
    await defer(await send(`unknown@${domain}`))
    await defer(await send(`tried@${domain}`), { host: HOSTS[domain] ?? 'mx.small.test' })
  }
  const rows = await list()
  const names = rows.map(({ receiver }) => receiver)
  assert.deepEqual(names.toSorted(), ['Gmail', 'Google Workspace', 'Other', 'iCloud'])
  for (const { receiver, waiting } of rows) {
    const { data, total } = await find({ receiver, states: WAITING_STATES })
    assert.deepEqual([total, waiting], [3, 3], receiver)
    for (const email of data) assert.equal(email.receiver, receiver)
    assert.deepEqual(await find({ receiver }), await find({ receiver, states: WAITING_STATES }))
  }
  const { data } = await find({})
  for (const { id, receiver } of data) {
    const found = (await find({ receiver })).data.map((email) => email.id)
    assert.ok(found.includes(id), `${id} is of ${receiver}`)
  }
})

test('mail that ended before any server was asked is of no provider', async (t) => {
  const { core, emails: find, send } = await open(t)
  const id = await send('ada@workspace.test')
  assert.equal((await find({ receiver: 'Google Workspace' })).total, 1)
  const change = { state: 'failed', status: 'FAILED', dueAt: null, shelf: 6 } as const
  await core.store.write((tx) => setEmails(tx, change, eq(emails.id, id)))
  assert.equal((await find({ receiver: 'Google Workspace' })).total, 0)
  assert.equal((await find({ receiver: 'Other' })).data[0]?.receiver, 'Other')
})

test('nothing of another project is counted or quoted', async (t) => {
  const { core, sites, list, send, defer } = await open(t)
  const other = await addSenderProject(core, 'Other', 'other.test')
  const id = await send('victim@outlook.com', other)
  await defer(id, { ...busy, replyText: '4.7.650 too much for victim@outlook.com' })
  sites.set(OUTLOOK, {
    ...{ restrictedSince: START, blockedUntil: START + MINUTE_MS },
    cause: { at: START, text: '451 too much for victim@outlook.com' },
  })
  assert.deepEqual(await list(), [])
  await send('ada@outlook.com')
  const rows = await list()
  assert.deepEqual(
    rows.map(({ waiting, deferred, state, reply }) => ({ waiting, deferred, state, reply })),
    [{ waiting: 1, deferred: 0, state: 'closed', reply: null }],
  )
  assert.doesNotMatch(JSON.stringify(rows), /victim/)
  assert.equal((await list(other))[0]?.deferred, 1)
})

test('mail of a held domain waits for the operator, beside mail that goes on', async (t) => {
  const { core, list, send } = await open(t)
  await send('ada@outlook.com')
  await send('bob@outlook.com')
  await holdDomain(core, 'outlook.com')
  await send('ada@gmail.com')
  const rows = await list()
  assert.deepEqual(
    rows.map(({ receiver, waiting, state, affected, domains, oldestDueAt }) => [
      ...[receiver, waiting, state, affected, domains],
      oldestDueAt === null,
    ]),
    [
      ['Outlook', 2, 'held', 2, ['outlook.com'], true],
      ['Gmail', 1, 'open', 0, [], false],
    ],
  )
})

test('the newest attempt counts; one without a reply says why', async (t) => {
  const { list, send, defer } = await open(t)
  await defer(await send('ada@outlook.com'), busy)
  const late = { at: START + 1, error: `the connection timed out${' again'.repeat(100)}` }
  await defer(await send('bob@hotmail.com'), late)
  const [outlook] = await list()
  assert.deepEqual(outlook?.reply, {
    ...{ code: null, enhancedCode: null, text: late.error.slice(0, 500) },
    at: new Date(START + 1).toISOString(),
  })
})

test('mail that was delivered meanwhile is not counted, though its lane is known', async (t) => {
  const { core, list, send } = await open(t)
  const id = await send('ada@outlook.com')
  const ended = { state: 'delivered', status: 'DELIVERED', dueAt: null } as const
  await core.store.write((tx) => setEmails(tx, ended, eq(emails.id, id)))
  assert.deepEqual(await list(), [])
})

test('at most twenty receivers are listed', async (t) => {
  const { list, send } = await open(t)
  const domains =
    `gmail.com outlook.com yahoo.com icloud.com yahoo.co.jp proton.me fastmail.com zoho.com
    gmx.de web.de mail.com t-online.de freenet.de posteo.de mailbox.org orange.fr laposte.net free.fr
    sfr.fr libero.it seznam.cz`.split(/\s+/)
  for (const domain of domains) await send(`ada@${domain}`)
  assert.equal(domains.length, 21)
  assert.equal((await list()).length, 20)
})

test('of very many lanes those of large providers are counted first', () => {
  const queueClass = 10 as const
  const lanes = Array.from({ length: MAX_LANES + 10 }, (_, at) => ({
    ...{ queueClass, projectId: 'p' },
    domain: `d${at}.test`,
  }))
  const chosen = chooseLanes([...lanes, { queueClass, projectId: 'p', domain: 'gmail.com' }])
  assert.deepEqual([chosen.length, chosen[0]?.domain], [MAX_LANES, 'gmail.com'])
})

test('a site is closed while nothing is sent, and slowed while it is restricted', () => {
  const state = (blockedUntil: number | null, restrictedSince: number | null) =>
    opennessOf({ blockedUntil, restrictedSince })
  assert.deepEqual([state(null, null), state(null, 1), state(2, 1)], ['open', 'slowed', 'closed'])
})
