/** Counts the use of projects, and reports it to Stripe. Usage is counted even without Stripe. */
import type { Base } from '../../ground/base.ts'
import type { LazyHandler } from '../../ground/event-handlers.ts'
import type { Loop } from '../../ground/manifest/area.ts'
import { usageHandler } from '../../ground/usage/follow-events.ts'
import { meter } from './metering/collect.ts'
import { startMetering } from './metering/loop.ts'
import type { StripeClient } from './stripe.ts'

type Parts = Base & { stripe: StripeClient | null }

export function billingHandler(parts: Parts): LazyHandler {
  if (parts.stripe === null) return usageHandler()
  return usageHandler((tx, events) => meter(parts, tx, events))
}

export function startBilling({ stripe, ...parts }: Parts): Loop | null {
  return stripe === null ? null : startMetering({ ...parts, stripe })
}
