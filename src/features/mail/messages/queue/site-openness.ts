/** Whether a site takes mail now, in a word; the command `queue sites` and the API say the same. */
import type { SiteStatus } from '../../../../outbound/sites/site-status.ts'

/** `slowed`: the site gets less mail than it may have at other times. `closed`: it gets none. */
export type SiteOpenness = 'open' | 'slowed' | 'closed'

export function opennessOf({
  blockedUntil,
  restrictedSince,
}: Pick<SiteStatus, 'blockedUntil' | 'restrictedSince'>): SiteOpenness {
  if (blockedUntil !== null) return 'closed'
  return restrictedSince === null ? 'open' : 'slowed'
}

/** Until when the limit of a site holds, epoch ms; null if it ends by accepted mail, or without one. */
export function limitedUntil({
  blockedUntil,
  rateUntil,
}: Pick<SiteStatus, 'blockedUntil' | 'rateUntil'>): number | null {
  return blockedUntil ?? rateUntil
}
