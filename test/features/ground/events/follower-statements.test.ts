import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import type { Follower } from '../../../../src/features/ground/events/follow.ts'
import { FOLLOWERS, type FollowerName } from '../../../../src/features/ground/events/followers.ts'
import { startUsage } from '../../../../src/features/ground/usage/follow-events.ts'
import { startAnalytics } from '../../../../src/features/insight/analytics/counting/follow-events.ts'
import { startReputation } from '../../../../src/features/insight/reputation/follow-events.ts'
import { startRefusals } from '../../../../src/features/outreach/campaigns/brake/follow-refusals.ts'
import { startFigures } from '../../../../src/features/outreach/campaigns/figures/follow-outcomes.ts'
import { startWebhookFollower } from '../../../../src/features/outreach/webhooks/follow-events.ts'
import { startTriggers } from '../../../../src/features/outreach/workflows/engine/follow-events.ts'
import type { Statement, Values } from '../../../../src/store/database.ts'
import { inArray } from '../../../../src/store/drizzle.ts'
import { attempts, emails } from '../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../src/store/store.ts'
import { address, type TestCore } from '../../../core.ts'
import { countStatements } from '../../../counted-statements.ts'
import { stopClock } from '../../../store/test-store.ts'
import { openSender } from '../../mail/messages/sender.ts'

const START: Readonly<Record<FollowerName, (core: TestCore) => Follower>> = {
  analytics: startAnalytics,
  billing: startUsage,
  'campaign-figures': startFigures,
  'campaign-refusals': startRefusals,
  reputation: startReputation,
  webhooks: startWebhookFollower,
  workflows: startTriggers,
}

/** Statements for a batch of delivered emails, and the one that saves the cursor. */
const STATEMENTS: Readonly<Record<FollowerName, number>> = {
  // The projects, the servers, and the counts of a quarter and of a day: of all mail and of a provider,
  // and of two kinds of events.
  analytics: 12,
  // It lists failures only.
  billing: 2,
  'campaign-figures': 3,
  'campaign-refusals': 2,
  // The emails, the projects, the counts of an hour and of all.
  reputation: 6,
  webhooks: 3,
  workflows: 4,
}

/** As if other projects had endpoints, workflows and campaigns. */
function asIfAllMattered(read: Store['read']): Store['read'] {
  const find = async (asked: Statement<unknown>, values?: Values) =>
    asked.compiled().text.startsWith('select 1 as found') ? { found: 1 } : read.find(asked, values)
  return new Proxy(read, {
    get: (target, name) => (name === 'find' ? find : Reflect.get(target, name, target)),
  })
}

for (const name of FOLLOWERS) {
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
    // SQLite would compile these again at each run.
    assert.deepEqual(
      many.filter((text) => /limit \?/i.test(text)),
      [],
    )
  })
}
