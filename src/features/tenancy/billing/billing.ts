/** Counts the use of projects, and reports it to Stripe. Usage is counted even without Stripe. */
import type { Base } from '../../ground/base.ts'
import type { Loop } from '../../ground/manifest/area.ts'
import { startUsage } from '../../ground/usage/follow-events.ts'
import { meter } from './metering/collect.ts'
import { startMetering } from './metering/loop.ts'
import type { StripeClient } from './stripe.ts'

export function startBilling(parts: Base & { stripe: StripeClient | null }): Loop {
  const { stripe } = parts
  if (stripe === null) return startUsage(parts)
  const usage = startUsage(parts, { meter: (tx, events) => meter(parts, tx, events) })
  const metering = startMetering({ ...parts, stripe })
  const stop = async () => {
    await metering.stop()
    await usage.stop()
  }
  return { stop }
}
