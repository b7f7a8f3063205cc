/** Campaigns, contacts and their emails for tests of sending. */
import type { TestContext } from 'node:test'
import { inspect } from 'node:util'
import type { Core } from '../../../../../src/core/core.ts'
import {
  type CampaignsDeps,
  startCampaigns,
} from '../../../../../src/features/outreach/campaigns/sending/loop.ts'
import { asc, eq, type SQL, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import {
  type Campaign,
  type CampaignProgress,
  campaignProgress,
  campaigns,
} from '../../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'

type Hooks = Parameters<typeof openTestCore>[0]

/** A core whose queue has no bound, and a project that may send from shop.test. */
export async function openSendingCore(t: Hooks, settings: Record<string, string> = {}) {
  const core = await openTestCore(t, {
    settings: { PILLARBOX_CAMPAIGNS__ROWS_AHEAD: '0', ...settings },
  })
  const project = await addProject(core)
  await trustDomain(core, project.id, 'shop.test')
  return { core, project }
}

export async function addCampaign(
  core: Pick<Core, 'store' | 'now'>,
  projectId: string,
  fields: Partial<Campaign> = {},
): Promise<string> {
  const id = newId()
  const at = core.now()
  await core.store.write((tx) =>
    tx.insert(campaigns).values({
      ...{ id, projectId, name: 'Spring', subject: 'Hi {{name}}', body: '<p>Hello {{name}}</p>' },
      ...{ fromAddress: 'news@shop.test', fromDomain: 'shop.test', createdAt: at, updatedAt: at },
      ...fields,
    }),
  )
  return id
}

/** Counts of audiences have this fate; other scans stay as they are. */
export function breakCounts(t: TestContext, core: TestCore, act: () => Promise<never>): void {
  const { scan } = core.store
  const values = scan.values.bind(scan)
  t.mock.method(scan, 'values', (query: SQL) =>
    inspect(query, { depth: 3 }).includes('as listed') ? act() : values(query),
  )
}

type NewContact = { address: string; subscribed?: boolean; data?: Record<string, unknown> | null }

/** Returns the ids, in order. */
export async function addContacts(
  core: TestCore,
  projectId: string,
  rows: readonly NewContact[],
): Promise<string[]> {
  const at = core.now()
  const values = rows.map(({ address, subscribed = true, data = null }) => ({
    ...{ id: newId(), projectId, address, subscribed, data, createdAt: at, updatedAt: at },
  }))
  for (let from = 0; from < values.length; from += 500) {
    await core.store.write((tx) => tx.insert(contacts).values(values.slice(from, from + 500)))
  }
  return values.map(({ id }) => id)
}

export function people(count: number): NewContact[] {
  return Array.from({ length: count }, (_, index) => ({
    address: `p${index}@mail${index % 7}.test`,
  }))
}

export async function loadCampaignRow(core: TestCore, id: string): Promise<Campaign> {
  const row = await core.store.read.select().from(campaigns).where(eq(campaigns.id, id)).get()
  if (row === undefined) throw new TypeError('there is no such campaign')
  return row
}

export async function loadProgress(core: TestCore, id: string): Promise<CampaignProgress> {
  const { campaignId } = campaignProgress
  const row = await core.store.read.select().from(campaignProgress).where(eq(campaignId, id)).get()
  if (row === undefined) throw new TypeError('the campaign does not send')
  return row
}

export function emailsOf(core: TestCore, campaignId: string) {
  return core.store.read
    .select()
    .from(emails)
    .where(eq(emails.campaignId, campaignId))
    .orderBy(asc(emails.id))
    .all()
}

export async function eventNames(core: TestCore, prefix: string): Promise<string[]> {
  const rows = await core.store.read.select({ name: events.name }).from(events).orderBy(events.seq)
  return rows.map(({ name }) => name).filter((name) => name.startsWith(prefix))
}

/** All emails that wait are delivered. */
export async function deliverAll(core: TestCore): Promise<void> {
  await core.store.write((tx) =>
    setEmails(
      tx,
      { state: 'delivered', status: 'DELIVERED', dueAt: null },
      sql`state in ('queued', 'held')`,
    ),
  )
}

/** Runs the loop until `isDone`, then stops it. Looks after each transaction. */
export async function runUntil(
  core: CampaignsDeps,
  isDone: () => boolean | Promise<boolean>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const look = () => void Promise.resolve(isDone()).then((done) => done && resolve(), reject)
  const unlisten = core.store.onCommit(() => setImmediate(look))
  const loop = startCampaigns(core)
  look()
  await promise
  unlisten()
  await loop.stop()
}
