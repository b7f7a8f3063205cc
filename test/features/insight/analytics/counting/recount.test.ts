/** Random mail, counted in random batches of which some are rolled back, against a ledger of it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startLazyReader } from '../../../../../src/features/ground/events/readers.ts'
import { analyticsHandler } from '../../../../../src/features/insight/analytics/counting/follow-events.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { deletedEvents } from '../../../../../src/store/schema/analytics.ts'
import { eventFollowers } from '../../../../../src/store/schema/events.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../../core.ts'
import { createLedger, readCounts } from './ledger.ts'

const STEP_MS = 400_000
const RUNS = 20

const email = fc.nat(30)
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('send' as const),
      source: fc.constantFrom('TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND' as const),
      about: fc.constantFrom(null, 'a', 'b'),
      domain: fc.constantFrom('gmail.com', 'firm.test'),
      kind: fc.constantFrom('mail', 'mail', 'mail', 'test', 'platform'),
      ofContact: fc.option(email),
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('deliver' as const), email }) },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constantFrom('open', 'complain', 'defer', 'fail'),
      email,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('click' as const),
      email,
      url: fc.constantFrom('https://a.test', 'https://b.test'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('bounce' as const),
      email,
      type: fc.constantFrom('Permanent' as const, 'Undetermined' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('unsubscribe' as const),
      email,
      reason: fc.constantFrom('page', 'page', 'bounce', 'complaint'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('deleteContact' as const), email }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constantFrom('track', 'deleteEvents'),
      name: fc.constantFrom('bought', 'viewed'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constantFrom('count', 'bill') }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

test('after any history, counted in any batches, the counts are those of a recount', async (t) => {
  const core = await openTestCore(t)
  let round = 0
  const histories = fc.array(step, { minLength: 20, maxLength: 80 })
  const property = fc.asyncProperty(
    histories,
    fc.integer({ min: 1, max: 9 }),
    async (steps, batch) => {
      round += 1
      const { id: projectId } = await addProject(core, `Round ${round}`)
      await check(core, { projectId, steps, batch })
    },
  )
  await fc.assert(property, { numRuns: RUNS, endOnFailure: false })
})

async function check(
  core: TestCore,
  { projectId, steps, batch }: { projectId: string; steps: readonly Step[]; batch: number },
): Promise<void> {
  const ledger = createLedger(core.store)
  const live: string[] = []
  const count = async () => {
    const follower = startLazyReader(
      { ...core, store: sometimesFailing(core.store, batch) },
      [analyticsHandler(core)],
      { batch },
    )
    await follower.caughtUp()
    await follower.stop()
  }
  for (const [index, each] of steps.entries()) {
    await act({ core, ledger, live, projectId, count }, each, START + index * STEP_MS)
  }
  await count()
  const rows = await readCounts(core.store.read)
  assert.deepEqual(
    rows.filter((row) => row.projectId === projectId),
    ledger.expected(),
  )
  await bill(core)
  assert.equal(await core.store.read.$count(deletedEvents), 0)
}

type World = {
  core: TestCore
  ledger: ReturnType<typeof createLedger>
  /** Emails whose contacts are there. */
  live: string[]
  projectId: string
  count(): Promise<void>
}

async function act(world: World, step: Step, at: number): Promise<void> {
  const { core, ledger, live, projectId, count } = world
  if (step.is === 'count') return count()
  if (step.is === 'bill') return bill(core)
  if ('name' in step) {
    return step.is === 'track'
      ? ledger.track(projectId, step.name, at)
      : ledger.deleteEvents(step.name)
  }
  if ('source' in step) {
    live.push(await send(world, step, at))
    return
  }
  const id = live[Number('email' in step ? step.email : 0) % Math.max(live.length, 1)]
  const email = ledger.emails().find((each) => each.id === id)
  if (id === undefined || email === undefined) return
  // Nobody reads what has not been offered to a server.
  if (!email.isTried && !['deliver', 'bounce', 'defer', 'deleteContact'].includes(step.is)) return
  switch (step.is) {
    case 'deliver': {
      const isOver = email.isSent || email.bounce !== undefined
      return isOver ? undefined : ledger.deliver(id, at)
    }
    case 'click':
      return ledger.click(id, at, step.url)
    case 'bounce':
      return email.bounce === undefined ? ledger.bounce(id, at, step) : undefined
    case 'unsubscribe':
      return ledger.unsubscribe(id, at, step.reason)
    case 'deleteContact':
      await ledger.deleteContact(id)
      live.splice(
        0,
        live.length,
        ...live.filter((each) => contactOf(world, each) !== email.contactId),
      )
      return
    case 'open':
    case 'defer':
    case 'fail':
      return ledger[step.is](id, at)
    case 'complain':
      return email.isComplained ? undefined : ledger.complain(id, at)
  }
}

const contactOf = ({ ledger }: World, id: string) =>
  ledger.emails().find((each) => each.id === id)?.contactId

function send(
  { ledger, live, projectId, ...world }: World,
  step: Extract<Step, { source: string }>,
  at: number,
): Promise<string> {
  const { source, about, domain, kind, ofContact } = step
  const known = live[(ofContact ?? 0) % Math.max(live.length, 1)]
  const contactId =
    ofContact === null || known === undefined
      ? undefined
      : contactOf({ ledger, live, projectId, ...world }, known)
  return ledger.send({
    ...{ projectId, at, domain, source, templateId: about },
    // A campaign has one email for a contact.
    campaignId: contactId === undefined && source === 'CAMPAIGN' ? about : null,
    ...{ isTest: kind === 'test', isPlatform: kind === 'platform' },
    ...(contactId === undefined ? {} : { contactId }),
  })
}

/** Rolls back a batch now and then; not the one by one that follow, whose failure makes it wait. */
function sometimesFailing(store: TestCore['store'], batch: number): TestCore['store'] {
  let writes = 0
  const failing = batch > 1
  return {
    ...store,
    write: (fn, options) => {
      writes += 1
      const mustFail = failing && writes % (batch + 3) === 1
      return store.write(async (tx) => {
        const result = await fn(tx)
        if (mustFail) throw new Error('rolled back by the test')
        return result
      }, options)
    },
  }
}

function bill({ store }: TestCore): Promise<void> {
  return store.write(async (tx) => {
    const last = await tx.get<{ seq: number } | undefined>(
      `select seq from sqlite_sequence where name = 'events'`,
    )
    await tx
      .update(eventFollowers)
      .set({ seq: last?.seq ?? 0 })
      .where(eq(eventFollowers.name, 'billing'))
  })
}
