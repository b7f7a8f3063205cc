/**
 * Slows down those who guess passwords and codes (THREATS S26). Failures count for their network,
 * for the account at this network, and for the account everywhere, so that a crowd of addresses
 * gets no more tries than one. The failures of each browser that knows the user (`device.ts`) count
 * by themselves there: a crowd does not lock out the user, and one with a stolen cookie of the
 * browser gets no more tries either. An account is an address, whether it has a user or not. An
 * attempt that is refused here is no failure.
 */
import { HOUR_MS, type Now } from '../../../../base/clock.ts'
import {
  createFailureLimit,
  createWindowLimit,
  enterLimit,
  type LimitedAttempt,
} from '../../../../work/limiter.ts'

/** `network`: addresses that one client may have. `account`: the address of the user. */
type Guesser = { network: string; account: string }

export type LoginThrottle = {
  /**
   * Begins an attempt. Its `end` must be called; an attempt that was called neither a success nor a
   * failure by then counts as neither.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  begin(guesser: Guesser): ThrottledAttempt
  /** How many networks and accounts are remembered. */
  size(): number
}

export type ThrottledAttempt = {
  /**
   * Applies the limit over all networks too, once. `device`: the id of the browser, if it knows the user.
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
        // Otherwise a guesser with an account of their own could clear the count of the network.
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
