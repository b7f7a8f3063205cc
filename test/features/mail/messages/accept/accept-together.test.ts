/** Requests that are accepted together have the effects that they have one after another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holdDomain } from '../../../../../src/features/mail/messages/queue/holds.ts'
import { asc, eq, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import type { Project } from '../../../../../src/store/schema/accounts.ts'
import { usageMonths } from '../../../../../src/store/schema/billing.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { contents, emails, templates } from '../../../../../src/store/schema/messages.ts'
import { address, START } from '../../../../core.ts'
import { HISTORIES, type History, live } from '../../../people/contacts/histories.ts'
import { addSenderProject, openSender, type Sender } from '../sender.ts'

type Request = {
  people: History[]
  isTwice: boolean
  subscribed: boolean | undefined
  data: Record<string, unknown> | undefined
  name: string | null
  template: 'none' | 'transactional' | 'marketing'
  key: boolean
}

const request: fc.Arbitrary<Request> = fc.record({
  people: fc.array(fc.constantFrom(...HISTORIES), { minLength: 1, maxLength: 3 }),
  isTwice: fc.boolean(),
  subscribed: fc.constantFrom(undefined, undefined, undefined, true, false),
  data: fc.constantFrom<Record<string, unknown> | undefined>(
    undefined,
    {},
    { plan: 'pro' },
    { plan: null, city: 'Ulm' },
    { once: { value: 1, persistent: false } },
    { long: 'x'.repeat(40_000) },
  ),
  name: fc.constantFrom(null, null, 'Ada'),
  template: fc.constantFrom('none', 'none', 'transactional', 'marketing'),
  key: fc.boolean(),
})

const addressOf = (at: string, history: History) =>
  `p${at}@${history === 'held' ? 'held.test' : 'dest.test'}`

async function addTemplates({ core }: Sender, projectId: string, domain: string) {
  const ids = { none: undefined, transactional: newId(), marketing: newId() }
  await core.store.write(async (tx) => {
    for (const type of ['transactional', 'marketing'] as const) {
      await tx.insert(templates).values({
        id: ids[type],
        projectId,
        name: type,
        subject: 'Welcome {{ name }}',
        body: '<p>Welcome</p>',
        fromAddress: `team@${domain}`,
        fromDomain: domain,
        type: type === 'marketing' ? 'MARKETING' : 'TRANSACTIONAL',
        createdAt: START,
        updatedAt: START,
      })
    }
  })
  return ids
}

async function countWishes({ core }: Sender): Promise<number> {
  const [row] = await core.store.read.all<{ count: number }>(
    sql`select count(*) as count from wishes`,
  )
  return row?.count ?? 0
}

/** All that the requests left, without the ids. */
async function effectsOf(
  sender: Sender,
  { id: projectId }: Project,
  { wishesBefore }: { wishesBefore: number },
) {
  const { store } = sender.core
  const ofProject = { id: contacts.id, address: contacts.address, subscribed: contacts.subscribed }
  const people = await store.read
    .select({ ...ofProject, data: contacts.data })
    .from(contacts)
    .where(eq(contacts.projectId, projectId))
    .orderBy(asc(contacts.address))
  const addressOfId = new Map(people.map(({ id, address }) => [id, address]))
  const mail = await store.read
    .select()
    .from(emails)
    .where(eq(emails.projectId, projectId))
    .orderBy(asc(emails.recipient), asc(emails.id))
  const happened = await store.read
    .select({ name: events.name, contactId: events.contactId, data: events.data })
    .from(events)
    .where(eq(events.projectId, projectId))
  return {
    people: people.map(({ id, ...person }) => person),
    mail: mail.map((row) => ({
      contact: addressOfId.get(row.contactId ?? ''),
      recipient: row.recipient,
      toName: row.toName,
      state: row.state,
      status: row.status,
      subject: row.subject,
      contentClass: row.contentClass,
      variables: row.variables,
      dueAt: row.dueAt,
      heldAt: row.heldAt,
    })),
    contents: await store.read.$count(contents, eq(contents.projectId, projectId)),
    events: happened
      .map(({ contactId, ...event }) => ({ ...event, contact: addressOfId.get(contactId ?? '') }))
      .map((event) => JSON.stringify(event))
      .toSorted(),
    usage: await store.read
      .select({ transactional: usageMonths.transactional })
      .from(usageMonths)
      .where(eq(usageMonths.projectId, projectId)),
    wishes: (await countWishes(sender)) - wishesBefore,
  }
}

test('requests that wait together have the effects of requests one after another', async (t) => {
  const sender = await openSender(t)
  await holdDomain(sender.core, 'held.test')
  let run = 0
  const property = fc.asyncProperty(
    fc.array(request, { minLength: 2, maxLength: 12 }),
    async (requests) => {
      run += 1
      const outcomes: unknown[] = []
      const effects: unknown[] = []
      for (const way of ['together', 'alone'] as const) {
        const name = `${way}${run}`
        const wishesBefore = await countWishes(sender)
        const project = await addSenderProject(sender.core, name, `${name}.test`)
        const ids = await addTemplates(sender, project.id, `${name}.test`)
        const sends = []
        for (const [index, each] of requests.entries()) {
          const people = each.people.map((history, at) => ({
            email: addressOf(`${index}-${at}`, history),
            history,
          }))
          for (const person of people) await live(sender.core, project.id, person)
          const to = (each.isTwice ? [...people, ...people] : people).map(({ email }) => ({
            address: address(email),
            name: each.name,
          }))
          const { subscribed, data } = each
          const isOwn = each.template === 'none'
          sends.push(() =>
            sender.send(
              {
                ...{ to, subscribed, data, template: ids[each.template] },
                from: { address: address(`shop@${name}.test`), name: null },
                ...(isOwn ? {} : { subject: undefined, body: undefined }),
              },
              { project, ...(each.key && { key: `${name}-${index}` }) },
            ),
          )
        }
        const settled: PromiseSettledResult<unknown>[] = []
        if (way === 'together') settled.push(...(await Promise.allSettled(sends.map((s) => s()))))
        else for (const send of sends) settled.push(...(await Promise.allSettled([send()])))
        outcomes.push(
          settled.map((result) =>
            result.status === 'rejected'
              ? `${result.reason.code}: ${result.reason.message}`
              : (result.value as Awaited<ReturnType<Sender['send']>>).emails.map(
                  ({ contact }) => contact.email,
                ),
          ),
        )
        effects.push(await effectsOf(sender, project, { wishesBefore }))
      }
      assert.deepEqual(outcomes[0], outcomes[1])
      assert.deepEqual(effects[0], effects[1])
    },
  )
  await fc.assert(property, { numRuns: 15 })
})

test('an email that ends at acceptance and its event are of the same time', async (t) => {
  const sender = await openSender(t)
  const { store } = sender.core
  const names = ['a', 'b', 'c']
  for (const name of names) {
    const person = { email: `${name}@dest.test`, history: 'suppressed' } as const
    await live(sender.core, sender.project.id, person)
  }
  let now = START
  Object.defineProperty(sender.clock, 'now', { get: () => now++ })
  await Promise.all(
    names.map((name) =>
      sender.send({ to: [{ address: address(`${name}@dest.test`), name: null }] }),
    ),
  )
  const ended = await store.read
    .select({ emailAt: emails.createdAt, eventAt: events.createdAt })
    .from(emails)
    .innerJoin(events, eq(events.emailId, emails.id))
  assert.equal(new Set(ended.map(({ emailAt }) => emailAt)).size, 3)
  for (const { emailAt, eventAt } of ended) assert.equal(eventAt, emailAt)
})
