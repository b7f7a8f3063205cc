/** Addresses for the mail of an operation. Most are used once, so that each message is told apart. */
import { createChoice } from '../../bench/seeding/random.ts'
import type { Operation } from '../plan/operations.ts'
import { RECIPIENT_WEIGHTS, UNKNOWN_RECIPIENT } from '../plan/sites.ts'

/** So many addresses are refused again and again: after the first time they are suppressed. */
const REFUSED_ADDRESSES = 40
const REFUSED_SHARE = 0.4

/** Returns `count` addresses of the receivers, by the lots of the operation. */
export function makeRecipients({ number, lots }: Operation, count = 1): string[] {
  let [, , , lot] = lots
  return Array.from({ length: count }, (_, index) => {
    // The fractional part of a multiple is as good as another lot.
    lot = (lot * 97 + 0.137) % 1
    const domain = createChoice(() => lot, RECIPIENT_WEIGHTS)()
    const refusedLot = (lot * 7_919) % 1
    if (domain === 'strict.test' && refusedLot < REFUSED_SHARE) {
      return `${UNKNOWN_RECIPIENT}${Math.floor((refusedLot / REFUSED_SHARE) * REFUSED_ADDRESSES)}x${index}@${domain}`
    }
    return `r${number}x${index}@${domain}`
  })
}
