/**
 * Slows down those who guess passwords and codes (THREATS S26). A failure counts for its network,
 * for the account at this network, and for the account over all networks; this last limit bounds the
 * tries of a crowd of networks. Over all networks, each browser that knows the user
 * (`device.ts`) has a count of its own. So a crowd does not lock out the user, and a thief of the
 * browser's cookie gets no more tries either. An account is an address, whether it has a user or
 * not. An attempt that is refused here is no failure.
 */
import { HOUR_MS, type Now } from '../../../../base/clock.ts'
import {
  createFailureLimit,
  createWindowLimit,
  enterLimit,
  type LimitedAttempt,
} from '../../../../work/limiter.ts'

/**
 * `network`: the name of a network, whose addresses one client may have. `account`: the address of
 * the user.
 */
type Guesser = { network: string; account: string }

export type LoginThrottle = {
  /**
   * Begins an attempt. Its `end` must be called. An attempt that ends without `succeeded` or
   * `failed` counts as neither.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  begin(guesser: Guesser): ThrottledAttempt
  /** Returns how many networks and accounts are in memory. */
  size(): number
}

export type ThrottledAttempt = {
  /**
   * Also applies the limit over all networks; a second call does nothing. `device`: the id of the
   * browser, if the browser knows the user.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  limitEverywhere(device: string | undefined): void
  failed(): void
  succeeded(): void
  end(): void
}

const FREE_BY_NETWORK = 20
const FREE_BY_ACCOUNT = 10
const HOURLY_BY_ACCOUNT = 100
const REFUSAL = { publicText: 'Too many failed attempts. Try again later.' }

export function createLoginThrottle(now: Now): LoginThrottle {
  const networks = createFailureLimit(FREE_BY_NETWORK, now)
  const accounts = createFailureLimit(FREE_BY_ACCOUNT, now)
  const everywhere = createWindowLimit({ limit: HOURLY_BY_ACCOUNT, windowMs: HOUR_MS, now })

  return {
    begin({ network, account }) {
      const ofNetwork = enterLimit(networks, network, REFUSAL)
      const others: LimitedAttempt[] = []
      let isOpen = true
      let isLimitedEverywhere = false
      const close = (outcome: keyof LimitedAttempt): void => {
        if (!isOpen) return
        isOpen = false
        // A success does not clear the count of the network, because a guesser could clear it by a
        // login to an account of their own.
        if (outcome === 'cleared') ofNetwork.abandoned()
        else ofNetwork[outcome]()
        for (const other of others) other[outcome]()
      }
      const end = () => close('abandoned')
      try {
        others.push(enterLimit(accounts, `${account} ${network}`, REFUSAL))
      } catch (error) {
        end()
        throw error
      }
      return {
        limitEverywhere(device) {
          if (isLimitedEverywhere) return
          const key = device === undefined ? account : `device ${device}`
          others.push(enterLimit(everywhere, key, REFUSAL))
          isLimitedEverywhere = true
        },
        failed: () => close('counted'),
        succeeded: () => close('cleared'),
        end,
      }
    },
    size: () => networks.size() + accounts.size() + everywhere.size(),
  }
}
