import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FOLLOWERS, type FollowerName } from '../../../../src/features/ground/event-handlers.ts'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import {
  startLazyReader,
  startUrgentReader,
} from '../../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../../src/features/ground/usage/follow-events.ts'
import { analyticsHandler } from '../../../../src/features/insight/analytics/counting/follow-events.ts'
import { reputationHandler } from '../../../../src/features/insight/reputation/follow-events.ts'
import { startRefusals } from '../../../../src/features/outreach/campaigns/brake/follow-refusals.ts'
import { figuresHandler } from '../../../../src/features/outreach/campaigns/figures/figures.ts'
import { webhookHandler } from '../../../../src/features/outreach/webhooks/follow-events.ts'
import { triggerHandler } from '../../../../src/features/outreach/workflows/engine/follow-events.ts'
import type { ParameterValues, Statement } from '../../../../src/store/database.ts'
import { inArray } from '../../../../src/store/drizzle.ts'
import { attempts, emails } from '../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Follower } from '../../../../src/work/follower.ts'
import { address, type TestCore } from '../../../core.ts'
import { countStatements } from '../../../counted-statements.ts'
import { stopClock } from '../../../store/test-store.ts'
import { openSender } from '../../mail/messages/sender.ts'

/** Each handler alone, and those that read together. */
const START: Readonly<Record<FollowerName | 'lazy' | 'urgent', (core: TestCore) => Follower>> = {
  analytics: (core) => startLazyReader(core, [analyticsHandler(core)]),
  billing: (core) => startLazyReader(core, [usageHandler()]),
  'campaign-figures': (core) => startLazyReader(core, [figuresHandler(core)]),
  'campaign-refusals': startRefusals,
  reputation: (core) => startLazyReader(core, [reputationHandler(core)]),
  webhooks: (core) => startUrgentReader(core, [webhookHandler(core)]),
  workflows: (core) => startUrgentReader(core, [triggerHandler(core)]),
  lazy: (core) =>
    startLazyReader(core, [
      ...[usageHandler(), figuresHandler(core), reputationHandler(core), analyticsHandler(core)],
    ]),
  urgent: (core) => startUrgentReader(core, [triggerHandler(core), webhookHandler(core)]),
}

/** Statements for a batch of delivered emails, and the one that saves the cursor. */
const STATEMENTS: Readonly<Record<keyof typeof START, number>> = {
  // The projects, the servers, and the counts of a quarter and of a day: of all mail and of a provider,
  // and of two kinds of events.
  analytics: 12,
  // It handles failures only.
  billing: 2,
  'campaign-figures': 3,
  'campaign-refusals': 2,
  // The projects, the counts of an hour and of all.
  reputation: 5,
  webhooks: 3,
  workflows: 4,
  // One reads the events and saves the cursors for all.
  lazy: 12 + 5 + 3 + 2 - 3 * 2,
  urgent: 4 + 3 - 2,
}

/** As if other projects had endpoints, workflows and campaigns. */
function asIfAllMattered(read: Store['read']): Store['read'] {
  const find = async (asked: Statement<unknown>, values?: ParameterValues) =>
    asked.compiled().text.startsWith('select 1 as found') ? { found: 1 } : read.find(asked, values)
  return Object.assign(Object.create(read), { find, list: read.list.bind(read) })
}

for (const name of [...FOLLOWERS, 'lazy', 'urgent'] as const) {
  test(`the follower '${name}' runs as many statements for forty emails as for nine`, async (t) => {
    const { core, project, send } = await openSender(t)
    // The number of rows in a batch adapts to time.
    stopClock(t)
    const counted = countStatements(core.store)
    const store = { ...core.store, write: counted.write, read: asIfAllMattered(core.store.read) }
    const follower = START[name]({ ...core, store })
    t.after(() => follower.stop())

    async function deliver(count: number): Promise<string[]> {
      const to = Array.from({ length: count }, (_, index) => ({
        ...{ address: address(`person${index}@dest.test`), name: null },
      }))
      const ids = (await send({ to })).emails.map(({ email }) => email)
      await follower.caughtUp()
      counted.take()
      const at = core.now()
      const attempt = { at, durationMs: 1, result: 'delivered', host: 'mx.dest.test', steps: [] }
      await core.store.write(async (tx) => {
        await tx.update(emails).set({ sentAt: at, deliveredAt: at }).where(inArray(emails.id, ids))
        for (const emailId of ids) await tx.insert(attempts).values({ ...attempt, emailId })
        const event = { projectId: project.id, contactId: null, data: null, at }
        const names = ['email.sent', 'email.delivery']
        await appendEvents(
          tx,
          ids.flatMap((emailId) => names.map((name) => ({ ...event, emailId, name }))),
        )
      })
      await follower.caughtUp()
      return counted.take()
    }

    // The first counts of a quarter make rows.
    await deliver(1)
    const [few, many] = [await deliver(9), await deliver(40)]
    assert.deepEqual([few.length, many.length], [STATEMENTS[name], STATEMENTS[name]])
    if (name === 'urgent') {
      const [reading] = many.filter((text) => text.includes('from "events"'))
      assert.doesNotMatch(reading ?? '', /"data"/)
    }
    // SQLite would compile these again at each run.
    assert.deepEqual(
      many.filter((text) => /limit \?/i.test(text)),
      [],
    )
  })
}
