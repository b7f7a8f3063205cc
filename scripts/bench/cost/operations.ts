/** The operations of `bench:cost`: how a slice of each is made, and when it is done. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createKeyring } from '../../../src/config/keyring.ts'
import { linkNumber } from '../../../src/formats/html/links.ts'
import {
  createClickToken,
  createOpenToken,
  createReturnPathLocalPart,
} from '../../../src/formats/signed-tokens.ts'
import { newId } from '../../../src/store/ids.ts'
import type { InboundLoadResult } from '../inbound.ts'
import { bounceReport } from '../inbound-report.ts'
import { prose, runLoad } from '../mail/sender.ts'
import { makeFiveSteps } from '../workflow/make.ts'
import { HOSTNAME, SECRET, type Subject } from './subject.ts'

export type Operation = {
  /** Operations before the first slice, and in each. */
  warmUp: number
  slice: number
  /** Makes what all slices need. */
  prepare?(subject: Subject): Promise<void>
  /** Makes what the next slice needs; not measured. */
  before?(subject: Subject, count: number): Promise<void>
  /** Resolves when `count` operations are done, with all that follows from them. */
  run(subject: Subject, count: number): Promise<void>
}

const LINK = 'https://shop.example.test/article/1'
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const ENDED = `SELECT count(*) FROM workflow_executions WHERE status IN ('EXITED', 'COMPLETED', 'FAILED')`
const HITS = 'SELECT sum(opens + clicks + machine_opens + machine_clicks) FROM emails'
/** Hits are of so many emails, in turn. */
const HIT_EMAILS = 2_000

const keyring = createKeyring(SECRET)
const mail = { from: 'shop@example.test', subject: 'Your order @@' }

export const operations: Record<string, Operation> = {
  send: {
    ...{ warmUp: 20_000, slice: 1_500 },
    run: (subject, count) => send(subject, 'user@@@example.org', count),
  },
  'send-100': {
    ...{ warmUp: 200, slice: 20 },
    run: (subject, count) => {
      const to = Array.from({ length: 100 }, (_, at) => `user@@.${at}@example.org`)
      return send(subject, to, count)
    },
  },
  track: {
    ...{ warmUp: 20_000, slice: 1_500 },
    run: (subject, count) => track(subject, 'visit', count),
  },
  delivery: {
    ...{ warmUp: 20_000, slice: 1_000 },
    async run(subject, count) {
      const before = subject.delivered()
      await send(subject, 'user@@@example.net', count)
      await subject.until(subject.delivered, before + count)
      await subject.until(() => -waiting(subject), 0)
    },
  },
  open: hits((id) => `/t/o/${createOpenToken(keyring.keys('open')[0], id)}`),
  click: hits((emailId) => {
    const link = linkNumber(LINK)
    return `/t/c/${createClickToken(keyring.keys('click')[0], { emailId, link })}`
  }),
  inbound: {
    ...{ warmUp: 2_000, slice: 500 },
    before: (subject, count) => deliverHeld(subject, count),
    run: bounce,
  },
  campaign: {
    ...{ warmUp: 12_000, slice: 1_000 },
    async run(subject, count) {
      addContacts(subject, count)
      const before = subject.delivered()
      const campaign = { ...mail, name: 'Spring', body: body(), audienceType: 'ALL' }
      const made = (await subject.api.ask('POST', '/campaigns', campaign)) as Made
      await subject.api.ask('POST', `/campaigns/${made.data.id}/send`)
      await subject.until(subject.delivered, before + count)
      await subject.until(() => -waiting(subject), 0)
    },
  },
  workflow: {
    ...{ warmUp: 6_000, slice: 1_000 },
    prepare: async ({ api }) => void (await makeFiveSteps(api)),
    async run(subject, count) {
      const before = subject.number(ENDED)
      await track(subject, 'signup', count)
      await subject.until(() => subject.number(ENDED), before + count)
    },
  },
  webhook: webhook(),
}

type Made = { data: { id: string } }

function body(): string {
  return `${prose(2_048)}<p><a href="${LINK}">Look</a></p>`
}

async function send(subject: Subject, to: string | string[], requests: number): Promise<void> {
  const data = { name: 'Ada @@', order: '@@', city: 'Berlin' }
  await subject.post({ body: { ...mail, to, data, body: body() }, requests })
}

async function track(subject: Subject, event: string, requests: number): Promise<void> {
  const data = { name: 'Ada @@', plan: { value: 'pro', persistent: false }, seats: 5 }
  const tracked = { event, email: `${event}@@@example.org`, data }
  await subject.post({ path: '/v1/track', body: tracked, requests })
}

function waiting({ number }: Subject): number {
  return number('SELECT count(*) FROM emails WHERE due_at IS NOT NULL OR lease_until IS NOT NULL')
}

/** Emails that look as if they had been delivered an hour ago. An older program has no shelves. */
async function deliverHeld(subject: Subject, count: number): Promise<void> {
  await send(subject, 'reader@@@example.org', count)
  const { database, number } = subject
  const isShelved = number(`SELECT count(*) FROM pragma_table_info('emails') WHERE name = 'shelf'`)
  const unshelved = isShelved === 1 ? 'shelf = NULL, ' : ''
  database
    .prepare(
      `UPDATE emails SET state = 'delivered', status = 'DELIVERED', held_at = NULL, due_at = NULL,
        ${unshelved}sent_at = @at, delivered_at = @at WHERE state = 'held'`,
    )
    .run({ at: Date.now() - 3_600_000 })
}

function hits(pathOf: (emailId: string) => string): Operation {
  return {
    ...{ warmUp: 10_000, slice: 2_000 },
    prepare: (subject) => deliverHeld(subject, HIT_EMAILS),
    async run(subject, count) {
      const { server, database, take } = subject
      const ids = database.prepare('SELECT id FROM emails ORDER BY id').pluck().all() as string[]
      const before = subject.number(HITS)
      const visits = { paths: ids.map(pathOf), userAgent: AGENT }
      const load = { url: server.url, connections: 50, requests: count, from: take(count) }
      const { refused } = await runLoad({ ...load, ...visits })
      if (refused > 0) throw new Error(`${refused} requests were refused`)
      await subject.until(() => subject.number(HITS), before + count)
    },
  }
}

async function bounce(subject: Subject, count: number): Promise<void> {
  const emails = subject.database
    .prepare(`SELECT id, recipient AS "to" FROM emails WHERE status = 'DELIVERED' LIMIT ?`)
    .all(count) as { id: string; to: string }[]
  const [key] = keyring.keys('return-path')
  const bounces = emails.map(({ id, to }) => {
    return { id, to, returnPath: `${createReturnPathLocalPart(key, id)}@bounce.${HOSTNAME}` }
  })
  const load = fork(path.join(import.meta.dirname, '../inbound-load.ts'), {
    serialization: 'advanced',
  })
  const port = Number(subject.server.inbound[0]?.split(':').at(-1))
  load.send({ port, connections: 20, perSecond: null, message: bounceReport, bounces })
  const [{ refused }] = (await once(load, 'message')) as [InboundLoadResult]
  load.kill()
  if (refused > 0) throw new Error(`${refused} messages were refused`)
  const pending = `SELECT count(*) FROM inbound_messages WHERE state = 'pending'`
  await subject.until(() => -subject.number(pending), 0)
}

/** `ALL` are those of the slice: earlier ones go. */
function addContacts({ database, take }: Subject, count: number): void {
  const projectId = database.prepare('SELECT id FROM projects').pluck().get()
  const insert = database.prepare(
    `INSERT INTO contacts (id, project_id, email, data, subscribed, created_at, updated_at)
      VALUES (?, ?, ?, ?, 1, ?, ?)`,
  )
  const at = Date.now()
  const from = take(count)
  const data = JSON.stringify({ name: 'Ada', order: '17', city: 'Berlin' })
  database.transaction(() => {
    database.prepare('UPDATE contacts SET subscribed = 0 WHERE subscribed = 1').run()
    for (let index = from; index < from + count; index += 1) {
      insert.run(newId(), projectId, `person${index}@example.net`, data, at, at)
    }
  })()
}

function webhook(): Operation {
  const name = 'order'
  return {
    ...{ warmUp: 4_000, slice: 1_000 },
    async prepare({ api, webhookUrl }) {
      await api.ask('POST', '/webhooks/endpoints', { url: webhookUrl, events: [name] })
    },
    async run(subject, count) {
      const { database } = subject
      const before = subject.hooked()
      const projectId = database.prepare('SELECT id FROM projects').pluck().get()
      const insert = database.prepare(
        'INSERT INTO events (id, project_id, name, data, created_at) VALUES (?, ?, ?, ?, ?)',
      )
      const data = JSON.stringify({ order: 17, total: 49.9, items: ['a book', 'a pen'] })
      database.transaction(() => {
        for (let index = 0; index < count; index += 1) {
          insert.run(newId(), projectId, name, data, Date.now())
        }
      })()
      await subject.until(subject.hooked, before + count)
    },
  }
}
