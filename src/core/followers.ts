/**
 * The followers of the server, with their handlers in the order in which they get rows (`work/follower.ts`).
 * Those of events are two: what somebody waits for comes first, and counts may wait.
 */
import { startLazyReader, startUrgentReader } from '../features/ground/events/readers.ts'
import { usageHandler } from '../features/ground/usage/follow-events.ts'
import { analyticsHandler } from '../features/insight/analytics/counting/follow-events.ts'
import { reputationHandler } from '../features/insight/reputation/follow-events.ts'
import { startRefusals } from '../features/outreach/campaigns/brake/follow-refusals.ts'
import { figuresHandler } from '../features/outreach/campaigns/figures/follow-outcomes.ts'
import { webhookHandler } from '../features/outreach/webhooks/follow-events.ts'
import { triggerHandler } from '../features/outreach/workflows/engine/follow-events.ts'
import { meter } from '../features/tenancy/billing/metering/collect.ts'
import type { Follower } from '../work/follower.ts'
import type { Core } from './core.ts'

export function startFollowers(core: Core): Pick<Follower, 'stop'> {
  // The use of projects is counted without Stripe, too.
  const usage = usageHandler(
    core.stripe === null ? undefined : (tx, events) => meter(core, tx, events),
  )
  const counting = [usage, figuresHandler(core), reputationHandler(core), analyticsHandler(core)]
  const followers = [
    startUrgentReader(core, [triggerHandler(core), webhookHandler(core)]),
    startRefusals(core),
    startLazyReader(core, counting),
  ]
  return {
    async stop() {
      await Promise.all(followers.map(({ stop }) => stop()))
    },
  }
}
